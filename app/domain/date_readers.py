"""How the matches of the rules that all languages with an alphabet have in common are read."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from app.domain import period_parts, periods
from app.domain.date_rules import Apply, Said, looked_up
from app.domain.date_vocabulary import Vocabulary
from app.domain.periods import Granularity, Open, Period

YEARS_AHEAD = 20  # that two figures may mean; later ones are of the century before


def full_year(figures: str, today: date) -> int:
    """The year that four figures name, or two ('98)."""
    digits = figures.lstrip("'’‘")
    if len(digits) > 2:
        return int(digits)
    latest = today.year + YEARS_AHEAD
    return latest - (latest - int(digits)) % 100


def yearless(period: Period) -> Period:
    """The period, told without its year."""
    return replace(period, yearless=True)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads matches of rules whose groups bear the names that a vocabulary gives."""

    v: Vocabulary

    def dated(self, match: re.Match[str], said: Said) -> Period:
        """5 May 2022, 5 May."""
        number, day = self.month_number(match), int(match["day"])
        if match["year"]:
            return periods.day(date(full_year(match["year"], said.today), number, day))
        side = self.v.lean(match)
        return yearless(periods.nearest(said.today, lambda year: periods.day(date(year, number, day)), side))

    def day_span(self, match: re.Match[str], said: Said) -> Period | None:
        """12 to 15 June 2022, June 12 to 15."""
        number, first, last = self.month_number(match), int(match["day"]), int(match["day2"])
        if first >= last:
            return None

        def in_year(year: int) -> Period:
            return Period(date(year, number, first), date(year, number, last), Granularity.DAY)

        if match["year"]:
            return in_year(full_year(match["year"], said.today))
        return yearless(periods.nearest(said.today, in_year, self.v.lean(match)))

    def month_span(self, match: re.Match[str], said: Said) -> Period | None:
        """May to July 2022, November to January."""
        first, last = self.month_number(match), self.month_number(match, "month2")
        if first == last:
            return None

        def ending_in(year: int) -> Period:
            start = periods.month(year - (first > last), first).start
            return Period(start, periods.month(year, last).end, Granularity.MONTH)

        if match["year"]:
            return ending_in(full_year(match["year"], said.today))
        return yearless(periods.nearest(said.today, ending_in, self.v.lean(match)))

    def year_span(self, match: re.Match[str], _: Said) -> Period | None:
        """2010 to 2015."""
        return period_parts.between(periods.year(int(match["year"])), periods.year(int(match["year2"])))

    def month_of_year(self, match: re.Match[str], said: Said) -> Period:
        """May 2022."""
        return periods.month(full_year(match["year"], said.today), self.month_number(match))

    def month(self, match: re.Match[str], said: Said) -> Period | None:
        """In June; a short name needs its capital."""
        if match["month"].casefold() not in self.v.months and not match["month"][0].isupper():
            return None
        number = looked_up(self.v.all_months, match["month"])
        return yearless(periods.nearest(said.today, lambda year: periods.month(year, number), self._side(match)))

    def year(self, match: re.Match[str], said: Said) -> Period:
        """In 2016, in '98."""
        return periods.year(full_year(match["year"], said.today))

    def season_of_year(self, match: re.Match[str], said: Said) -> Period:
        """Summer 2022, winter 2022/23."""
        year = full_year(match["winter"] or match["year"], said.today)
        return periods.season(year, looked_up(self.v.seasons, match["season"]))

    def feast(self, match: re.Match[str], said: Said) -> Period:
        """Christmas 2022, on Christmas Eve."""
        feast = looked_up(self.v.feasts, match["feast"])
        if "year" in match.re.groupindex:
            return periods.day(feast(full_year(match["year"], said.today)))
        return yearless(periods.nearest(said.today, lambda year: periods.day(feast(year)), self._side(match)))

    def decade(self, match: re.Match[str], _: Said) -> Period:
        """The 1980s, the 80s; those are of the twentieth century."""
        number = int(match["decade"])
        return periods.decade(number if number > 99 else 1900 + number)

    def day_away(self, match: re.Match[str], said: Said) -> Period:
        """Yesterday."""
        return periods.shifted(said.today, "day", looked_up(self.v.days, match["away"]))

    def pointed_at(self, match: re.Match[str], said: Said) -> Period | None:
        """Last week, next Friday, this summer, last Christmas."""
        which, today = looked_up({**self.v.which_after, **self.v.which}, match["which"]), said.today
        if match["unit"]:
            return self._unit_at(looked_up(self.v.units, match["unit"]), which, match, today)
        if match["weekday"]:
            over = which == 0 and self.v.lean(match) < 0  # "this Friday was fun"
            return periods.weekday(today, self.weekday_number(match), -1 if over else which)
        if match["month"]:
            number = self.month_number(match)
            return yearless(periods.recurring(today, lambda year: periods.month(year, number), which))
        if match["season"]:
            first = looked_up(self.v.seasons, match["season"])
            return yearless(periods.recurring(today, lambda year: periods.season(year, first), which))
        feast = looked_up(self.v.feasts, match["feast"])
        return yearless(periods.recurring(today, lambda year: periods.day(feast(year)), which))

    def _unit_at(self, unit: str, which: int, match: re.Match[str], today: date) -> Period | None:
        if unit == "day":  # "the last day" of something
            return None
        period = periods.shifted(today, unit, which)
        if unit == "weekend" and which == 0 and period.start > today and self.v.lean(match) < 0:
            return periods.shifted(today, unit, -1)  # "this weekend was fun", said on a Monday
        return period

    def ago(self, match: re.Match[str], said: Said) -> Period | None:
        """Two weeks ago, a few years ago."""
        return self.counted(match, said.today, -1)

    def ahead(self, match: re.Match[str], said: Said) -> Period | None:
        """In two weeks; but "I did it in two weeks" tells how long it took."""
        return self.counted(match, said.today, 1) if self.v.lean(match) >= 0 else None

    def lasting(self, match: re.Match[str], said: Said) -> Period | None:
        """Three years now; but "it takes three days now" tells how long something takes."""
        began = self.counted(match, said.today, -1) if self.v.has_lasted(match) else None
        return None if began is None else replace(began, open=Open.SINCE)

    def counted(self, match: re.Match[str], start: date, sign: int) -> Period | None:
        """As many units from `start` as the match says; from the least to the most, where it leaves that open."""
        unit = looked_up(self.v.units, match["unit"])
        low, high = self.count(match)
        if unit == "decade":  # "two decades ago" was that year
            unit, low, high = "year", 10 * low, 10 * high
        ends = [periods.shifted(start, unit, sign * count) for count in (low, high)]
        return period_parts.between(*ends[::sign])

    def count(self, match: re.Match[str]) -> tuple[float, float]:
        """Least and most of a count."""
        low, high = self._number(match["count"])
        return (low, self._number(match["more"])[1]) if match["more"] else (low, high)

    def part(self, match: re.Match[str], period: Period, _: Said) -> Period | None:
        """Early, mid or late in a time."""
        third = period_parts.EARLY if match["early"] else period_parts.MID if match["mid"] else period_parts.LATE
        found = period_parts.part(period, third)
        return None if found is None else replace(found, yearless=period.yearless)

    def offset(self, match: re.Match[str], period: Period, _: Said) -> Period | None:
        """Three days after a time, the week before it, the second Friday before it."""
        sign = -1 if match["prior"] else 1
        anchor = period.start if sign < 0 else period.end
        if match["weekday"]:
            steps = 7 * (int(self.count(match)[0]) - 1) if match["count"] else 0
            near = periods.weekday(anchor, self.weekday_number(match), sign)
            return periods.shifted(near.start, "day", sign * steps)
        if match["count"]:
            return self.counted(match, anchor, sign)
        return beside(anchor, looked_up(self.v.units, match["unit"]), sign)

    def month_number(self, match: re.Match[str], group: str = "month") -> int:
        """The month, 1 to 12. Raises ValueError for a form that is more often another word."""
        return looked_up(self.v.all_months, self._sure(match[group]))

    def weekday_number(self, match: re.Match[str]) -> int:
        """The weekday, 0 is Monday. Raises ValueError as `month_number` does."""
        return looked_up(self.v.weekdays, self._sure(match["weekday"]))

    def _sure(self, word: str) -> str:
        if word in self.v.verbs:
            raise ValueError("probably another word")
        return word

    def _number(self, word: str) -> tuple[float, float]:
        return (int(word), int(word)) if word.isdecimal() else looked_up(self.v.counts, word)

    def _side(self, match: re.Match[str]) -> int:
        """The past after "since", else what the sentence tells."""
        return -1 if re.fullmatch(self.v.since, match["lead"], re.IGNORECASE) else self.v.lean(match)


def beside(anchor: date, unit: str, sign: int) -> Period:
    """The unit just before or after a day; a week is the seven days there, a weekend the next that is apart."""
    if unit == "week":
        near, far = (anchor + timedelta(days=sign * days) for days in (1, 7))
        return Period(min(near, far), max(near, far), Granularity.WEEK)
    if unit == "weekend":
        saturday = periods.weekday(anchor, 5, sign).start
        apart = saturday + timedelta(days=1) != anchor
        return periods.weekend(saturday if apart else saturday + timedelta(weeks=sign))
    return periods.shifted(anchor, unit, sign)


def opened(side: Open) -> Apply:
    """Says that a time has no end on one side, unless it names both its ends."""

    def apply(_: re.Match[str], period: Period, __: Said) -> Period | None:
        single = period.end <= periods.containing(period.start, period.granularity).end
        return replace(period, open=side) if single and period.open is None else None

    return apply
