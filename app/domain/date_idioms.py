"""English ways to name a time that the common rules do not cover, and English as a whole."""

import re
from dataclasses import replace
from datetime import date

from app.domain import period_parts, periods
from app.domain.date_grammar import grammar
from app.domain.date_readers import Reader, full_year, yearless
from app.domain.date_rules import FIGURE, Modifier, Rule, Said, any_of, looked_up
from app.domain.date_tense import is_at
from app.domain.date_vocabulary import YEAR
from app.domain.date_words import ENGLISH, NAMED_DECADES
from app.domain.periods import Granularity, Open, Period

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_ORDINALS |= {"last": -1}
_NTH = rf"(?P<nth>{any_of(_ORDINALS)})"
_QUARTER = r"(?-i:Q)(?P<quarter>[1-4])"

# What may follow "on the 5th" when that is a day: not a noun ("on the 5th floor").
_NO_NOUN = (
    r"(?=\s{0,3}(?:$|[^\w\s])|\s{1,3}(?:and|at|after|before|but|by|for|from|in|I|it|or|so|that|this|to|we|when"
    r"|with|he|she|they|you)\b)"
)

_read = Reader(ENGLISH)


def _weekday(match: re.Match[str], said: Said) -> Period | None:
    """On Friday; None where past and future look alike. What is on Friday is to come."""
    lead = match["lead"].casefold()
    side = -1 if lead == "since" else 1 if lead.endswith("from") else ENGLISH.lean(match) or is_at(match)
    return periods.weekday(said.today, _read.weekday_number(match), side) if side else None


def _the_weekend(match: re.Match[str], said: Said) -> Period | None:
    """Over the weekend; None where past and future look alike."""
    side, today = ENGLISH.lean(match), said.today
    if not side:
        return None
    over = side < 0 and today.weekday() < period_parts.SATURDAY
    return periods.shifted(today, "weekend", -1 if over else 0)


def _day_of_month(match: re.Match[str], said: Said) -> Period:
    """On the 5th: of this month, or of one beside it."""
    number, today = int(match["day"]), said.today
    return periods.day(periods.nearest_day(today, number, ENGLISH.lean(match)))


def _day_of_that_month(match: re.Match[str], said: Said) -> Period:
    """The 15th of last month."""
    month = periods.shifted(said.today, "month", looked_up(ENGLISH.which, match["which"]))
    return periods.day(month.start.replace(day=int(match["day"])))


def _before_last(match: re.Match[str], said: Said) -> Period:
    """The week before last, the Friday after next."""
    sign = -1 if match["side"].casefold().endswith("last") else 1
    return _steps(match, said.today, 2 * sign)


def _several_ago(match: re.Match[str], said: Said) -> Period:
    """Two Fridays ago, two summers ago."""
    low, high = _read.count(match)
    if low != high:
        raise ValueError("no certain one")
    return _steps(match, said.today, -int(low))


def _and_a_half_ago(match: re.Match[str], said: Said) -> Period:
    """A year and a half ago."""
    low, _ = _read.count(match)
    return periods.shifted(said.today, looked_up(ENGLISH.units, match["unit"]), -low - 0.5)


def _steps(match: re.Match[str], today: date, steps: int) -> Period:
    """The unit, weekday or season so many before or after the present one."""
    if match["unit"]:
        return periods.shifted(today, looked_up(ENGLISH.units, match["unit"]), steps)
    if match["weekday"]:
        sign = -1 if steps < 0 else 1
        near = periods.weekday(today, _read.weekday_number(match), sign)
        return periods.shifted(near.start, "day", 7 * (steps - sign))
    first = looked_up(ENGLISH.seasons, match["season"])
    return periods.recurring(today, lambda year: periods.season(year, first), steps)


def _present(match: re.Match[str], said: Said) -> Period:
    """The end of the month: the present one."""
    return periods.shifted(said.today, match["unit"].casefold(), 0)


def _quarter(match: re.Match[str], said: Said) -> Period:
    """Q3 2022, Q3; fiscal years are taken to be calendar years."""
    number = int(match["quarter"])
    if "year" in match.re.groupindex and match["year"]:
        return periods.quarter(full_year(match["year"], said.today), number)
    return yearless(periods.nearest(said.today, lambda year: periods.quarter(year, number), ENGLISH.lean(match)))


def _fiscal_year(match: re.Match[str], said: Said) -> Period | None:
    """FY2022, FY22, and H1 2022, which is half of it."""
    whole = periods.year(full_year(match["year"], said.today))
    return _half(whole, int(match["half"])) if "half" in match.re.groupindex else whole


def _named_decade(match: re.Match[str], _: Said) -> Period:
    """The nineties."""
    return periods.decade(1930 + 10 * NAMED_DECADES.index(match["decade"].casefold()))


def _century(match: re.Match[str], _: Said) -> Period:
    """The 19th century."""
    return periods.century(int(match["century"]))


def _from(match: re.Match[str], said: Said) -> Period:
    """From June on, from 2016 onwards."""
    if match["month"] is None:
        return replace(_read.year(match, said), open=Open.SINCE)
    number = looked_up(ENGLISH.all_months, match["month"])
    near = periods.nearest(said.today, lambda year: periods.month(year, number), ENGLISH.lean(match))
    return replace(near, open=Open.SINCE, yearless=True)


_THING = r"(?:<UNIT>|<WEEKDAY>|<SEASON>)"
_LEAD = r"\b(?:in|for|during|since|until|till|by|of|before|after|this|last|next|our|fiscal) "
_WEEKDAYS, _SEASONS = rf"(?P<weekday>{any_of(ENGLISH.weekdays)})", rf"(?P<season>{any_of(ENGLISH.seasons)})"
_FIGURES = frozenset((FIGURE,))
_UNIT = ENGLISH.cues(ENGLISH.units)

_RULES = tuple(
    Rule(ENGLISH.pattern(template), read, cues)
    for template, read, cues in (
        (
            r"\b(?P<lead>on|since|until|till|by|before|after|(?:day|week)s? from) (?P<phrase><WEEKDAY>)",
            _weekday,
            ENGLISH.cues(ENGLISH.weekdays),
        ),
        (
            r"\b(?:over|at|on|during|for) (?P<phrase>the weekend)\b(?! (?:of|before|after)\b)",
            _the_weekend,
            frozenset(("weekend",)),
        ),
        (rf"\bon (?P<phrase>the (?P<day>\d{{1,2}})(?:st|nd|rd|th))\b{_NO_NOUN}", _day_of_month, _FIGURES),
        (
            rf"\bthe (?P<day>\d{{1,2}})(?:st|nd|rd|th) (?:of )?(?P<which>{any_of(ENGLISH.which)}) month\b",
            _day_of_that_month,
            _FIGURES,
        ),
        (rf"\bthe {_THING} (?P<side>before last|after next)\b", _before_last, frozenset(("last", "next"))),
        (rf"<COUNT> (?P<unit>)(?:{_WEEKDAYS}|{_SEASONS})s? ago\b", _several_ago, frozenset(("ago",))),
        (r"<COUNT> <UNIT> and a half ago\b", _and_a_half_ago, frozenset(("ago",))),
        (
            r"\b(?:end|start|beginning|middle|half|rest) of "
            r"(?P<phrase>(?:the )?(?P<unit>month|quarter|year|week|decade))\b(?! of\b)",
            _present,
            _UNIT,
        ),
        (rf"\b(?P<phrase>(?:fiscal )?{_QUARTER}(?: of|,)? ?(?:FY ?)?<YEAR>)", _quarter, _FIGURES),
        (rf"\b(?P<year>{YEAR})[ \-]?{_QUARTER}\b", _quarter, _FIGURES),
        (r"\byear (?P<phrase><YEAR>)", _read.year, _FIGURES),
        (rf"{_LEAD}(?P<phrase>{_QUARTER})\b(?! ?\d)", _quarter, _FIGURES),
        (rf"\b(?-i:FY) ?(?P<year>{YEAR}|\d\d)\b", _fiscal_year, _FIGURES),
        (rf"\b(?-i:H)(?P<half>[12]) (?P<year>{YEAR})\b", _fiscal_year, _FIGURES),
        (
            rf"\b(?:the |(?<=early\x20)|(?<=late\x20)|(?<=mid.))(?P<decade>{any_of(NAMED_DECADES)})\b",
            _named_decade,
            frozenset(NAMED_DECADES),
        ),
        (r"\b(?:the )?(?P<century>\d{1,2})(?:st|nd|rd|th) century\b", _century, frozenset(("century",))),
        (
            rf"\bfrom (?P<phrase>(?P<month>{any_of(ENGLISH.months)})|<YEAR>) on(?:wards?)?\b",
            _from,
            frozenset(("from",)),
        ),
    )
)


# Words before a time that change it --------------------------------------------------------------------


def _nth(match: re.Match[str], period: Period, _: Said) -> Period | None:
    """The first Monday of June, the last weekend of May, the second half of 2022, the second week of a month."""
    nth = _ORDINALS[match["nth"].casefold()]
    if match["half"]:
        found = _half(period, nth)
    elif match["weekday"]:
        found = period_parts.nth_weekday(period, _read.weekday_number(match), nth)
    else:
        found = period_parts.nth(period, looked_up(ENGLISH.units, match["unit"]), nth)
    return None if found is None else replace(found, yearless=period.yearless)


def _half(period: Period, nth: int) -> Period | None:
    return period_parts.half(period, second=nth in (2, -1)) if nth in (1, 2, -1) else None


def _weekday_of(match: re.Match[str], period: Period, _: Said) -> Period | None:
    """Tuesday last week, Tuesday of next week; last week on Tuesday."""
    if period.granularity is not Granularity.WEEK:
        return None
    return period_parts.nth_weekday(period, _read.weekday_number(match), 1)


def _of_that_year(match: re.Match[str], period: Period, _: Said) -> Period | None:
    """June last year, 5 June of next year, spring last year, Christmas last year."""
    if period.granularity is not Granularity.YEAR or period.start.year != period.end.year:
        return None
    year = period.start.year
    if match["season"]:
        return periods.season(year, looked_up(ENGLISH.seasons, match["season"]))
    if match["feast"]:
        return periods.day(looked_up(ENGLISH.feasts, match["feast"])(year))
    number = _read.month_number(match)
    return periods.day(date(year, number, int(match["day"]))) if match["day"] else periods.month(year, number)


def _counted_from(match: re.Match[str], period: Period, _: Said) -> Period | None:
    """A week from next Friday."""
    return _read.counted(match, period.end, 1)


def _that_contains(match: re.Match[str], period: Period, _: Said) -> Period | None:
    """The week of 15 May, the weekend of 3 June."""
    if period.granularity is not Granularity.DAY or period.start != period.end:
        return None
    return periods.week(period.start) if match["unit"].casefold() == "week" else periods.weekend(period.start)


_BEFORE = tuple(
    Modifier(ENGLISH.pattern(template), apply)
    for template, apply in (
        (rf"\b(?:the )?{_NTH} (?:(?P<half>half)|<WEEKDAY>|<UNIT>) (?:of|in) (?:the )?\Z", _nth),
        (r"\b<WEEKDAY>(?:,| of)? \Z", _weekday_of),
        (r"\b(?:(?:<DAY>(?: of)? )?<MONTH>|<SEASON>|<FEAST>)(?: of)? \Z", _of_that_year),
        (r"\b<COUNT> <UNIT> from (?:the )?\Z", _counted_from),
        (r"\bthe (?P<unit>week|weekend) of (?:the )?\Z", _that_contains),
    )
)
_AFTER = (Modifier(ENGLISH.pattern(r",? (?:on )?<WEEKDAY>"), _weekday_of),)

_LEADING = ENGLISH.cues(ENGLISH.weekdays, ENGLISH.all_months, ENGLISH.seasons, ENGLISH.feasts, ("of", "in", "from"))

GRAMMAR = grammar(ENGLISH, _RULES, _BEFORE, _AFTER, _LEADING)
