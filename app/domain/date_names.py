"""How a time is written down again: in plain English, or in the figures of ISO 8601."""

from collections.abc import Callable, Mapping
from datetime import date

from app.domain import period_parts, periods
from app.domain.date_words import MONTHS
from app.domain.periods import SEASONS, Granularity, Period

_SEASON_NAMES = {month: name for name, month in reversed(SEASONS.items())}  # autumn, not fall
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def in_english(period: Period) -> str:
    """As in "7 May 2023", "the week of 1 May 2023", "summer 2022", "early May 2023", "12–15 June 2023", "2018–2021"."""
    try:
        unit = periods.containing(period.start, period.granularity)
    except ValueError:  # the winter at the beginning of the calendar
        return _from_to(period.start, period.end)
    name = _NAMES[period.granularity](unit.start)
    if _same(unit, period):
        return f"the {name}" if period.granularity in _WITH_ARTICLE else name
    if period.granularity is not Granularity.WEEK:
        for third, word in enumerate(("early ", "mid-", "late ")):
            if _same(period_parts.part(unit, third), period):
                return word + name
    return _from_to(period.start, period.end)


def in_figures(period: Period) -> str:
    """2023, 2023-05, 2023-05-07, or two days with a slash between them."""
    if period.granularity is Granularity.DAY and period.start == period.end:
        return period.start.isoformat()
    if _same(periods.year(period.start.year), period):
        return f"{period.start.year:04}"
    if _same(periods.month(period.start.year, period.start.month), period):
        return period.start.isoformat()[:7]
    return f"{period.start.isoformat()}/{period.end.isoformat()}"


def _same(unit: Period | None, period: Period) -> bool:
    return unit is not None and (unit.start, unit.end) == (period.start, period.end)


def _from_to(start: date, end: date) -> str:
    """Two years, months or days, saying only once what they share."""
    if (start.month, start.day, end.month, end.day) == (1, 1, 12, 31):
        return f"{start.year}–{end.year}" if start.year != end.year else str(start.year)
    whole = periods.month(start.year, start.month).start == start and periods.month(end.year, end.month).end == end
    first, last = (_month(start), _month(end)) if whole else (_day(start), _day(end))
    if start.year != end.year:
        return f"{first} – {last}"
    if whole:
        return f"{MONTHS[start.month - 1]}–{last}" if start.month != end.month else last
    if start.month != end.month:
        return f"{start.day} {MONTHS[start.month - 1]} – {last}"
    return f"{start.day}–{last}"


def _day(of: date) -> str:
    return f"{of.day} {_month(of)}"


def _month(of: date) -> str:
    return f"{MONTHS[of.month - 1]} {of.year}"


def _century(of: date) -> str:
    number = (of.year + 99) // 100
    ending = "th" if 10 < number < 14 else _ORDINAL_ENDINGS.get(number % 10, "th")
    return f"{number}{ending} century"


_WITH_ARTICLE = frozenset((Granularity.WEEK, Granularity.WEEKEND, Granularity.DECADE, Granularity.CENTURY))
_NAMES: Mapping[Granularity, Callable[[date], str]] = {
    Granularity.DAY: _day,
    Granularity.WEEK: lambda of: f"week of {_day(of)}",
    Granularity.WEEKEND: lambda of: f"weekend of {_day(of)}",
    Granularity.MONTH: _month,
    Granularity.QUARTER: lambda of: f"Q{(of.month + 2) // 3} {of.year}",
    Granularity.SEASON: lambda of: f"{_SEASON_NAMES[of.month]} {of.year}",
    Granularity.YEAR: lambda of: str(of.year),
    Granularity.DECADE: lambda of: f"{of.year // 10 * 10}s",
    Granularity.CENTURY: _century,
}
