"""Parts of a stretch of the calendar, and stretches made of two.

Every function raises ValueError or OverflowError where the calendar (years 1 to 9999) ends.
"""

from dataclasses import replace
from datetime import timedelta

from app.domain import periods
from app.domain.periods import Granularity, Period

EARLY, MID, LATE = 0, 1, 2
SATURDAY = 5
_PART_OF_WEEK = ((0, 1), (2, 3), (4, 6))  # first and last day, counted from its first: Monday and Tuesday are early
_PART_OF_DECADE = ((0, 3), (4, 6), (7, 9))  # years


def part(period: Period, third: int) -> Period | None:
    """EARLY, MID or LATE in a whole unit: 10 days of a month, a third of a year; None where that says nothing."""
    if not _is_whole(period):
        return None
    first = period.start
    match period.granularity:
        case Granularity.WEEK:
            start, end = (first + timedelta(days=days) for days in _PART_OF_WEEK[third])
        case Granularity.MONTH:
            start = first + timedelta(days=10 * third)
            end = period.end if third == LATE else start + timedelta(days=9)
        case Granularity.QUARTER | Granularity.SEASON | Granularity.YEAR:
            length = 4 if period.granularity is Granularity.YEAR else 1
            within = periods.months(first.year, first.month + length * third, length, period.granularity)
            start, end = within.start, within.end
        case Granularity.DECADE:
            years = [periods.year(first.year + number) for number in _PART_OF_DECADE[third]]
            start, end = years[0].start, years[1].end
        case _:
            return None
    return Period(start, end, period.granularity)


def half(period: Period, *, second: bool) -> Period | None:
    """The first or second half of a month, a year or a decade; None of other times."""
    if not _is_whole(period):
        return None
    first = period.start
    match period.granularity:
        case Granularity.MONTH:
            middle = first.replace(day=16)
        case Granularity.YEAR:
            middle = first.replace(month=7)
        case Granularity.DECADE:
            middle = first.replace(year=first.year + 5)
        case _:
            return None
    if second:
        return Period(middle, period.end, period.granularity)
    return Period(first, middle - timedelta(days=1), period.granularity)


def nth(period: Period, unit: str, number: int) -> Period | None:
    """The first (1), second or last (-1) day, week, weekend, month or quarter of a longer time.

    The weeks of a month are counted in sevens from its first day. None where there is no such one.
    """
    match unit:
        case "day" | "week":
            length = 1 if unit == "day" else 7
            start = period.start + timedelta(days=length * (number - 1))
            if number < 0:
                start = period.end - timedelta(days=length - 1)
            found = Period(start, start + timedelta(days=length - 1), Granularity(unit))
        case "weekend":
            saturday = nth_weekday(period, SATURDAY, number)
            if saturday is None:
                return None
            found = periods.weekend(saturday.start)
        case "month" | "quarter":
            first = periods.containing(period.end if number < 0 else period.start, Granularity(unit))
            found = periods.shifted(first.start, unit, max(number - 1, 0))
        case _:
            return None
    return found if found.end <= period.end and _length(found) < _length(period) else None


def nth_weekday(period: Period, number: int, nth_one: int) -> Period | None:
    """The first (1), second or last (-1) such weekday (0 is Monday) in a time; None if it has not so many."""
    if nth_one < 0:
        found = periods.weekday(period.end + timedelta(days=1), number, -1)
    else:
        found = periods.shifted(periods.weekday(period.start, number, 0).start, "day", 7 * (nth_one - 1))
    return found if period.start <= found.start <= period.end else None


def between(first: Period, last: Period) -> Period | None:
    """From the start of the one to the end of the other, told in the unit of the last; None if that is no order."""
    if first.start > last.start or first.end > last.end:
        return None
    return Period(first.start, last.end, last.granularity, yearless=first.yearless and last.yearless)


def spanning(first: Period, last: Period) -> Period | None:
    """As `between`; an end without its year lies in that of the other, or in the one beside it that gives order."""
    if last.yearless and last.start < first.start:
        last = _moved(last, first.start.year - last.start.year)
        last = last if last.start >= first.start else _moved(last, 1)
    elif first.yearless and not last.yearless:
        first = _moved(first, last.start.year - first.start.year)
        first = first if first.start <= last.start else _moved(first, -1)
    return between(first, last)


def _moved(period: Period, years: int) -> Period:
    start, end = (of.replace(year=of.year + years) for of in (period.start, period.end))
    return replace(period, start=start, end=end)


def _is_whole(period: Period) -> bool:
    unit = periods.containing(period.start, period.granularity)
    return (unit.start, unit.end) == (period.start, period.end)


def _length(period: Period) -> timedelta:
    return period.end - period.start
