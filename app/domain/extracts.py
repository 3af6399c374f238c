"""Composing an answer out of sentences: spans, dates, lists, Yes or No; each piece with the sentence it rests on."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from app.domain import listing, occasions, spans
from app.domain.occasions import AHEAD, UNREAL
from app.domain.phrasing import Phrasing
from app.domain.questions import Asks, Question
from app.domain.support import FIRST_PERSON, Supported

LOOKED_AT = 10  # sentences that are searched for a span; with 5 word F1 is .002 lower
NEAR = 0.6  # as a share of the best one's support; the first of them with a span answers; at 0.7 F1 is .005 lower
STATED = 0.4  # of the question's words in a sentence that states, undated, the event asked about

WHO_IS = re.compile(r"\bwho(?: is| are| was| were|['’]s)\b", re.IGNORECASE)
WHO_IS_NAME = re.compile(r"\b[Ww]ho(?: is| are| was| were|['’]s) [A-Z][\w-]*\W*$")
NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|without|nicht|kein\w*|nie)\b|n['’]t\b|[不没]|ない|ません", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Pick:
    """A piece of the answer and the sentence it rests on."""

    text: str
    source: Supported


@dataclass(frozen=True, slots=True)
class Asked:
    """What every composer works from, beside the sentences. `on` is the day on which it is asked."""

    question: Question
    speakers: Sequence[str]
    on: date
    phrasing: Phrasing

    def span(self, sentence: Supported) -> str | None:
        """The part of the sentence that answers, or None; the patterns are English."""
        if self.phrasing.language != "en":
            return None
        return spans.find(self.question, sentence.text, self.speakers)


def compose(asked: Asked, ranked: Sequence[Supported]) -> list[Pick]:
    """The pieces of the answer, at least one. `ranked`: at least one sentence, best first."""
    if asked.question.asks is Asks.LIST:
        return _list(asked, ranked)  # which looks further
    near = [sentence for sentence in ranked[:LOOKED_AT] if sentence.support >= NEAR * ranked[0].support]
    return _COMPOSERS.get(asked.question.asks, _spanned)(asked, near)


def _spanned(asked: Asked, near: Sequence[Supported]) -> list[Pick]:
    """The first span of the asked-for kind, else the best sentence."""
    found = ((asked.span(sentence), sentence) for sentence in near)
    return next(([Pick(span, sentence)] for span, sentence in found if span), _whole(near))


def _whole(near: Sequence[Supported]) -> list[Pick]:
    return [Pick(near[0].text, near[0])]


def _who(asked: Asked, near: Sequence[Supported]) -> list[Pick]:
    """Somebody mentioned; where the question says what was done, and by nobody named, "I" is the speaker."""
    best, question = near[0], asked.question
    if WHO_IS_NAME.search(question.text):
        return _whole(near)
    if not question.names and FIRST_PERSON.search(best.text) and not WHO_IS.search(question.text):
        return [Pick(best.passage.message.who, best)]
    return _spanned(asked, near)


def _yes_no(asked: Asked, near: Sequence[Supported]) -> list[Pick]:
    """The sentence, after Yes or No where it states (not: wishes, doubts) all that the question asks."""
    best, question = near[0], asked.question.text
    if best.words < 1.0 or UNREAL.search(best.text) or UNREAL.search(question.rstrip("?")):
        return _whole(near)
    agrees = bool(NEGATION.search(best.text)) == bool(NEGATION.search(question))
    return [Pick(asked.phrasing.affirmed(best.text) if agrees else asked.phrasing.denied(best.text), best)]


def _list(asked: Asked, ranked: Sequence[Supported]) -> list[Pick]:
    """One entry a message; only in English."""
    if asked.phrasing.language != "en":
        return _whole(ranked)
    entries = listing.entries(asked.question, asked.speakers, ranked)
    return [Pick(entry, sentence) for entry, sentence in entries] or _whole(ranked)


def _when(asked: Asked, near: Sequence[Supported]) -> list[Pick]:
    """The time that a sentence tells; else, of an event that it states, the day on which it was told."""
    found = ((occasions.occasion(asked.question, sentence, asked.phrasing), sentence) for sentence in near)
    pick = next((Pick(time, sentence) for time, sentence in found if time), None)
    if pick is not None:
        return [pick]
    best = near[0]
    if AHEAD.search(asked.question.text) or best.words < STATED or UNREAL.search(best.text) or AHEAD.search(best.text):
        return _whole(near)
    return [Pick(occasions.by(best, asked.phrasing), best)]


def _how_long(asked: Asked, near: Sequence[Supported]) -> list[Pick]:
    """How long ago counts from the day on which it is asked; all else is a span."""
    if asked.phrasing.language != "en":
        return _whole(near)
    found = ((occasions.ago(asked.question, sentence, asked.on), sentence) for sentence in near)
    pick = next((Pick(time, sentence) for time, sentence in found if time), None)
    return [pick] if pick is not None else _spanned(asked, near)


_COMPOSERS: Mapping[Asks, Callable[[Asked, Sequence[Supported]], list[Pick]]] = {
    Asks.WHEN: _when,
    Asks.WHO: _who,
    Asks.YES_NO: _yes_no,
    Asks.HOW_LONG: _how_long,
}
