"""The English words that name a time.

Rather none than a wrong one: "may", "march" and "sat" as plain words, "the last year", "in my twenties" and numbers
that only look like a year are left alone, and "on Friday" too unless its sentence tells past from future.
"""

from app.domain import date_tense, feasts
from app.domain.date_vocabulary import Vocabulary
from app.domain.periods import SEASONS

_YEAR_OF_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_YEAR_OF_MONTHS.split())
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_COUNTS = {word: (float(number), float(number)) for number, word in enumerate(_NUMBERS.split(), 1)}
_COUNTS |= {"a": (1, 1), "an": (1, 1), "another": (1, 1), "thirty": (30, 30), "forty": (40, 40), "fifty": (50, 50)}
_COUNTS |= {"a couple of": (2, 2), "a couple": (2, 2), "half a": (0.5, 0.5), "one and a half": (1.5, 1.5)}
_COUNTS |= {"a few": (2, 5), "several": (3, 9)}
_UNITS = ("day", "weekend", "week", "month", "quarter", "year", "decade")

# "by 2000 steps", "May 8 people": a plural that follows makes the number a count.
_NO_COUNT = (
    r"(?! (?!(?:was|is|this|has|his|as|us|yes|does|always|works|suits|sounds|seems)\b)"
    r"(?:people|men|women|children|percent|km|kg|[a-z]+s)\b)"
)
# "950 francs a month now" tells how often; "a month now" needs a word that says that it lasted.
_HOW_OFTEN = "".join(rf"(?<!\b{word}\x20)" for word in ("for", "been", "over", "almost", "nearly", "it's"))
_FOR_HOW_LONG = rf"(?!{_HOW_OFTEN}an?\b(?! few| couple))"
_OFTEN = ("once", "twice", "times", *(f"{unit}{end}" for unit in ("day", "week", "month", "year") for end in ("", "s")))
_NOT_HOW_OFTEN = "".join(rf"(?<!\b{word}\x20)" for word in _OFTEN)  # "once in two weeks", "two weeks in a year"
NAMED_DECADES = ("thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")  # of the 1900s
_OWNERS = ("the", "my", "your", "our", "his", "her", "their", "its")  # "over the last year", "my last year"

ENGLISH = Vocabulary(
    language="en",
    plain="the and i you to of was is it my that we this with for are have he she they",
    months={name.lower(): number for number, name in enumerate(MONTHS, 1)},
    short_months={name[:3].lower(): number for number, name in enumerate(MONTHS, 1)} | {"sept": 9},
    weekdays={name.lower(): number for number, name in enumerate(DAYS)}
    | {name[:3].lower(): number for number, name in enumerate(DAYS)}
    | {"tues": 1, "thur": 3, "thurs": 3},
    seasons=SEASONS,
    feasts=feasts.ENGLISH,
    units={f"{unit}{ending}": unit for unit in _UNITS for ending in ("", "s")} | {"fortnight": "fortnight"},
    counts=_COUNTS,
    days={
        "the day before yesterday": -2,
        "day before yesterday": -2,
        "yesterday": -1,
        "last night": -1,
        "today": 0,
        "tonight": 0,
        "this morning": 0,
        "this afternoon": 0,
        "this evening": 0,
        "tomorrow": 1,
        "the day after tomorrow": 2,
        "day after tomorrow": 2,
    },
    which={"last": -1, "this past": -1, "this": 0, "this coming": 1, "next": 1},
    verbs=frozenset(("may", "march", "mar", "sat", "sun", "wed")),
    lean=date_tense.lean,
    has_lasted=date_tense.has_lasted,
    day_ending="(?:st|nd|rd|th)?",
    ago=r"<COUNT> <UNIT> (?:ago|back(?! (?:then|in|home|at|to|from|and)\b))\b",
    ahead=(r"<COUNT> <UNIT> from now\b(?! on)", rf"{_NOT_HOW_OFTEN}\bin <COUNT> <UNIT>(?! (?:or|now)\b)"),
    lasting=rf"{_FOR_HOW_LONG}<COUNT> <UNIT> now\b",
    dates=(
        r"(?<![\w.,:$€£\-–/])<DAY>(?: of)? <MONTH>(?:,? <YEAR>)?",
        rf"\b<MONTH> <DAY>(?![\w:]| ?[-–] ?\d|[.,]\d)(?:,? <YEAR>)?{_NO_COUNT}",
    ),
    day_spans=(
        r"(?<![\w.,:$€£\-–/])<DAY><TO><DAY2>(?: of)? <MONTH>(?:,? <YEAR>)?",
        r"\b<MONTH> <DAY><TO><DAY2>(?![\w:]|[.,]\d)(?:,? <YEAR>)?",
    ),
    of_year=",?(?: of| in)? ",
    decades=(
        r"\b(?:the )?(?P<decade>(?:1[5-9]|2[01])\d0)s\b",
        r"\b(?:the |(?<=early\x20)|(?<=late\x20)|(?<=mid.))[\x27’]?(?P<decade>[3-9]0)s\b"
        r"(?! (?:today|now|here|outside|degrees))",  # it is hot
    ),
    the="the ",
    within=rf"in|during|around|circa|as of|starting|(?:week|weekend|half|quarter|{'|'.join(DAYS)}) of",
    since="since",
    until="until|till|'?til|by|up to|through",
    early="early|(?:beginning|start) of",
    mid="mid|(?:the )?middle of",
    late="late|(?:the )?end of",
    on="on",
    before="before|prior to",
    after="after|following",
    from_="from",
    to="to|until|till|through",
    between="between",
    and_="and",
    or_="or|to",
    no_which="".join(rf"(?<!\b{word}\x20)" for word in _OWNERS),
    no_year=_NO_COUNT,
    no_feast=(
        r"(?! (?:tree|magic|part(?:y|ies)|cards?|gifts?|presents?|dinner|lights?|market|music|songs?|carols?|movies?"
        r"|decorations?|break|shopping|spirit|season|holidays?|time|traditions?|stuff|sales?|eggs?|costumes?)\b)"
    ),
)
