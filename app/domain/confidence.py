"""How likely it is that the evidence carries an answer: a logistic regression over a handful of signals.

What tells most is whose words they are: the best search result says next to nothing about a question that was put to
the wrong person. The weights are fitted on five conversations of LoCoMo: answerable questions against those put to
the wrong person and those about other conversations. `python -m tests.benchmarks.confidence` fits them again and
prints what they give on conversations that were left out (docs/reader.md has the figures).
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from app.domain.questions import Question
from app.domain.support import About, Supported

BEST = 3  # of a speaker's messages whose matches are averaged: one may meet the words by chance


@dataclass(frozen=True, slots=True)
class Heard:
    """Matches in [-1, 1] of all messages that were compared with the question: of the named speakers', of the others'.

    Empty where the model tells no words apart.
    """

    named: Sequence[float] = ()
    others: Sequence[float] = ()

    @property
    def margin(self) -> float:
        """By how much the named speakers' best messages are nearer to the question; 0 where one side is silent."""
        if not self.named or not self.others:
            return 0.0
        return _mean_of_best(self.named) - _mean_of_best(self.others)


def _mean_of_best(matches: Sequence[float]) -> float:
    best = sorted(matches, reverse=True)[:BEST]
    return sum(best) / len(best)


@dataclass(frozen=True, slots=True)
class Signals:
    """What speaks for an answer. The margins are positive where the person asked about said it.

    `support` of the best sentence, in 0–1. `words`, `match`, `heard`: the margins of the named speaker over others, by
    words and by vectors of sentences, and by vectors of all messages; each in [-1, 1], 0 where not exactly one speaker
    is named. `open`: 1 in that case, for nothing can be put to the wrong person then.
    """

    support: float
    words: float
    match: float
    heard: float
    open: float

    @property
    def attribution(self) -> float:
        """The margins together, weighed as in the regression: below 0 another person's words fit better."""
        return WITH_VECTORS.words * self.words + WITH_VECTORS.match * self.match + WITH_VECTORS.heard * self.heard


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic regression: log odds for each unit of a signal."""

    bias: float
    support: float
    words: float
    match: float
    heard: float
    open: float


WITH_VECTORS = Weights(bias=-2.5, support=5.7, words=1.3, match=2.8, heard=13.5, open=-0.4)
WITHOUT_VECTORS = Weights(bias=-1.3, support=4.0, words=5.2, match=0.0, heard=0.0, open=-0.7)


NAMES = tuple(field.name for field in fields(Signals))
"""The signals in order."""


def read_signals(question: Question, ranked: Sequence[Supported], speakers: Collection[str], heard: Heard) -> Signals:
    """The signals of a question with its sentences, best first, at least one."""
    one_named = len(question.names) == 1
    others = [s for s in ranked if s.about is About.OTHER and s.passage.message.who in speakers] if one_named else []
    proper = [s for s in ranked if s.about is not About.OTHER] if one_named else []
    return Signals(
        support=ranked[0].support,
        words=max((s.fit for s in proper), default=0.0) - max((s.fit for s in others), default=0.0),
        match=max((s.match for s in proper), default=0.0) - max((s.match for s in others), default=0.0),
        heard=heard.margin if one_named else 0.0,
        open=0.0 if one_named else 1.0,
    )


def confidence(signals: Signals, *, with_vectors: bool) -> float:
    """The probability, in 0–1, that the evidence carries an answer."""
    weights = WITH_VECTORS if with_vectors else WITHOUT_VECTORS
    odds = weights.bias + sum(getattr(weights, name) * getattr(signals, name) for name in NAMES)
    return 1.0 / (1.0 + math.exp(-odds))
