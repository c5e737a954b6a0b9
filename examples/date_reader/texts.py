"""Makes texts for training the date reader: dates, near misses, and other texts.

`sample(rng)` returns one squeezed text (see rules.squeeze) of 1-40 characters, and its digits, or None for no date. The
grammar of rules.py labels every text. So a template cannot give a wrong label: a template only decides how often a kind
of text occurs. There are three sources:

- dates in all forms (dates.py);
- texts that are no dates: parts of dates, dates with additional words, wrong lengths, separators, words and orders,
  numbers of other kinds, prose, noise;
- dates with one to three random edits. Most of these are no longer dates. The edited texts that are still dates teach
  the model which edits matter.
"""

import random
import string

from dates import KEYS, date, day, edit, four_digits, likely, month, small, weekday, year
from rules import MONTHS, UNCLEAR, label, squeeze

WORDS = """a about after again all am an and any apple at b.c. back bad be because before big born
bus but by call can cat chapter city close come day deadline december's did do dog done door due
east end era error evening expires figure five flight foo for from game get go good had half has he
hello her his home hour how i if in invoice is it item june's just kilo king last late left level
line list long lot made man many me meeting mid minute moment month more morning most my near never
new next night no noon not nothing number o'clock octopus old on one only open or order other our
out page part past per pm pp price ref room route run say see she since six so some soon sunny
start step still street sum tea ten test than thanks that then there these they this three till
time to today tomorrow too train tuesdays two uhr until up update us utc v version version was we
week west what when who will with word work world xyz year years yes yesterday you zero ad bc est
gmt z h m s mo nd rd st th juin mai mars mayor marching marble marks august's augur decimal deck
novel novice octagon separate septic junior junk july's julia janitor april's apricot febrile
friend sunset monkey satin wedding thunder tux mom sub fry sit web the of first second third thirty
twenty-one mi abc def jar max doc now ooo mei avril maj lun mar. juillet enero abril mayo julio
agosto januari maart mrz dez okt gen giu lug ago set hour(s) #1 no. nr. e.g. i.e. etc. tbd n/a ok?
hi! (c) & + = @ % $ * ~ ; : - -- / . , ' ? ! ( ) [ ]
""".split()
SYLLABLES = (
    ("b c d f g h j k l m n p r s t v w y z br ch cl cr dr fl gr pl pr sc sh sp st str "
     "th tr wh").split() + [""] * 6,
    "a e i o u a e i o u ea ee ou oo ai io y au".split(),
    "b c d g l m n p r s t ck ct ft ld ll mp nd ng nk nt rd rk rm rn rs rt ss st th x".split()
    + [""] * 10,
)  # fmt: skip
ENDINGS = "s ed er es ing ly al ion able ment y e".split() + [""] * 14
MIXED_SIGNS = "-/. ,:'_"


def sample(rng):
    while True:
        kind = rng.random()
        if kind < 0.65:
            text = date(rng)
        elif kind < 0.72:
            text = edited(rng)
        else:
            text = rng.choices(NO_DATES, NO_DATE_WEIGHTS)[0](rng)
        text = squeeze(text)
        digits = label(text)
        if 1 <= len(text) <= 40 and digits != UNCLEAR:
            return text, digits


def edited(rng):
    """Returns a date with a changed digit, sign or space. Changed letters would teach the model little."""
    text = date(rng)
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        places = [i for i, c in enumerate(text) if not c.isalpha()]
        text = edit(rng, text, i=rng.choice(places)) if places else text
    return text


def word(rng):
    """Returns a real or an invented word. The model must recognise months, and reject all words that are no months."""
    if likely(rng, 0.4):
        return rng.choice(WORDS)
    start, vowel, end = (rng.choice(part) for part in SYLLABLES)
    text = start + vowel
    if likely(rng, 0.5):
        text += rng.choice(SYLLABLES[0]) + rng.choice(SYLLABLES[1])
    return (text + end + rng.choice(ENDINGS))[:12]


def preposition(rng):
    return rng.choice(
        "on by from until till since before after at in for due of to and born".split()
    )


def token(rng):
    return rng.choice((day, day, month, month, year, year, weekday, number, word, time))(rng)


def number(rng, longest=5):
    return str(rng.randrange(10 ** rng.randint(1, longest)))


def time(rng):
    hour = f"{rng.randrange(24):{rng.choice(('02', ''))}}"
    clock = hour + rng.choice("::h.") + f"{rng.randrange(60):02}"
    return clock + rng.choice(("", "", ":00", "z", " pm", "am", " utc"))


def soup(rng):
    """Returns parts of dates and other words in any order and number."""
    tokens = [token(rng) for _ in range(rng.randint(1, 5))]
    return rng.choice((" ", " ", " ", ", ", "-", "/")).join(tokens)


def shuffled(rng):
    """Returns the parts of a date, with a missing part, a doubled part, or another order."""
    parts = [day(rng), month(rng), year(rng)]
    rng.shuffle(parts)
    kind = rng.random()
    if kind < 0.5:
        parts.pop()
    elif kind < 0.8:
        parts.insert(rng.randrange(4), rng.choice((day, month, year, small_or_word))(rng))
    if likely(rng, 0.25):
        parts.insert(0, weekday(rng))
    if likely(rng, 0.25):
        parts[0] = "the " + parts[0]
    if likely(rng, 0.2):
        parts[-1] = "of " + parts[-1]
    return rng.choice((" ", " ", " ", ", ", "-")).join(parts)


def small_or_word(rng):
    return small(rng, 31) if likely(rng, 0.5) else word(rng)


def wrong_word(rng):
    """Returns a form of a date with another word in place of a month or a weekday."""
    other = word(rng)
    if likely(rng, 0.4):
        other = rng.choice(MONTHS)[: rng.randint(1, 3)] + rng.choice(("", word(rng)[:4]))
    if likely(rng, 0.3):
        return other + rng.choice((" ", ", ")) + date(rng)
    text = rng.choice((f"{day(rng)} {other} ", f"{other} {day(rng)}, ", f"{day(rng)} of {other} "))
    return (weekday(rng) + " " if likely(rng, 0.2) else "") + text + year(rng)


def wrong_length(rng):
    """Returns a date with a number that is too long or too short."""
    text = date(rng)
    at = [i for i, c in enumerate(text) if c.isdigit()]
    i = rng.choice(at)
    if likely(rng, 0.5):
        return text[:i] + text[i + 1 :]
    return text[:i] + number(rng, 2) + text[i:]


def introduced(rng):
    """Returns a date after one or two words, or after a second weekday."""
    first = rng.choice((word, word, preposition, preposition, weekday, month))(rng)
    if likely(rng, 0.15):
        first += " " + word(rng)
    return first + rng.choice((" ", " ", " ", ", ", ": ")) + date(rng)


def extended(rng):
    """Returns a date with a word or number before or after it."""
    other = rng.choice((word, word, time, number, weekday, month, year, date))(rng)
    if likely(rng, 0.3):
        other += " " + word(rng)
    pair = (date(rng), other) if likely(rng, 0.6) else (other, date(rng))
    return rng.choice((" ", " ", " ", ", ", "", " - ", "t", ":")).join(pair)


def doubled(rng):
    """Returns a date with one of its parts twice."""
    parts = [day(rng), month(rng), year(rng)]
    if likely(rng, 0.4):
        parts[0], parts[1] = parts[1], parts[0]
    if likely(rng, 0.3):
        parts.insert(0, weekday(rng))
    i = rng.randrange(len(parts))
    other = parts[i] if likely(rng, 0.5) else token(rng)
    parts.insert(i, other)
    return " ".join(parts)


def mixed_signs(rng):
    """Returns numbers of the lengths of a date. The signs between them are rarely right."""
    numbers = (small(rng, 31), small(rng, 12), year(rng))
    if likely(rng, 0.6):
        numbers = (four_digits(rng), small(rng, 12), small(rng, 31))
    elif likely(rng, 0.2):
        numbers = (small(rng, 12), rng.choice((month, word))(rng), year(rng))
    first, second = rng.choice(MIXED_SIGNS), rng.choice("-/.")
    return numbers[0] + first + numbers[1] + rng.choice((first, second, second)) + numbers[2]


def cut(rng):
    text = date(rng)
    i = rng.randrange(1, len(text))
    return text[:i] if likely(rng, 0.6) else text[i:]


def groups(rng):
    """Returns numbers with signs between them: addresses, versions, telephones, fractions, sums."""
    lengths = rng.choice(((1, 2), (1, 2), (1, 4), (2, 4), (3, 4)))
    signs = rng.choice((rng.choice(MIXED_SIGNS), rng.choice("-/."), MIXED_SIGNS, "-/."))
    text = ""
    for _ in range(rng.randint(2, 5)):
        text += "".join(rng.choices(string.digits, k=rng.randint(*lengths))) + rng.choice(signs)
    text = text if likely(rng, 0.06) else text[:-1]
    return rng.choices(("", "v", "$", "+", "(", "#", "-"), (60, 3, 5, 3, 2, 2, 3))[0] + text


def address(rng):
    return ".".join(str(rng.randrange(rng.choice((10, 32, 256)))) for _ in range(4))


def digits_only(rng):
    count = rng.choice((1, 2, 3, 4, 5, 6, 7, 7, 9, 9, 10, 12, 16))
    return "".join(rng.choices(string.digits, k=count))


def quantity(rng):
    amount = rng.choice((f"{rng.uniform(0, 99):.2f}", f"{rng.randrange(10**6):,}", number(rng)))
    return rng.choice(("${}", "{} eur", "{}%", "{} kg", "{} {}", "{}x{}", "{}:{}", "{}/{}")).format(
        amount, number(rng)
    )


def prose(rng):
    words = [word(rng) for _ in range(rng.randint(1, 7))]
    if likely(rng, 0.6):
        words[rng.randrange(len(words))] = token(rng)
    return " ".join(words)


def noise(rng):
    return "".join(rng.choices(KEYS, k=rng.randint(1, 40)))


NO_DATES = (soup, shuffled, doubled, wrong_word, wrong_length, mixed_signs, introduced, extended,
            cut, groups, address, digits_only, quantity, prose, noise, time)  # fmt: skip
NO_DATE_WEIGHTS = (9, 12, 8, 16, 6, 8, 26, 17, 5, 9, 3, 3, 3, 9, 2, 1)


if __name__ == "__main__":  # prints fifty samples, and checks that the grammar accepts each made date
    dice = random.Random(1)
    for _ in range(50):
        print("{1}\t{0}".format(*sample(dice)))
    bad = [t for t in (squeeze(date(dice)) for _ in range(20000)) if label(t) in (None, UNCLEAR)]
    print(len(bad), "dates the grammar does not know", bad[:10])
