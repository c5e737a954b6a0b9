"""The rules of the date reader as a grammar: which texts are dates, and which digits they have.

`label(text)` returns "YYYYMMDD", None (no date), or UNCLEAR (the rules do not decide: never trained).
`label` also labels the training texts of dates.py. The rules decide open questions as follows:

- The rules judge only the form. A correct form is read digit by digit, for any numbers
  ("31.4.2021", "45/99/2024", "3 Feb 0999"). The program checks the calendar and the years 1000-2999.
- A weekday (full, three letters, Tues, Thur, Thurs, with a dot or a comma) may stand before every
  form and is not compared with the date. A weekday after the date makes the text no date.
- Two-digit years, with or without an apostrophe, may end every form (3.2.24, 2/3/'24, 3-Feb-24)
  but not begin one: "24-02-03" is no date. Years of one, three or five digits are no years.
- A form that begins with the year has four digits, and one of - / . twice. Month and day may have
  leading zeros. "2024 Feb 3" is no date.
- Numbers joined by dashes (3-2-2024), spaces, commas or two different separators are no date.
  A month's name is separated by spaces and commas, or as in 3-Feb-2024. "3/Feb/2024" is no date.
- "the" may stand before the day, and "of" between day and month and before the year. A comma may
  follow weekday, day and month. The ending of an ordinal may be wrong ("3th"). A dot may follow
  the month whether it is abbreviated or not.
- The full name of a month may have one wrong letter if no other month (or its abbreviation) is as
  similar. Abbreviations and "May" must be correct: "5 foo 2001" and "5 mai 2001" are no dates.
- Any other word, number or sign beside the date makes the text no date ("on 5 may 2001", "!").
- Not decided: spaces around numeric separators, none between letters and digits (3Feb2024), a dot or
  comma at the end or after the day (3. Feb 2024), other dashes beside a month's name (Feb-3-2024,
  3-Feb 2024), shortened names (Febr), names with two wrong letters, misspelt June, July, weekdays.
"""

import re

MONTHS = (
    "january february march april may june july august september october november december"
).split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTH_NUMBER = {name: i + 1 for i, full in enumerate(MONTHS) for name in (full, full[:3])}
MONTH_NUMBER["sept"] = 9
WEEKDAY_FORMS = WEEKDAYS + [day[:3] for day in WEEKDAYS] + ["tues", "thur", "thurs"]
UNCLEAR = "unclear"

_WEEKDAY = r"(?:(?P<weekday>(?!the )[a-z]+)(?:\. ?,? ?| ?, ?| ))?"
_DAY = r"(?:the )?(?P<d>\d\d?)(?:st|nd|rd|th)?"
_YEAR = r"(?P<y>\d{4}|'?\d\d)"
_MONTH = r"(?P<month>(?!the )[a-z]+)"
_GAP = r"(?: ?, ?| )"
_AFTER_MONTH = r"(?:\.? ?, ?|\.? |\.)"
_FORMS = [
    re.compile(_WEEKDAY + form + r"\Z")
    for form in (
        f"{_DAY}{_GAP}(?:of )?{_MONTH}{_AFTER_MONTH}(?:of )?{_YEAR}",
        f"{_MONTH}{_AFTER_MONTH}{_DAY}{_GAP}(?:of )?{_YEAR}",
        rf"(?P<d>\d\d?)(?:st|nd|rd|th)?-{_MONTH}\.?-{_YEAR}",
        r"(?P<y>\d{4})(?P<sign>[-/.])(?P<m>\d\d?)(?P=sign)(?P<d>\d\d?)",
        rf"(?P<d>\d\d?)\.(?P<m>\d\d?)\.{_YEAR}",
        rf"(?P<m>\d\d?)/(?P<d>\d\d?)/{_YEAR}",
        r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)",
    )
]


def squeeze(text):
    """Returns the text as the model sees it: lower case, runs of spaces as one space, no spaces at the ends."""
    return " ".join(text.lower().split())


def label(text):
    """Returns the digits of a squeezed text, None for no date, or UNCLEAR if the rules do not decide."""
    found = _strict(text)
    if found is None and any(_strict(t) is not None for t in _tidied(text)):
        return UNCLEAR
    return found


def _strict(text):
    verdict = None
    for form in _FORMS:
        match = form.match(text)
        if match:
            found = _digits(match.groupdict())
            if found not in (None, UNCLEAR):
                return found
            verdict = verdict or found
    return verdict


def _tidied(text):
    """Yields the text as it would be under looser rules for spaces, dots and commas."""
    loose = re.sub(r"(?<=\d)(?=[a-z'])(?!st|nd|rd|th)|(?<=[a-z])(?=[\d'])", " ", text)
    loose = re.sub(r"(?<=\d)(st|nd|rd|th)(?=[a-z])", r"\1 ", loose)
    worded = squeeze(re.sub(r"[.,](?!\d)|(?<!\d)[.,]", " ", loose))
    yield worded
    yield re.sub(r" ?- ?", " ", worded) if re.search("[a-z]", worded) else worded
    yield re.sub(r" ?([-/.]) ?", r"\1", re.sub(r"[ .,]+\Z", "", text))


def _digits(parts):
    weekday, month = parts.get("weekday"), parts.get("month")
    first = _known(weekday, WEEKDAY_FORMS, WEEKDAYS) if weekday else True
    number = month_number(month) if month else int(parts["m"])
    if first is None or number is None:
        return None
    if UNCLEAR in (first, number):
        return UNCLEAR
    return f"{full_year(parts['y'])}{number:02}{int(parts['d']):02}"


def full_year(text):
    """Returns a year of four digits: 1999 is unchanged, 68 and '68 become 2068, 69 becomes 1969."""
    text = text.lstrip("'")
    return text if len(text) == 4 else ("20" if text <= "68" else "19") + text


def month_number(word):
    """Returns 1-12, None for a word that is no month, or UNCLEAR for a word similar to a month."""
    if word in MONTH_NUMBER:
        return MONTH_NUMBER[word]
    near = {MONTH_NUMBER[name] for name in MONTH_NUMBER if one_letter_apart(word, name)}
    full = [name for name in MONTHS if len(name) > 3 and one_letter_apart(word, name)]
    if len(full) == 1 and near == {MONTH_NUMBER[full[0]]} and len(full[0]) > 4 and len(word) > 3:
        return MONTH_NUMBER[full[0]]
    if len(word) > 3 and (full or any(_nearly(word, name) for name in MONTHS)):
        return UNCLEAR
    return None


def _nearly(word, name):
    if len(word) > 3 and name.startswith(word):
        return True
    shorter = {name[:i] + name[i + 1 :] for i in range(len(name))}
    return len(name) > 5 and any(one_letter_apart(word, s) for s in shorter)


def _known(word, forms, full_names):
    if word in forms:
        return True
    close = any(one_letter_apart(word, name) or _nearly(word, name) for name in full_names)
    return UNCLEAR if close else None


def one_letter_apart(a, b):
    """Returns whether one letter is changed, missing or added, or two neighbours are swapped."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    i = 0
    while i < min(len(a), len(b)) and a[i] == b[i]:
        i += 1
    if len(a) == len(b):
        swapped = a[i : i + 2] == b[i : i + 2][::-1] and a[i + 2 :] == b[i + 2 :]
        return a[i + 1 :] == b[i + 1 :] or swapped
    return a[i + 1 :] == b[i:] if len(a) > len(b) else a[i:] == b[i + 1 :]
