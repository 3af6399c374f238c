"""Spans for what- and which-questions: a name, a thing of the asked-for kind, what a verb is done to, how something is.

Each rule reads one sentence and takes a phrase of it that says more than the question; the first that finds one wins.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from app.domain.dates import resolve
from app.domain.phrases import Phrase, Sort, Word, after, around, capitals, is_verb, stems, with_stem, words
from app.domain.questions import Question, named
from app.domain.text import content_words
from app.domain.wanted import Wanted, want
from app.domain.whereabouts import CALENDAR

NAMING = re.compile(r"\b(?:names?(?:\s+(?:is|was|are|were)|['’]s)?|named|called|calls?|it['’]s)\s+", re.IGNORECASE)
EXAMPLES = re.compile(r"\s*,?\s*(?:like|such as|including|for example|e\.g\.)[\s,:]+", re.IGNORECASE)
_BEING = """
    am is are was were be been i'm it's that's he's she's they're we're feel felt feels feeling seem seems seemed look
    looks looked sound sounds sounded
"""
BEING = frozenset(_BEING.split())
SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # it counts where dates stand, not which they are


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is wanted, and a sentence with its words."""

    wanted: Wanted
    sentence: str
    found: Sequence[Word]
    speakers: Sequence[str]

    def is_new(self, phrase: Phrase | None) -> bool:
        """Whether a phrase says something that the question does not."""
        return phrase is not None and bool(stems(self.found, phrase) - self.wanted.known)

    def names(self) -> list[Phrase]:
        """Names and titles that are no date, no speaker and nothing from the question."""
        return [phrase for phrase in capitals(self.found) if self.is_new(phrase) and self._is_name(phrase)]

    def _is_name(self, phrase: Phrase) -> bool:
        text = phrase.text(self.sentence, self.found)
        speaker = bool(named(text, self.speakers)) or any(name.startswith(text) for name in self.speakers)
        return bool(content_words(text)) and not speaker and not CALENDAR.match(text)


def find(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    """The phrase of the sentence that the question wants, by the first rule that has one, or None."""
    seen = _Seen(want(question), sentence, undated(sentence), speakers)
    for rule in _RULES:
        phrase = rule(seen)
        span = phrase.text(sentence, seen.found) if phrase is not None and seen.is_new(phrase) else ""
        if span and span not in speakers:
            return span
    return None


def undated(sentence: str) -> list[Word]:
    """The words, those of a date as marks: no phrase goes over them."""
    dated = [when.span for when in resolve(sentence, SOME_DAY)]
    return [
        replace(word, sort=Sort.MARK) if any(start <= word.start < end for start, end in dated) else word
        for word in words(sentence)
    ]


def _name(seen: _Seen) -> Phrase | None:
    """Of "what is her name": what follows "named", else the first name."""
    if not seen.wanted.name:
        return None
    lead, names = NAMING.search(seen.sentence), seen.names()
    told = [name for name in names if lead and seen.found[name.first].start >= lead.end()]
    return next(iter(told or names), None)


def _examples(seen: _Seen) -> Phrase | None:
    """Of "which composers": what stands after "composers like"."""
    for at in with_stem(seen.found, seen.wanted.thing):
        lead = EXAMPLES.match(seen.sentence, seen.found[at].end)
        if lead:
            start = next((place for place, word in enumerate(seen.found) if word.start >= lead.end()), len(seen.found))
            return after(seen.found, start)
    return None


def _kind(seen: _Seen) -> Phrase | None:
    """Of "which book": a title in quotes, else the noun with its modifiers."""
    if not seen.wanted.thing:
        return None
    quoted = (name for name in seen.names() if seen.found[name.first].is_quoted)
    nouns = (at for at in with_stem(seen.found, seen.wanted.thing) if seen.found[at].sort is Sort.CONTENT)
    phrases = (around(seen.found, at) for at in nouns)
    return next(quoted, None) or next(filter(seen.is_new, phrases), None)


def _done(seen: _Seen) -> Phrase | None:
    """What the question's verb is done to."""
    if seen.wanted.any_deed or seen.wanted.how:
        return None
    verbs = (at for deed in seen.wanted.deeds for at in with_stem(seen.found, deed) if is_verb(seen.found, at))
    return next(filter(seen.is_new, (after(seen.found, at + 1) for at in verbs)), None)


def _state(seen: _Seen) -> Phrase | None:
    """One side of "A is B" where the other is said in the question's words, with half of them."""
    wanted = seen.wanted
    asked = frozenset().union(wanted.thing, *wanted.deeds)
    if not (wanted.how or wanted.being) or not asked:
        return None
    for at, word in enumerate(seen.found):
        if word.text.lower().replace("’", "'") not in BEING:
            continue
        before, behind = sides(seen.found, at)
        right, left = after(seen.found, at + 1), after(seen.found, before.first, at)
        if right is not None and _half(stems(seen.found, before), asked):
            return right
        if left is not None and not wanted.how and _half(stems(seen.found, behind), asked):
            return left
    return None


def sides(found: Sequence[Word], at: int) -> tuple[Phrase, Phrase]:
    """All that stands before and behind a verb in its clause; a side may be empty."""
    first, last = at, at
    while first > 0 and found[first - 1].sort is not Sort.MARK:
        first -= 1
    while last + 1 < len(found) and found[last + 1].sort not in (Sort.MARK, Sort.COMMA):
        last += 1
    return Phrase(first, at - 1), Phrase(at + 1, last)


def _half(said: frozenset[str], asked: frozenset[str]) -> bool:
    return bool(said & asked) and 2 * len(said & asked) >= len(asked)


def _any_name(seen: _Seen) -> Phrase | None:
    """Of "which book": any name."""
    return next(iter(seen.names()), None) if seen.wanted.thing else None


_Rule: TypeAlias = Callable[[_Seen], Phrase | None]
_RULES: tuple[_Rule, ...] = (_name, _examples, _done, _kind, _state, _any_name)
