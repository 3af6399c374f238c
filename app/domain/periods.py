"""Stretches of the calendar: days, weeks, months, years and longer ones, and how to reach them from a day.

Every function raises ValueError or OverflowError where the calendar (years 1 to 9999) ends.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum


class Granularity(StrEnum):
    """The unit in which a time is told."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


class Open(StrEnum):
    """On which side a time goes on: from the period on ("since 2016"), or up to it ("until March", "before 2010")."""

    SINCE = "since"
    UNTIL = "until"


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` to `end`, both included: one unit of `granularity`, a part of one, or several.

    `yearless` says that all but the year was told ("16 March", "last May").
    """

    start: date
    end: date
    granularity: Granularity
    open: Open | None = None
    yearless: bool = False


SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season, three months long, as on the northern half of the Earth."""

_FINER = {"decade": ("year", 10), "year": ("month", 12), "month": ("week", 52 / 12), "week": ("day", 7)}


def day(of: date) -> Period:
    """The day itself."""
    return Period(of, of, Granularity.DAY)


def week(of: date) -> Period:
    """The week that contains the day, Monday to Sunday."""
    monday = of - timedelta(days=of.weekday())
    return Period(monday, monday + timedelta(days=6), Granularity.WEEK)


def weekend(of: date) -> Period:
    """Saturday and Sunday of the week that contains the day."""
    sunday = week(of).end
    return Period(sunday - timedelta(days=1), sunday, Granularity.WEEKEND)


def month(year_number: int, number: int) -> Period:
    """A month; `number` may lie outside 1 to 12 and then counts into the neighbouring years."""
    return months(year_number, number, 1, Granularity.MONTH)


def months(year_number: int, number: int, length: int, granularity: Granularity) -> Period:
    """As many months as `length` says from that of this number on, which may lie outside 1 to 12."""
    first = year_number * 12 + number - 1
    start = date(first // 12, first % 12 + 1, 1)
    beyond = first + length
    if beyond == (date.max.year + 1) * 12:
        return Period(start, date.max, granularity)
    return Period(start, date(beyond // 12, beyond % 12 + 1, 1) - timedelta(days=1), granularity)


def quarter(year_number: int, number: int) -> Period:
    """A quarter of a calendar year; `number` may lie outside 1 to 4 like a month's."""
    return months(year_number, 3 * number - 2, 3, Granularity.QUARTER)


def season(year_number: int, first_month: int) -> Period:
    """A season by its first month (see SEASONS) and the year it begins in: winter 2022 ends in February 2023."""
    return months(year_number, first_month, 3, Granularity.SEASON)


def year(number: int) -> Period:
    """A year."""
    return Period(date(number, 1, 1), date(number, 12, 31), Granularity.YEAR)


def decade(number: int) -> Period:
    """The ten years from that of this number, whose last digit is cut to 0, on: 1990 to 1999."""
    first = number // 10 * 10
    return Period(date(max(first, 1), 1, 1), date(first + 9, 12, 31), Granularity.DECADE)


def century(number: int) -> Period:
    """The 19th century is 1801 to 1900."""
    return Period(date(100 * number - 99, 1, 1), date(100 * number, 12, 31), Granularity.CENTURY)


def containing(of: date, granularity: Granularity) -> Period:
    """The one whole unit that the day belongs to. A winter that began before the year 1 raises ValueError."""
    match granularity:
        case Granularity.DAY:
            return day(of)
        case Granularity.WEEK:
            return week(of)
        case Granularity.WEEKEND:
            return weekend(of)
        case Granularity.MONTH:
            return month(of.year, of.month)
        case Granularity.QUARTER:
            return quarter(of.year, (of.month + 2) // 3)
        case _:
            return _long_unit(of, granularity)


def _long_unit(of: date, granularity: Granularity) -> Period:
    match granularity:
        case Granularity.SEASON:
            return season(of.year - (of.month < SEASONS["spring"]), of.month // 3 * 3 or SEASONS["winter"])
        case Granularity.DECADE:
            return decade(of.year)
        case Granularity.CENTURY:
            return century((of.year + 99) // 100)
        case _:
            return year(of.year)


def shifted(today: date, unit: str, count: float) -> Period:
    """The day, week, weekend, month, quarter, year or decade `count` units after today's (before, if negative).

    With a fraction the unit is the next finer one: half a year ago is the sixth month before this one.
    """
    if count != int(count):
        finer, factor = _FINER[unit]
        return shifted(today, finer, round(count * factor))
    steps = int(count)
    if unit in _OF_DAYS:
        length, containing_unit = _OF_DAYS[unit]
        return containing_unit(today + timedelta(days=length * steps))
    match unit:
        case "month":
            return month(today.year, today.month + steps)
        case "quarter":
            return quarter(today.year, (today.month + 2) // 3 + steps)
        case "decade":
            return decade(today.year + 10 * steps)
        case _:
            return year(today.year + steps)


_OF_DAYS: Mapping[str, tuple[int, Callable[[date], Period]]] = {
    "day": (1, day),
    "week": (7, week),
    "fortnight": (14, week),
    "weekend": (7, weekend),
}


def weekday(today: date, number: int, which: int) -> Period:
    """The weekday (0 is Monday) last before today (`which` -1), from today on (0) or first after today (1)."""
    ahead = (number - today.weekday()) % 7
    if which < 0:
        return day(today + timedelta(days=ahead - 7))
    return day(today + timedelta(days=ahead if ahead or not which else 7))


def recurring(today: date, of_year: Callable[[int], Period], which: int) -> Period:
    """Of a period that comes once a year, as seen from today.

    `which` -1 is the last one that ended before today, -2 the one before it; 1 the first that begins after today,
    2 the next; 0 the one that contains today or else begins in today's year.
    """
    if which > 0:
        begun = of_year(today.year).start <= today
        return of_year(today.year + which - 1 + begun)
    if which < 0:
        over = of_year(today.year).end < today
        if not over and of_year(today.year - 1).end >= today:  # a winter that began last year
            return of_year(today.year - 1 + which)
        return of_year(today.year + which + over)
    before = of_year(max(today.year - 1, 1))
    return before if before.end >= today else of_year(today.year)


def nearest(today: date, of_year: Callable[[int], Period], lean: int = 0) -> Period:
    """The occurrence of a yearly period that is closest to today.

    `lean` -1 takes the last that has begun, 1 the first that is not over, if there is one at hand.
    Raises ValueError if there is none near.
    """
    found = []
    for number in (today.year, today.year - 1, today.year + 1):
        try:
            found.append(of_year(number))
        except ValueError:  # 29 February, or the end of the calendar
            continue
    sided = [period for period in found if (period.start <= today if lean < 0 else period.end >= today)]
    return min(sided if lean and sided else found, key=lambda period: _distance(period, today))


def nearest_day(today: date, number: int, lean: int = 0) -> date:
    """The day of that number in this month or one beside it that is closest to today; `lean` as for `nearest`."""
    found = []
    for away in (0, -1, 1):
        try:
            found.append(month(today.year, today.month + away).start.replace(day=number))
        except ValueError:  # a short month, or the end of the calendar
            continue
    sided = [of for of in found if (of <= today if lean < 0 else of >= today)]
    return min(sided if lean and sided else found, key=lambda of: abs((of - today).days))


def _distance(period: Period, today: date) -> int:
    """Days from the one to the other."""
    return max((period.start - today).days, (today - period.end).days, 0)
