"""How unsure a reader is who has a part of the evidence, where no language model can be asked.

The uncertainty is an estimate of the share of the evidence that is still missing, in 0–1, from three things: how
near the best item that is left out comes to the best of all (a question that one item answers has a steep slope, one
that many items touch has a flat one), how much of what the question says is said by no item that is in, and whether
it asks for one thing or for several.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.packing import Item
from app.domain.questions import Asks, Question
from app.domain.text import terms

ONE_THING = frozenset({Asks.WHEN, Asks.WHERE, Asks.WHO, Asks.WHY, Asks.HOW_LONG})
SEVERAL = frozenset({Asks.LIST, Asks.HOW_MANY})  # what is counted is told in several places
LEAST = 1e-4  # a score below says no more than one at it


@dataclass(frozen=True, slots=True)
class UncertaintyPolicy:
    """A logistic regression of "share of the evidence that is missing", on conversations 1–5 of LoCoMo (MiniLM).

    Fitted to four of them it tells, on the fifth, contexts that lack evidence from those that do not with an AUROC of
    0.81. See docs/decisions/0018.
    """

    base: float = 0.4
    near: float = 0.64  # of the distance of the best item left out to the best of all, in log-odds of their scores
    unsaid: float = 1.59  # of the weight of the question's words that nothing says
    one_thing: float = -0.16
    several: float = 0.66


DEFAULT = UncertaintyPolicy()


class Reader:
    """What one reader has of the evidence for a question, item by item."""

    def __init__(self, question: Question, offered: Sequence[Item], policy: UncertaintyPolicy = DEFAULT) -> None:
        """`offered` are all items that may come in; their scores are calibrated, in 0–1."""
        self._policy = policy
        self._said = {(item.level, item.id): frozenset(question.words) & set(terms(item.text)) for item in offered}
        self._weights = _rarity(question.words, list(self._said.values()))
        self._heard: set[str] = set()
        self._best = max((_log_odds(item.score) for item in offered), default=0.0)
        self._kind = _kind(question.asks, policy)

    def uncertainty(self, left_out: Item | None, with_also: Item | None = None) -> float:
        """In 0–1, where `left_out` is the best item that stays outside; None: nothing does.

        `with_also` counts as if it were in.
        """
        heard = self._heard | (self._said_by(with_also) if with_also else frozenset())
        unsaid = sum(weight for word, weight in self._weights.items() if word not in heard)
        distance = (_log_odds(left_out.score) if left_out else _log_odds(0.0)) - self._best
        logit = self._policy.base + self._kind + self._policy.near * distance + self._policy.unsaid * unsaid
        return 1.0 / (1.0 + math.exp(-logit))

    def take(self, item: Item) -> None:
        """The item is in from now on."""
        self._heard |= self._said_by(item)

    def _said_by(self, item: Item) -> frozenset[str]:
        return self._said.get((item.level, item.id), frozenset())


def _rarity(words: Sequence[str], said: Sequence[frozenset[str]]) -> dict[str, float]:
    """The share of each word in what the question says: more for one that few items have. They add up to 1."""
    weights = {word: math.log(1.0 + (len(said) + 1) / (0.5 + sum(word in one for one in said))) for word in words}
    total = sum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _kind(asks: Asks, policy: UncertaintyPolicy) -> float:
    if asks in SEVERAL:
        return policy.several
    return policy.one_thing if asks in ONE_THING else 0.0


def _log_odds(score: float) -> float:
    kept = min(max(score, LEAST), 1.0 - LEAST)
    return math.log(kept / (1.0 - kept))
