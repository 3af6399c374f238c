"""Answers to "when" and "how long ago": the date that a sentence names, told as people tell it.

A day is told with the weekday that was named, a "last week" by the day on which it was said: nobody means Monday to
Sunday by it. Years and months asked for are told as such.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from app.domain.dates import Granularity, When, resolve, spoken
from app.domain.periods import month, week
from app.domain.phrasing import Phrasing
from app.domain.questions import Question
from app.domain.support import Supported, names_time

AHEAD = re.compile(r"\b(?:will|going to|gonna|plan(?:s|ned|ning)?|upcoming|next|about to)\b|['’]ll\b", re.IGNORECASE)
UNREAL = re.compile(
    r"\b(?:would|could|should|might|(?-i:may)|if|want(?:s|ed)?|wish|hope|hoping|maybe|perhaps|thinking of)\b"
    r"|['’]d (?:love|like)\b|\?$",
    re.IGNORECASE,
)
AGO = re.compile(r"\bhow long ago\b|\bhow (?:many|much) .*\bago\b", re.IGNORECASE)
ASKED_UNIT = re.compile(r"\b(?:what|which) (?:\w+ )?(year|month)\b", re.IGNORECASE)
ROUGHLY = re.compile(r"\b(?:about|around|roughly|approximately)\s+$", re.IGNORECASE)
WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.IGNORECASE)
FIGURES = re.compile(r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COUNTED = ("", "", "two ", "three ", "four ", "five ", "six ")
YEAR, MONTH, WEEK = 365.25, 30.44, 7  # days
FEW = 2  # of a unit; fewer are told in a smaller one


def occasion(question: Question, sentence: Supported, phrasing: Phrasing) -> str | None:
    """The time that a sentence tells, as an answer to "when", or None."""
    found = _fitting(question, sentence)
    if found is None:
        return None
    return _told(question, sentence, found) if phrasing.language == "en" else phrasing.time(found)


def ago(question: Question, sentence: Supported, asked_at: date) -> str | None:
    """How long before `asked_at` the time lies that a sentence tells, or None: "10 years ago"."""
    found = _fitting(question, sentence)
    if not AGO.search(question.text) or found is None or found.end >= asked_at:
        return None
    days = (asked_at - found.start - (found.end - found.start) / 2).days
    for name, length in (("year", YEAR), ("month", MONTH), ("week", WEEK)):
        if days >= FEW * length or found.granularity == name:
            count = max(1, round(days / length))
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return f"{days} day{'s' if days > 1 else ''} ago"


def by(sentence: Supported, phrasing: Phrasing) -> str:
    """Of an event that a sentence states without a date: by the day on which it was told."""
    return phrasing.told_by.format(phrasing.day(sentence.passage.message.occurred_at.date()))


def _fitting(question: Question, sentence: Supported) -> When | None:
    """The first time in the sentence that is in the one asked about, and on the right side of the day it was said."""
    said, ahead = sentence.passage.message.occurred_at, bool(AHEAD.search(question.text))
    found = resolve(sentence.text, said)
    if question.dates:
        found = [when for when in found if _narrows(question.dates, when)]
    sided = [when for when in found if (when.end >= said.date() if ahead else when.start <= said.date())]
    return next(iter(sided or found), None)


def _narrows(asked: Sequence[When], when: When) -> bool:
    return any(names_time(each, when.start, when.end) for each in asked)


def _told(question: Question, sentence: Supported, when: When) -> str:
    unit = ASKED_UNIT.search(question.text)
    if unit and unit[1].lower() == "year" and when.start.year == when.end.year:
        return str(when.start.year)
    if unit and (when.start.year, when.start.month) == (when.end.year, when.end.month):
        return spoken(_month_of(when))
    lead = "around " if ROUGHLY.search(sentence.text[: when.span[0]]) else ""
    said = sentence.passage.message.occurred_at.date()
    return lead + (_beside(when, said) or _day(when) or spoken(when))


def _month_of(when: When) -> When:
    whole = month(when.start.year, when.start.month)
    return replace(when, start=whole.start, end=whole.end, granularity=whole.granularity)


def _day(when: When) -> str | None:
    """A single day with its weekday, where that was named."""
    if when.start != when.end or not WEEKDAY.search(when.phrase):
        return None
    return f"{DAYS[when.start.weekday()]}, {spoken(when)}"


def _beside(when: When, said: date) -> str | None:
    """A week or weekend told from the day on which it was said, where no date was: "the week before 9 June 2023"."""
    if when.granularity not in (Granularity.WEEK, Granularity.WEEKEND) or FIGURES.search(when.phrase):
        return None
    away = (week(when.start).start - week(said).start).days // WEEK
    if abs(away) >= len(COUNTED) or week(when.start) != week(when.end):
        return None
    name = when.granularity.value
    if away == 0:
        return f"the {name} of {_plain(said)}" if name == "week" else None
    number = COUNTED[abs(away)]
    side = "before" if away < 0 else "after"
    return f"{number or 'the '}{name}{'s' if number else ''} {side} {_plain(said)}"


def _plain(of: date) -> str:
    return spoken(When(of, of, Granularity.DAY, "", (0, 0)))
