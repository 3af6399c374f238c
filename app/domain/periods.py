"""Stretches of the calendar: days, weeks, weekends, months, seasons, years, and how to reach them from a day.

Every function raises ValueError or OverflowError where the calendar (years 1 to 9999) ends.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum


class Granularity(StrEnum):
    """How exactly a time is known."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` to `end`, both included."""

    start: date
    end: date
    granularity: Granularity


SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season, three months long, as on the northern half of the Earth."""


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
    return _months(year_number, number, 1, Granularity.MONTH)


def season(year_number: int, name: str) -> Period:
    """A season by the year it begins in: winter 2022 ends in February 2023."""
    return _months(year_number, SEASONS[name], 3, Granularity.SEASON)


def year(number: int) -> Period:
    """A year."""
    return Period(date(number, 1, 1), date(number, 12, 31), Granularity.YEAR)


def shifted(today: date, unit: str, count: int) -> Period:
    """The day, week, weekend, month or year that lies `count` of that unit after today's (before, if negative)."""
    if unit == "day":
        return day(today + timedelta(days=count))
    if unit == "week":
        return week(today + timedelta(weeks=count))
    if unit == "weekend":
        return weekend(today + timedelta(weeks=count))
    if unit == "month":
        return month(today.year, today.month + count)
    return year(today.year + count)


def weekday(today: date, number: int, which: int) -> Period:
    """The weekday (0 is Monday) last before today (`which` -1), from today on (0) or first after today (1)."""
    ahead = (number - today.weekday()) % 7
    if which < 0:
        return day(today + timedelta(days=ahead - 7))
    return day(today + timedelta(days=ahead if ahead or not which else 7))


def recurring(today: date, of_year: Callable[[int], Period], which: int) -> Period:
    """Of a period that comes once a year, as seen from today.

    `which` -1 is the last one that ended before today, 1 the first that begins after today, 0 the one that
    contains today or else begins in today's year.
    """
    if which > 0:
        this_year = of_year(today.year)
        return this_year if this_year.start > today else of_year(today.year + 1)
    if which < 0:
        steps = range(today.year, max(today.year - 3, 0), -1)
        return next(period for period in map(of_year, steps) if period.end < today)
    before = of_year(max(today.year - 1, 1))
    return before if before.end >= today else of_year(today.year)


def nearest(today: date, of_year: Callable[[int], Period]) -> Period:
    """The occurrence of a yearly period that is closest to today. Raises ValueError if there is none near."""
    found = []
    for number in (today.year, today.year - 1, today.year + 1):
        try:
            found.append(of_year(number))
        except ValueError:  # 29 February, or the end of the calendar
            continue
    return min(found, key=lambda period: abs((period.start - today).days))


def _months(year_number: int, number: int, length: int, granularity: Granularity) -> Period:
    first = year_number * 12 + number - 1
    start = date(first // 12, first % 12 + 1, 1)
    beyond = first + length
    if beyond == (date.max.year + 1) * 12:
        return Period(start, date.max, granularity)
    return Period(start, date(beyond // 12, beyond % 12 + 1, 1) - timedelta(days=1), granularity)
