"""Date words in a text, resolved against the day it was said.

The conventions, the same in every language:
- a week is Monday to Sunday; "last week" is the calendar week before the one of the text, "last month" and
  "last year" likewise; "two weeks ago" is the week that contains that day;
- "last Friday" is the last Friday before the text, "next Friday" the first after it, "this Friday" the first
  from its day on; in Chinese and Japanese a weekday belongs to the week that is named;
- "last May" and "last summer" are the last that were over, "next" the first to begin, "this" the current;
- a day or month without its year is the one nearest to the text;
- seasons are those of the northern half of the Earth; days are those of the time zone of `said_at`.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime

from app.domain import date_words, date_words_cjk
from app.domain.date_words import MONTHS, Rule
from app.domain.periods import SEASONS, Granularity, Period

__all__ = ["Granularity", "When", "resolve", "spoken", "written"]


@dataclass(frozen=True, slots=True)
class When:
    """A time named in a text: from `start` to `end`, both included.

    `phrase` is what names it, `span` where that stands: text[span[0]:span[1]] == phrase.
    """

    start: date
    end: date
    granularity: Granularity
    phrase: str
    span: tuple[int, int]


def resolve(text: str, said_at: datetime) -> list[When]:
    """The times that `text` names, in its order, without overlaps; never raises.

    Words that name no certain time ("a few days ago", "soon") and times beyond the calendar give nothing.
    """
    rules = date_words.RULES if text.isascii() else date_words.RULES + date_words_cjk.RULES
    found = [when for rule in rules for when in _apply(rule, text, said_at.date())]
    chosen: list[When] = []
    for when in sorted(found, key=lambda when: (when.span[0], -when.span[1])):
        if not chosen or when.span[0] >= chosen[-1].span[1]:
            chosen.append(when)
    return chosen


def spoken(when: When) -> str:
    """The time in plain English: "7 May 2023", "the week of 1 May 2023", "May 2023", "summer 2022"."""
    start = when.start
    written_day = f"{start.day} {MONTHS[start.month - 1]} {start.year}"
    match when.granularity:
        case Granularity.DAY:
            return written_day
        case Granularity.WEEK | Granularity.WEEKEND:
            return f"the {when.granularity} of {written_day}"
        case Granularity.MONTH:
            return f"{MONTHS[start.month - 1]} {start.year}"
        case Granularity.SEASON:
            name = next(name for name, month in SEASONS.items() if month == start.month)
            return f"{name} {start.year}"
        case Granularity.YEAR:
            return str(start.year)


def written(when: When) -> str:
    """The time to stand beside its phrase: in English as `spoken`, beside another script in figures (ISO 8601)."""
    if when.phrase.isascii():
        return spoken(when)
    match when.granularity:
        case Granularity.YEAR:
            return f"{when.start.year:04}"
        case Granularity.MONTH:
            return when.start.isoformat()[:7]
        case Granularity.DAY:
            return when.start.isoformat()
        case _:
            return f"{when.start.isoformat()}/{when.end.isoformat()}"


def _apply(rule: Rule, text: str, today: date) -> list[When]:
    found = []
    for match in rule.pattern.finditer(text):
        period = _read(rule, match, today)
        if period is not None:
            group = "phrase" if "phrase" in rule.pattern.groupindex else 0
            found.append(When(period.start, period.end, period.granularity, match[group], match.span(group)))
    return found


def _read(rule: Rule, match: re.Match[str], today: date) -> Period | None:
    try:
        return rule.read(match, today)
    except (ValueError, OverflowError):  # 31 June, or beyond the years 1 to 9999
        return None
