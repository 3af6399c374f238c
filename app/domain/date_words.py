"""The English words that name a time, as rules: a pattern, and how its match is read on a given day.

Rather none than a wrong one: "may", "march", "sun" and "sat" as plain words, "a few days ago", "the last year",
"on Friday" (past or to come?) and numbers that only look like a year are left alone.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from app.domain import periods
from app.domain.periods import Period

_YEAR_OF_MONTHS = "January February March April May June July August September October November December"
MONTHS = tuple(_YEAR_OF_MONTHS.split())
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_MONTH_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH_NUMBERS |= {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)} | {"sept": 9}
_ALSO_VERBS = frozenset(("may", "march", "mar"))  # a month only with a capital, or after "in" or "since"
_COUNTS = {word: number for number, word in enumerate(("a", "two", "three", "four", "five", "six"), 1)}
_COUNTS |= {"an": 1, "one": 1, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
_COUNTS |= {"a couple of": 2, "a couple": 2}
_WHICH = {"last": -1, "this past": -1, "this": 0, "this coming": 1, "next": 1}
_DAYS_AWAY = {
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
}


@dataclass(frozen=True, slots=True)
class Rule:
    """`read` gives the period that a match names on a day, or None. The phrase is the group "phrase" or all."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date], Period | None]


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


def _rule(pattern: str, read: Callable[[re.Match[str], date], Period | None]) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), read)


_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d\d)(?![\d%€]|[.,:/\-]\d)"
_MONTH = rf"(?P<month>{_any(_MONTH_NUMBERS)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
# "by 2000 steps", "May 8 people": a plural that follows makes the number a count.
_NO_COUNT = (
    r"(?! +(?!(?:was|is|this|has|his|as|us|yes|does|always|works|suits|sounds|seems)\b)"
    r"(?:people|men|women|children|percent|km|kg|[a-z]+s)\b)"
)
_NOT_A_SPAN = r"(?<!the )(?<!my )(?<!your )(?<!our )(?<!his )(?<!her )(?<!their )(?<!its )"  # "over the last year"
_UNIT = r"(?P<unit>day|weekend|week|month|year)"
_COUNT = rf"(?P<count>\d{{1,4}}|{_any(_COUNTS)})"


def _month_number(match: re.Match[str]) -> int | None:
    name = match["month"]
    return None if name in _ALSO_VERBS else _MONTH_NUMBERS[name.lower()]


def _full_date(match: re.Match[str], today: date) -> Period | None:
    number = _month_number(match)
    if number is None:
        return None
    day = int(match["day"])
    if match["year"]:
        return periods.day(date(int(match["year"]), number, day))
    return periods.nearest(today, lambda year: periods.day(date(year, number, day)))


def _iso_date(match: re.Match[str], _: date) -> Period:
    return periods.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _month_of_year(match: re.Match[str], _: date) -> Period | None:
    number = _month_number(match)
    return None if number is None else periods.month(int(match["year"]), number)


def _month_alone(match: re.Match[str], today: date) -> Period:
    number = _MONTH_NUMBERS[match["month"].lower()]
    return periods.nearest(today, lambda year: periods.month(year, number))


def _year_alone(match: re.Match[str], _: date) -> Period:
    return periods.year(int(match["year"]))


def _season_of_year(match: re.Match[str], _: date) -> Period:
    return periods.season(int(match["year"]), match["season"].lower())


def _day_away(match: re.Match[str], today: date) -> Period:
    return periods.shifted(today, "day", _DAYS_AWAY[" ".join(match[0].lower().split())])


def _ago(match: re.Match[str], today: date) -> Period:
    count = int(match["count"]) if match["count"].isdecimal() else _COUNTS[match["count"].lower()]
    sign = -1 if match["sign"].lower() in ("ago", "back") else 1
    return periods.shifted(today, match["unit"].lower(), sign * count)


def _which_unit(match: re.Match[str], today: date) -> Period:
    return periods.shifted(today, match["unit"].lower(), _WHICH[match["which"].lower()])


def _before_last(match: re.Match[str], today: date) -> Period:
    sign = -1 if match["side"].lower() == "before last" else 1
    return periods.shifted(today, match["unit"].lower(), 2 * sign)


def _which_weekday(match: re.Match[str], today: date) -> Period:
    return periods.weekday(today, _WEEKDAYS.index(match["weekday"].lower()), _WHICH[match["which"].lower()])


def _which_month(match: re.Match[str], today: date) -> Period | None:
    number = _month_number(match)
    if number is None:
        return None
    return periods.recurring(today, lambda year: periods.month(year, number), _WHICH[match["which"].lower()])


def _which_season(match: re.Match[str], today: date) -> Period:
    name = match["season"].lower()
    return periods.recurring(today, lambda year: periods.season(year, name), _WHICH[match["which"].lower()])


_SEASON = rf"(?P<season>{_any(periods.SEASONS)})"
_LAST_NEXT = rf"(?P<which>{_any(_WHICH)})"
_MONTH_LEAD = r"\b(?:in|since|during|until|till) (?:early |late |mid[- ])?"
_YEAR_LEAD = r"\b(?:in|since|during|until|till|from|early|late|mid|back in) "

RULES = (
    _rule(r"(?<![\w\-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\d\-])", _iso_date),
    _rule(rf"(?<![\w.,:$€£\-]){_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?", _full_date),
    _rule(rf"\b{_MONTH} {_DAY}(?![\w:]| ?[-–] ?\d|[.,]\d)(?:,? {_YEAR})?{_NO_COUNT}", _full_date),
    _rule(rf"\b{_MONTH},?(?: of)? {_YEAR}{_NO_COUNT}", _month_of_year),
    _rule(rf"{_MONTH_LEAD}(?P<phrase>(?P<month>{_any(MONTHS)}))\b(?! ?\d)", _month_alone),
    _rule(rf"{_YEAR_LEAD}(?P<phrase>{_YEAR}){_NO_COUNT}", _year_alone),
    _rule(rf"\b{_SEASON}(?: of| in)?,? {_YEAR}", _season_of_year),
    _rule(rf"\b(?:{_any(_DAYS_AWAY)})\b", _day_away),
    _rule(rf"(?<![\w.,]){_COUNT} {_UNIT}s? (?P<sign>ago|back|from now)\b", _ago),
    _rule(rf"\b{_NOT_A_SPAN}{_LAST_NEXT} {_UNIT}\b", _which_unit),
    _rule(rf"\bthe {_UNIT} (?P<side>before last|after next)\b", _before_last),
    _rule(rf"\b{_LAST_NEXT} (?P<weekday>{_any(_WEEKDAYS)})\b", _which_weekday),
    _rule(rf"\b{_LAST_NEXT} (?P<month>{_any(MONTHS)})\b(?! ?\d)", _which_month),
    _rule(rf"\b{_NOT_A_SPAN}{_LAST_NEXT} {_SEASON}\b(?! \d)", _which_season),
)
