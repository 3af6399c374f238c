"""Date words in a text, resolved against the day it was said.

The conventions, the same in every language:
- a week is Monday to Sunday; "last week" is the calendar week before the one of the text, "last month" and
  "last year" likewise; "two weeks ago" is the week that contains that day, "half a year ago" the month;
- "a few" are 2 to 5, "several" 3 to 9; "early", "mid" and "late" are thirds; the weeks of a month are counted in
  sevens from its first day; "the week before" a day are the seven days before it;
- "last Friday" is the last Friday before the text, "next Friday" the first after it, "this Friday" the first
  from its day on; in Chinese and Japanese a weekday belongs to the week that is named;
- "last May" and "last summer" are the last that were over, "next" the first to begin, "this" the current;
- a day or month without its year is the one nearest to the text, on the side that its sentence speaks of where
  that is plain ("I was there in June", "since June"); so is "the 5th" without its month;
- fiscal years are calendar years; seasons are those of the northern half of the Earth; for dates in figures see
  `date_numbers`; times of day are passed over; days are those of the time zone of `said_at`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice

from app.domain import date_idioms, date_names, date_numbers, date_words_cjk, date_words_european, period_parts
from app.domain.date_rules import FIGURE, Grammar, Said, words_in
from app.domain.date_words import ENGLISH
from app.domain.periods import Granularity, Open, Period
from app.domain.sentences import sentence_spans

__all__ = ["Granularity", "Open", "When", "resolve", "spoken", "written"]

NEIGHBOURHOOD = 48  # characters beside a time in which words that change it stand
LONGEST_LEAD = 16  # characters of the last word among them, with what divides it from the time
STRETCH = 400  # characters; more of them at a time, and fewer rules are spared
MOST_READINGS = 5000  # of rules in a text, several of one time: with more it is a table, and would take seconds
MOST_CHANGES = 4  # "since two weeks before the end of last May"

_VOCABULARIES = (ENGLISH, *date_words_european.VOCABULARIES)
_GRAMMARS = {"en": date_idioms.GRAMMAR, **date_words_european.GRAMMARS}
_FIGURES = {
    language: replace(grammar, rules=date_numbers.RULES)
    for language, grammar in {**_GRAMMARS, "zh": date_words_cjk.GRAMMAR}.items()
}
_FIGURE = re.compile(r"\d")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_APPOSED = re.compile(r"[\s,]+")
_LASTING = re.compile(r" now\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class When:
    """A time named in a text: from `start` to `end`, both included.

    `granularity` is the unit it is told in; the time is one such unit, a part of one (early May) or several (12 to
    15 June). `open` says that it goes on from there (since 2016) or up to there (until March). `phrase` is what
    names it, in `language` (ISO 639-1), `span` where that stands: text[span[0]:span[1]] == phrase. `yearless` says
    that the phrase tells all but the year.
    """

    start: date
    end: date
    granularity: Granularity
    phrase: str
    span: tuple[int, int]
    open: Open | None = None
    language: str = "en"
    yearless: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """A time, the part of the text that names it, and the grammar of that."""

    period: Period
    start: int
    end: int
    grammar: Grammar


def resolve(text: str, said_at: datetime) -> list[When]:
    """The times that `text` names, in its order, without overlaps; never raises; linear in the text's length.

    Of a text that is full of them only the first are read. Words that name no certain time ("in my twenties", "soon")
    and times beyond the calendar give nothing.
    """
    grammars = _grammars(text)
    said = Said(said_at.date(), grammars[0].language)
    found = _apart(_first_matches(text, grammars, said))
    changed = _apart(_changed(text, each, said) for each in found)
    return [_when(text, each) for each in _joined(text, changed)]


def spoken(when: When) -> str:
    """The time in plain English: "7 May 2023", "the week of 1 May 2023", "early May 2023", "12–15 June 2023"."""
    return date_names.in_english(_period(when))


def written(when: When) -> str:
    """What to put beside the phrase, which says it again in no part: beside "16 March" the year only.

    In English as `spoken`, beside another language in figures (ISO 8601).
    """
    if when.yearless:
        first, last = (f"{day.year:04}" for day in (when.start, when.end))
        return first if first == last else f"{first}–{last}"
    if when.language != "en":
        return date_names.in_figures(_period(when))
    return f"since {spoken(when)}" if _LASTING.search(when.phrase) else spoken(when)


def _period(when: When) -> Period:
    return Period(when.start, when.end, when.granularity)


def _grammars(text: str) -> list[Grammar]:
    """The grammars that may find something in the text, that of its language first."""
    words = frozenset(words_in(text))
    language = max(_VOCABULARIES, key=lambda vocabulary: len(words & vocabulary.words))  # the first of equals
    cjk = _CJK.search(text) is not None
    of_figures = "zh" if cjk and words.isdisjoint(language.words) else language.language
    of_words = [_GRAMMARS[name] for name in dict.fromkeys((language.language, "en"))]
    return [of_words[0], _FIGURES[of_figures], *of_words[1:], *([date_words_cjk.GRAMMAR] if cjk else [])]


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Whole sentences, cut so that a rule is spared most of a long text: all but those that hold its cues."""
    if len(text) <= STRETCH:
        yield 0, len(text)
        return
    start = 0
    for _, end in sentence_spans(text):
        if end - start >= STRETCH or end == len(text):
            yield start, end
            start = end


def _first_matches(text: str, grammars: Sequence[Grammar], said: Said) -> list[_Found]:
    found: list[_Found] = []
    for start, end in _stretches(text):
        found.extend(_matches(text, start, end, grammars, said))
        if len(found) > MOST_READINGS:
            break
    return found


def _matches(text: str, start: int, end: int, grammars: Sequence[Grammar], said: Said) -> Iterator[_Found]:
    words = frozenset(words_in(text[start:end]))
    if _FIGURE.search(text, start, end):
        words |= {FIGURE}
    for grammar in grammars:
        for rule in grammar.rules:
            if rule.cues and rule.cues.isdisjoint(words):
                continue
            for match in islice(rule.pattern.finditer(text, start, end), MOST_READINGS):
                period = _valid(rule.read, match, said)
                if period is not None:
                    yield _Found(period, *match.span(rule.phrase), grammar)


def _valid(read: Callable[..., Period | None], *given: object) -> Period | None:
    try:
        return read(*given)
    except (ValueError, OverflowError, KeyError):  # 31 June, the year 10000, a look-alike (`date_rules.looked_up`)
        return None


def _apart(found: Iterable[_Found]) -> list[_Found]:
    """In the order of the text, without overlaps; the first to begin stays, the longest of those."""
    chosen: list[_Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if not chosen or each.start >= chosen[-1].end:
            chosen.append(each)
    return chosen


def _changed(text: str, found: _Found, said: Said) -> _Found:
    """The time together with the words beside it that make another of it."""
    for _ in range(MOST_CHANGES):
        after = _change_once(text, found, said)
        if after is None:
            break
        found = after
    return found


def _change_once(text: str, found: _Found, said: Said) -> _Found | None:
    first, last = max(0, found.start - NEIGHBOURHOOD), found.end + NEIGHBOURHOOD
    if _may_change(text[first : found.start], found.grammar):
        for modifier in found.grammar.before:
            match = modifier.pattern.search(text, first, found.start)
            if match and (period := _valid(modifier.apply, match, found.period, said)):
                return replace(found, period=period, start=match.start() if modifier.joins else found.start)
    for modifier in found.grammar.after:
        match = modifier.pattern.match(text, found.end, last)
        if match and (period := _valid(modifier.apply, match, found.period, said)):
            return replace(found, period=period, end=match.end() if modifier.joins else found.end)
    return None


def _may_change(before: str, grammar: Grammar) -> bool:
    """Whether the last word before a time can make another of it."""
    return not grammar.leading or not grammar.leading.isdisjoint(words_in(before[-LONGEST_LEAD:])[-1:])


def _joined(text: str, found: Sequence[_Found]) -> list[_Found]:
    """Two times that are the ends of one ("from 3 May to 5 June"), or name one twice ("Sunday, 7 May"), made one."""
    joined: list[_Found] = []
    for each in found:
        span = (_same_day(text, joined[-1], each) or _span(text, joined[-1], each)) if joined else None
        if span:
            joined[-1] = span
        else:
            joined.append(each)
    return joined


def _same_day(text: str, first: _Found, last: _Found) -> _Found | None:
    """A day with its weekday before it."""
    if {first.period.granularity, last.period.granularity} != {Granularity.DAY}:
        return None
    if first.period.start.weekday() != last.period.start.weekday() or _FIGURE.search(text, first.start, first.end):
        return None
    return replace(last, start=first.start) if _APPOSED.fullmatch(text, first.end, last.start) else None


def _span(text: str, first: _Found, last: _Found) -> _Found | None:
    grammar, gap = first.grammar, (first.end, last.start)
    if first.period.granularity is not last.period.granularity or gap[1] - gap[0] > NEIGHBOURHOOD:
        return None
    if not grammar.to.fullmatch(text, *gap):
        lead = grammar.between.search(text, max(0, first.start - NEIGHBOURHOOD), first.start)
        if not lead or not grammar.and_.fullmatch(text, *gap):
            return None
    period = _valid(period_parts.spanning, first.period, last.period)
    return None if period is None else _Found(period, first.start, last.end, grammar)


def _when(text: str, found: _Found) -> When:
    period, phrase = found.period, text[found.start : found.end]
    return When(
        period.start,
        period.end,
        period.granularity,
        phrase,
        (found.start, found.end),
        period.open,
        found.grammar.language,
        period.yearless,
    )
