"""Makes synthetic dates in every form of rules.py, as people write dates, for training.

The texts have no upper case and no doubled spaces, because rules.squeeze removes both before the model sees a text.
A few dates contain numbers that no calendar has. The model must read these numbers digit by digit.
"""

import string

from rules import MONTHS, UNCLEAR, WEEKDAY_FORMS, WEEKDAYS, month_number

KEYS = string.ascii_lowercase + string.digits * 2 + " .,-/':()+#$%&*!?_" + " .,-/" * 2


def likely(rng, share):
    return rng.random() < share


# The functions below return random parts of a date, such as a year.


def year(rng):
    if likely(rng, 0.32):
        return ("'" if likely(rng, 0.45) else "") + f"{rng.randrange(100):02}"
    return four_digits(rng)


def four_digits(rng):
    kind = rng.random()
    if kind < 0.48:
        return str(rng.randrange(1900, 2100))
    return str(rng.randrange(1000, 3000)) if kind < 0.96 else f"{rng.randrange(10000):04}"


def small(rng, top):
    """Returns a day or a month. Some numbers exist in no calendar, and one in three has a leading zero."""
    number = rng.randint(1, top) if likely(rng, 0.94) else rng.randrange(100)
    return f"{number:02}" if likely(rng, 0.35) else str(number)


def day(rng):
    text = small(rng, 31)
    if not likely(rng, 0.5):
        return text
    ending = {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th")
    if text[-2:-1] == "1":
        ending = "th"
    return text + (ending if likely(rng, 0.97) else "th")


def month(rng):
    name = rng.choice(MONTHS)
    kind = rng.random()
    if kind < 0.42:
        return name + ("." if likely(rng, 0.04) else "")
    if kind < 0.93:
        short = "sept" if name == "september" and likely(rng, 0.5) else name[:3]
        return short + ("." if likely(rng, 0.4) else "")
    return misspelt(rng, name)


def misspelt(rng, name):
    while len(name) > 4:
        word = edit(rng, name, string.ascii_lowercase)
        if word != name and month_number(word) not in (None, UNCLEAR):
            return word
    return name


def weekday(rng):
    return rng.choice(WEEKDAY_FORMS + WEEKDAYS) + rng.choice(("", "", "", ".", ".,", ",", ",", ","))


def gap(rng, comma):
    if not likely(rng, comma):
        return " "
    return rng.choices((", ", ",", " , "), (0.8, 0.12, 0.08))[0]


def after_month(rng, name, comma):
    return "" if name.endswith(".") and likely(rng, 0.06) else gap(rng, comma)


# The functions below return random dates, each in one of the forms in which people write dates.


def date(rng):
    form = rng.choices(DATES, DATE_WEIGHTS)[0]
    text = form(rng)
    if likely(rng, 0.6 if form is in_full else 0.35):
        text = weekday(rng) + ("" if likely(rng, 0.02) else " ") + text
    return text


def day_month_year(rng):
    the = "the " if likely(rng, 0.25) else ""
    of = (gap(rng, 0.03) + "of ") if likely(rng, 0.35) else gap(rng, 0.08)
    name = month(rng)
    before_year = after_month(rng, name, 0.3) + ("of " if likely(rng, 0.04) else "")
    return the + day(rng) + of + name + before_year + year(rng)


def in_full(rng):
    """Returns the longest form: Saturday, the 3rd of February, 2024."""
    the = "the " if likely(rng, 0.8) else ""
    name = rng.choice(MONTHS) if likely(rng, 0.7) else month(rng)
    return the + day(rng) + (" of " if likely(rng, 0.8) else " ") + name + gap(rng, 0.5) + year(rng)


def month_day_year(rng):
    name = month(rng)
    the = "the " if likely(rng, 0.12) else ""
    before_year = gap(rng, 0.5) + ("of " if likely(rng, 0.05) else "")
    return name + after_month(rng, name, 0.06) + the + day(rng) + before_year + year(rng)


def dashes(rng):
    return f"{day(rng) if likely(rng, 0.1) else small(rng, 31)}-{month(rng)}-{year(rng)}"


def year_first(rng):
    sign = rng.choice("--/.")
    return sign.join((four_digits(rng), small(rng, 12), small(rng, 31)))


def compact(rng):
    day_or_99 = rng.randint(1, 31) if likely(rng, 0.9) else rng.randrange(100)
    return f"{four_digits(rng)}{rng.randint(1, 12):02}{day_or_99:02}"


def dots(rng):
    return f"{small(rng, 31)}.{small(rng, 12)}.{year(rng)}"


def slashes(rng):
    return f"{small(rng, 12)}/{small(rng, 31)}/{year(rng)}"


DATES = (day_month_year, in_full, month_day_year, dashes, year_first, compact, dots, slashes)
DATE_WEIGHTS = (28, 8, 27, 8, 11, 4, 9, 9)


def edit(rng, text, keys=KEYS, i=None):
    """Changes, removes or inserts one character, or swaps one character with the next."""
    i, kind = rng.randrange(len(text)) if i is None else i, rng.randrange(4)
    if kind == 0:
        return text[:i] + rng.choice(keys) + text[i + 1 :]
    if kind == 1:
        return text[:i] + text[i + 1 :]
    if kind == 2:
        return text[:i] + rng.choice(keys) + text[i:]
    return text[:i] + text[i : i + 2][::-1] + text[i + 2 :]
