"""BM25 of one question: how much of what is asked for an item says.

The form is Lucene's (an inverse document frequency that is never negative), divided by the weight of the
question itself, so that scores of different questions and levels compare: an item of average length that
says every word of the question once scores 1. Items without any of the words score 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p


@dataclass(frozen=True, slots=True)
class Bm25Policy:
    """The two usual constants of BM25, at their usual values: others moved recall by less than 0.01."""

    k1: float = 1.2  # how soon repeating a word stops to count; 0 counts each word once
    b: float = 0.75  # 0 ignores length, 1 divides by it in full


DEFAULT = Bm25Policy()


@dataclass(frozen=True, slots=True)
class Formula:
    """The BM25 of a question in one level of one namespace, with all that does not depend on the item worked out.

    An item of `length` terms that has a term `frequency` times, at least once, gains for it
    `weights[term] * frequency / (frequency + base + slope * length)`; its score is the sum. `weights`, at
    least 0, hold those terms that any of the level's `documents` items has. The database adds up: it reads
    the rows anyway.
    """

    documents: int
    weights: Mapping[str, float]
    base: float
    slope: float

    def score(self, frequencies: Mapping[str, int], length: int) -> float:
        """The score of one item, at least 0; above 1 only for short or repetitive items."""
        damping = self.base + self.slope * length
        return sum(self.weights.get(term, 0.0) * times / (times + damping) for term, times in frequencies.items())


def rarity(containing: int, documents: int) -> float:
    """The weight of a word found in `containing` of `documents` items: above 0, larger for rarer words."""
    return log1p((documents - containing + 0.5) / (containing + 0.5))


def formula(containing: Mapping[str, int], documents: int, mean_length: float, policy: Bm25Policy = DEFAULT) -> Formula:
    """The formula of a question: `containing` counts, for each of its distinct terms, the level's items that have it.

    A word that no item has, 0, has no row to gain by and yet lowers the share of what is said. `documents` and
    `mean_length`, in terms, describe the whole level.
    """
    weights = {term: rarity(count, documents) for term, count in containing.items()}
    asked = sum(weights.values())
    return Formula(
        documents,
        {term: weights[term] * (policy.k1 + 1.0) / asked for term, count in containing.items() if count},
        base=policy.k1 * (1.0 - policy.b),
        slope=policy.k1 * policy.b / max(mean_length, 1.0),
    )
