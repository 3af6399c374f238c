"""Dates in figures.

2023-05-08, 2023/05/08 and 2023.05.08 begin with the year. With dots or dashes the day comes first (08.05.2023);
with slashes the month (5/8/2023), as in the United States, unless the text is German, French or Spanish. A number
above 12 is the day wherever it stands. Two figures of a year ('98) are those of the nearest past, or of the next
20 years. Without a year only "on 5/14" is read: other fractions, versions and scores look the same.
"""

import re
from collections.abc import Callable
from datetime import date

from app.domain import period_parts, periods
from app.domain.date_readers import full_year, yearless
from app.domain.date_rules import FIGURE, Read, Rule, Said, compiled
from app.domain.date_vocabulary import YEAR
from app.domain.periods import Period

_ALONE = r"(?<![A-Za-z0-9_\-/.,:+])"
_ENDS = r"(?![A-Za-z0-9_\-/]|[.,:]\d)"
_ENDS_DAY = r"(?![\d\-]|[.,:/]\d)"  # a time may follow: 2023-05-08T10:00
_ISO = r"\d{4}-\d\d-\d\d"
_DAY_FIRST = frozenset(("de", "fr", "es"))


def _year_first(match: re.Match[str], _: Said) -> Period:
    return periods.day(date(int(match["year"]), int(match["month"]), int(match["day"])))


def _ordered(*, day_first: Callable[[Said], bool]) -> Read:
    """Reads two numbers and a year."""

    def read(match: re.Match[str], said: Said) -> Period:
        first, second = int(match["first"]), int(match["second"])
        day, month = (first, second) if day_first(said) else (second, first)
        if month > 12:
            day, month = month, day
        if match["year"]:
            return periods.day(date(full_year(match["year"], said.today), month, day))
        return yearless(periods.nearest(said.today, lambda year: periods.day(date(year, month, day))))

    return read


def _interval(match: re.Match[str], _: Said) -> Period | None:
    first, last = (periods.day(date.fromisoformat(match[name])) for name in ("first", "last"))
    return period_parts.between(first, last)


def _month_of(match: re.Match[str], _: Said) -> Period:
    return periods.month(int(match["year"]), int(match["month"]))


def _certain_month_of(match: re.Match[str], said: Said) -> Period | None:
    """2023-05; but 2010-12 may be the years 2010 to 2012."""
    return _month_of(match, said) if int(match["month"]) <= int(match["year"]) % 100 else None


def _iso_week(match: re.Match[str], _: Said) -> Period:
    return periods.week(date.fromisocalendar(int(match["year"]), int(match["week"]), 1))


_usual = _ordered(day_first=lambda said: said.language in _DAY_FIRST)
_european = _ordered(day_first=lambda _: True)

RULES = tuple(
    Rule(compiled(pattern), read, frozenset((FIGURE,)))
    for pattern, read in (
        (rf"{_ALONE}(?P<first>{_ISO})/(?P<last>{_ISO}){_ENDS_DAY}", _interval),
        (rf"{_ALONE}(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d){_ENDS_DAY}", _year_first),
        (rf"{_ALONE}(?P<year>\d{{4}})/(?P<month>\d\d?)/(?P<day>\d\d?){_ENDS}", _year_first),
        (rf"{_ALONE}(?P<year>{YEAR})\.(?P<month>\d\d?)\.(?P<day>\d\d?){_ENDS}", _year_first),
        (rf"{_ALONE}(?P<first>\d\d?)/(?P<second>\d\d?)/(?P<year>\d{{4}}|\d\d){_ENDS}", _usual),
        (rf"{_ALONE}(?P<first>\d\d?)([.\-])(?P<second>\d\d?)\2(?P<year>\d{{4}}){_ENDS}", _european),
        (rf"\bon (?P<phrase>(?P<first>\d\d?)/(?P<second>\d\d?)(?P<year>)){_ENDS}(?! of\b)", _usual),
        (rf"{_ALONE}(?P<year>{YEAR})-(?P<month>0[1-9]|1[0-2]){_ENDS}", _certain_month_of),
        (rf"{_ALONE}(?P<month>0[1-9]|1[0-2])/(?P<year>{YEAR}){_ENDS}", _month_of),
        (rf"{_ALONE}(?P<year>{YEAR})-?W(?P<week>\d\d)\b", _iso_week),
    )
)
