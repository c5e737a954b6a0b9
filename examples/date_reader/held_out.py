"""Makes the held-out set of the date reader: texts that were not in the training, with their answers.

    python3 held_out.py > ../../tests/data/dates_held_out.tsv

Each line holds a text, a tab and the ISO date of the text, or nothing after the tab if the text is no date. Spaces at
the ends and doubled spaces belong to the text. This generator writes the forms that rules.py accepts. On purpose, it
uses neither the grammar of rules.py nor dates.py and texts.py, which generate the training texts. Its templates and its
vocabulary are different, its days come from the calendar, and it knows the answer of each text from its construction.
"""

import calendar
import datetime
import random

LINES, SEED, LONGEST = 4000, 20241103, 40

# The placeholders in the templates below, and the text of each placeholder for 3 February 2024:
# {d} 3, {dd} 03, {o} 3rd, {b} Feb, {B} February, {m} 2, {mm} 02, {Y} 2024, {y} 24
WRITTEN = """{d} {B} {Y}|{d} {b} {Y}|{d} {b}. {Y}|{dd} {B} {Y}|{dd} {b} {Y}|{o} {B} {Y}
{o} {b} {Y}|{o} {B}, {Y}|{d} {B}, {Y}|{d} {b}, {Y}|{o} of {B} {Y}|{o} of {B}, {Y}|{o} of {b} {Y}
{o} of {b}. {Y}|{o} of {b}., {Y}|{d} of {B} {Y}|the {o} of {B} {Y}|the {o} of {B}, {Y}
the {o} of {b}, {Y}|the {o} of {b}. {Y}|the {o} {B} {Y}|{B} {d} {Y}|{B} {d}, {Y}|{B} {o}, {Y}
{B} {o} {Y}|{b} {d} {Y}|{b} {d}, {Y}|{b} {dd}, {Y}|{b} {o}, {Y}|{b}. {d}, {Y}|{b}. {o}, {Y}
{b}. {d} {Y}|{b}. {dd} {Y}|{B} the {o}, {Y}|{B} {dd}, {Y}|{o}, {B}, {Y}|{d}-{b}-{Y}|{dd}-{b}-{Y}
{d}-{b}-{y}|{d}-{B}-{Y}|{d} {b} {y}|{d} {B} {y}|{d} {b} '{y}|{o} of {B}, '{y}
the {o} of {B} '{y}|{b} {d}, {y}|{b} {d} '{y}|{b}. {o}, '{y}|{B} {d}, '{y}|{B} {o} {y}
{o} {b} '{y}|{dd} {b}. '{y}|{b} {d}, '{y}"""
NUMERIC = """{Y}-{mm}-{dd}|{Y}-{mm}-{dd}|{Y}-{mm}-{dd}|{Y}/{m}/{d}|{Y}/{mm}/{dd}|{Y}.{mm}.{dd}
{Y}.{m}.{d}|{Y}{mm}{dd}|{Y}{mm}{dd}|{d}.{m}.{Y}|{dd}.{mm}.{Y}|{d}.{mm}.{Y}|{m}/{d}/{Y}
{mm}/{dd}/{Y}|{m}/{dd}/{Y}|{d}.{m}.{y}|{dd}.{mm}.{y}|{m}/{d}/{y}|{mm}/{dd}/{y}|{m}/{d}/'{y}
{d}.{m}.'{y}"""

# Templates of texts that resemble dates: incomplete dates, and dates with errors or additions. Whatever the numbers
# are, a text made from a template is no date.
BROKEN = """{B}|{b}|{B} {Y}|{b} {Y}|{b}. {Y}|{B}, {Y}|{d} {B}|{o} of {B}|the {o}|the {o} of {B}
{B} {o}|{b} {d}|{b} '{y}|{Y}|{y}|'{y}|{d}|{o}|{A}|{A}, {d} {B}|{a} {b} {d}|{A} the {o}|{A} {Y}
{d} {Y}|{o} {Y}|{Y}-{mm}|{mm}/{Y}|{m}/{d}|{d}.{m}.|{d}.{m}|{mm}.{Y}|{Y}/{m}/|{d}-{b}|{b}-{Y}
{Y}-{mm}-|-{mm}-{dd}|{d} {B} {Y} at noon|{d} {b} {Y} {H}:{M}|{Y}-{mm}-{dd} {H}:{M}
{Y}-{mm}-{dd}T{H}:{M}|{m}/{d}/{Y} {H}:{M}|{Y}-{mm}-{dd}T{H}:{M}:00Z|{Y}-{mm}-{dd}Z
{B} {d}, {Y} {H}:{M}|{H}:{M} {d} {b} {Y}|{H}:{M}|{H}:{M}:{M}|before {d} {B} {Y}|on {B} {d}, {Y}
until {Y}-{mm}-{dd}|due {m}/{d}/{Y}|from {d}.{m}.{Y}|born {d} {b} {Y}|{d} {b} {Y} {A}
{Y}-{mm}-{dd} {a}|{B} {o}, {Y} or so|{d}.{m}.{Y} approx|{B} {d} {Y} AD|{d} {B} {Y} BC
{d} {b} {Y} {d} {b} {Y}|{Y}-{mm}-{dd} {Y}-{mm}-{dd}|{m}/{d}/{Y}-{m}/{d}/{Y}|{d}-{d} {B} {Y}
{d} to {d} {b} {Y}|{d} and {d} {B} {Y}|{B} {d} to {B} {d}, {Y}|{d}/{d} {B} {Y}|{d} {b} {b} {Y}
{d} {d} {B} {Y}|{B} {B} {d} {Y}|{B} {d} {Y} {Y}|{a} {a} {d} {b} {Y}|{d} {B} {y}5|{d} {b} 9{y}
{B} {d}, {y}0|{d} {B} {Y}7|{Y}1-{mm}-{dd}|{y}3-{mm}-{dd}|{d}.{m}.{y}4|{m}/{d}/{Y}2|{m}/{d}/8{y}
1{dd} {B} {Y}|{B} 2{dd}, {Y}|{dd}{dd}.{m}.{Y}|{Y}-1{mm}-{dd}|{Y}-{mm}-1{dd}|{Y}{mm}{d}0{d}
{y}{mm}{dd}|{Y}{mm}|{Y}{mm}{dd}1|{Y}-{mm}/{dd}|{Y}/{mm}-{dd}|{Y}.{mm}-{dd}|{d}.{m}/{Y}
{m}/{d}.{Y}|{d}.{m}-{Y}|{Y} {mm} {dd}|{d} {m} {Y}|{d}-{m}-{Y}|{dd}-{mm}-{Y}|{d}_{m}_{Y}
{Y}_{mm}_{dd}|{Y}:{mm}:{dd}|{d},{m},{Y}|{Y}--{mm}-{dd}|{Y}-{mm}--{dd}|{d}..{m}.{Y}|{m}//{d}/{Y}
{y}-{mm}-{dd}|{Y}-{b}-{dd}|{Y} {d} {B}|{Y} {b} {d}|{b} {Y} {d}|{B} {Y}, {o}|{o} {Y} of {B}
of {B} the {o} {Y}|#{d} {B} {Y}|${d}.{m}.{Y}|{d} {word} {Y}|{word} {d}, {Y}|{o} of {word}, {Y}
{word}, {d} {b} {Y}|{d}-{word}-{Y}|{word} {Y}-{mm}-{dd}|v{d}.{m}.{Y}|{d}.{m}.{Y}-beta
{Y}-{mm}-{dd}.txt|log{Y}{mm}{dd}|{d} {b} {Y}!|{d} {b} {Y}?|({m}/{d}/{Y})|{Y}-W{dd}-1
{Y}-{H}{dd}1|{d}x {B} {Y}|{Y}-{mm}-xx|xx.{m}.{Y}|??/{d}/{Y}|20xx-{mm}-{dd}|2O{y}-{mm}-{dd}
week {dd} {Y}|{d} days in {B} {Y}|{d} {B} of that year|last {A} of {B} {Y}|{B} {d} years ago
mid {B} {Y}|early {b} {Y}|{b}/{Y}|{B} {Y} - {B} {Y}|Q1 {Y}|FY{Y}|{Y}/{y}|{Y}-{y}|{d}/{b}/{Y}"""
NUMBERS = """{n8}.{n8}.{n8}.{n8}|192.168.{n8}.{n8}|10.0.{n8}.{n8}|{n3}-{n3}-{n4}
({n3}) {n3}-{n4}|{n3}-{n4}|+{n2} {n3} {n4}{n3}|1-800-{n3}-{n4}|0{n3} {n4} {n4}|${n3}.{n2}
${n2},{n3}.{n2}|{n3},{n3},{n3}|{n2} EUR|{n1}.{n1}.{n1}|v{n1}.{n2}|{n1}.{n2}.{n3}
{n1}.{n1}.{n1}.{n1}|{n1}/{n1}|{n2}/{n3}|{n1} {n1}/{n1}|{n2}%|{n1}:{n2}|{n7}|{n9}|{n6}|{n5}|{n4}
{n5}-{n4}|{n3}-{n2}-{n4}|{n4} {n4} {n4} {n4}|{n3}x{n3}|-{n3}.{n2}|{n1}/{n1}/{n1}|{n2}:{n2}:{n2}
{n3}/{n2}/{n4}|{n5}/{n2}/{n2}|{n3}.{n2}.{n4}|{n1}.{n2}e{n1}|{n2} + {n2}"""
PROSE = """march on|march on, soldiers|may 2024|May I?|may the fourth be with you|5 may
5 may 2001 at noon|sat down|sun and moon|monday|See you on Monday|the first of many
second to none|May or June 2020|today|tomorrow at 5|yesterday|next Friday|in three days|noon
New Year's Eve|Christmas 1999|easter 2024|hello|the year 2000|summer of 69|summer of '69
July 4th|the 4th of July|Fri 13|Friday the 13th|ides of March|third of February, 2024
March third, 2024|Feb two 2024|twenty twenty|1st|2nd|3rd|may 32|decimal 5, 2001|august company
Augustus 3 2001|june bug 1999|jan van eyck 1390|mark 5 2001|5 mars 2001|3 fevrier 2024
3. Oktoberfest 2019|dec|oct-2019|sep|sun|2024|1999-2000|room 101|flight 2024|order 20240
page 3 of 2024|version 3.2|chapter 12|apollo 11|route 66|catch 22|fahrenheit 451|7 of 9
1 of 2024|1984|2001: a space|unknown|n/a|none|null|-|--|.|,|?|!|0|00|/|'|tbd|TBA|soon|never|ASAP
now|date|dd.mm.yyyy|YYYY-MM-DD|mm/dd/yyyy|xx/xx/xxxx|??.??.????|00|0000|a|the|of|the of|of 2024
, 2024|-2024|st|rd|3 rd|31st century|quick brown fox|lorem ipsum dolor|to be or not to be
the answer is 42|3 blind mice|12 angry men|7 up|one two three|a1b2c3|qwerty|asdf 1234|0x20240203
1e10|3.14159|2.71828|6.022e23|1,000,000|50/50|24/7|9 to 5|3-2-1|10-4|90210|SW1A 1AA|A4|B-52
C-3PO|R2-D2|4x4|1080p|8:30 am|17:45|12h30|T-10|+5|UTC+2|Jan Feb Mar|feb mar 2020|mon tue wed
sat 2024|monday may|sunday june|of may 3 2001 the|2001 5|may may 2001|12 foo 2001|5 abc 1999
foo 5, 2001|3 day 2020|7 men 1999|the 5 sox 2001|4 the 2001|5 of 2001|may of 2001|a 5 may 2001
5 may 2001 a|x 2001-05-03|2001-05-03 x|5th avenue 2001|6 feet under|may 5-6, 2001|may 5/2001
5 may-2001/|5 may 2001 2|5 5 may 2001|2001-05-03-04|2001.05.03.04|5.3.2001.7|5/3/2001/7
20010503-1"""
WORDS = """apple banana carrot market marsh maybe mayhem junction jungle decade octave novelty
sepal febreze japan aprons augment table window river green seven plus minus abc foo bar day men
box sir tie sum saga monk wedge frisky sunk today noon item lot issue batch ref lines week
""".split()


def rendered(template, day, dice):
    day_ending = {1: "st", 2: "nd", 3: "rd"}.get(day[2] % 10, "th")
    if 11 <= day[2] <= 13:
        day_ending = "th"
    short = calendar.month_abbr[day[1]] if 1 <= day[1] <= 12 else ""
    if short == "Sep" and dice.random() < 0.4:
        short = "Sept"
    weekday = dice.choice(list(calendar.day_name))
    return template.format(
        d=day[2], dd=f"{day[2]:02}", o=f"{day[2]}{day_ending}", b=short,
        B=calendar.month_name[day[1]] if 1 <= day[1] <= 12 else "",
        m=day[1], mm=f"{day[1]:02}", Y=f"{day[0]:04}", y=f"{day[0] % 100:02}",
        A=weekday, a=weekday[:3], H=f"{dice.randrange(24):02}", M=f"{dice.randrange(60):02}",
        word=dice.choice(WORDS),
        n8=dice.randrange(256),
        **{f"n{i}": dice.randrange(10 ** (i - 1), 10**i) for i in range(1, 8)},
        n9=dice.randrange(10**8, 10**9),
    )  # fmt: skip


def split(table):
    return table.replace("\n", "|").split("|")


def calendar_day(dice, two_digits):
    first, last = (1969, 2068) if two_digits else (1000, 2999)
    if not two_digits and dice.random() < 0.5:
        first, last = 1900, 2099
    span = datetime.date(first, 1, 1).toordinal(), datetime.date(last, 12, 31).toordinal()
    day = datetime.date.fromordinal(dice.randint(*span))
    return day.year, day.month, day.day


def impossible_day(dice, named):
    """Returns a day that no calendar has. If the month is a number, the month may be one that no calendar has."""
    year, month, day = calendar_day(dice, False)
    kind = dice.randrange(4 if named else 6)
    if kind == 0:
        return year, dice.choice((4, 6, 9, 11)), 31
    if kind == 1:
        return dice.choice((1900, 2100, 2023, 2021, 1999, 2201, 1066)), 2, 29
    if kind == 2:
        return year, 2, dice.choice((30, 31))
    if kind == 3:
        return year, month, dice.choice((0, 32, 33, 35, 40, 45, 56, 99))
    if kind == 4:
        return year, dice.choice((0, 13, 14, 20, 31, 99)), day
    return dice.choice((3000, 3456, 9999, 999, 500, 12)), month, day


def dressed(text, dice):
    """Changes the case, doubles spaces, or adds spaces at the ends."""
    case = dice.randrange(8)
    if case == 0:
        text = text.upper()
    elif case in (1, 2):
        text = text.lower()
    elif case == 3:
        text = "".join(dice.choice((c.lower(), c.upper())) for c in text)
    elif case == 4:
        text = text.title()
    if dice.random() < 0.15:
        text = text.replace(" ", "  ", dice.randint(1, 3))
    if dice.random() < 0.1:
        text = " " * dice.randrange(3) + text + " " * dice.randrange(3)
    return text


def with_weekday(text, dice):
    if dice.random() > 0.25:
        return text
    name = dice.choice(list(calendar.day_name))
    return dice.choice((name, name[:3], name[:3] + ".")) + dice.choice((" ", ", ")) + text


def a_date(dice):
    template = dice.choice(split(dice.choice((WRITTEN, WRITTEN, NUMERIC))))
    day = calendar_day(dice, "{y}" in template)
    return with_weekday(rendered(template, day, dice), dice), "%04d-%02d-%02d" % day


def no_day(dice):
    named = dice.random() < 0.5
    templates = [t for t in split(WRITTEN if named else NUMERIC) if "{Y}" in t]
    text = rendered(dice.choice(templates), impossible_day(dice, named), dice)
    return with_weekday(text, dice), ""


def no_date(dice):
    kind = dice.random()
    if kind < 0.25:
        return no_day(dice)
    if kind < 0.35:
        return dice.choice(split(PROSE)), ""
    table = NUMBERS if kind < 0.55 else BROKEN
    return rendered(dice.choice(split(table)), calendar_day(dice, False), dice), ""


def main():
    dice, lines = random.Random(SEED), {}
    for text in split(PROSE):
        lines[text] = ""
    while len(lines) < LINES:
        text, iso = a_date(dice) if dice.random() < 0.74 else no_date(dice)
        text = dressed(text, dice)
        if len(text) <= LONGEST and text not in lines:
            lines[text] = iso
    lines = list(lines.items())
    dice.shuffle(lines)
    for text, iso in lines:
        print(f"{text}\t{iso}")


if __name__ == "__main__":
    main()
