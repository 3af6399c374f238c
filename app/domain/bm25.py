"""BM25 over the postings of one question's terms: how much of what is asked for an item says.

The form is Lucene's (an inverse document frequency that is never negative), divided by the weight of the
question itself, so that scores of different questions and levels compare: an item of average length that
says every word of the question once scores 1. Only items with a posting take part; all others score 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Bm25Policy:
    """The two usual constants of BM25, at their usual values: others moved recall by less than 0.01."""

    k1: float = 1.2  # how soon repeating a word stops to count; 0 counts each word once
    b: float = 0.75  # 0 ignores length, 1 divides by it in full


DEFAULT = Bm25Policy()


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of a question's distinct terms in one level of one namespace, one row an (item, term).

    `item` (r,) numbers the items 0 … items - 1 and `term` (r,) the question's terms; `frequency` (r,) is
    how often the item has the term, at least 1; `length` (r,) is the item's number of terms. `containing`
    (t,) counts, for each of the question's terms, the items of the level that have it, 0 for an unknown
    word. `documents` and `mean_length` describe the whole level.
    """

    items: int
    item: NDArray[np.intp]
    term: NDArray[np.intp]
    frequency: NDArray[np.float64]
    length: NDArray[np.float64]
    containing: NDArray[np.float64]
    documents: int
    mean_length: float


def rarity(containing: NDArray[np.float64], documents: int) -> NDArray[np.float64]:
    """The weight of words found in `containing` of `documents` items: above 0, larger for rarer words."""
    weight: NDArray[np.float64] = np.log1p((documents - containing + 0.5) / (containing + 0.5))
    return weight


def score(postings: Postings, policy: Bm25Policy = DEFAULT) -> NDArray[np.float64]:
    """The BM25 of each item as a share of the question's own weight: (items,), at least 0.

    1 is an item of average length with each word once; short or repetitive items may score above it.
    """
    weights = rarity(postings.containing, postings.documents)
    asked = float(weights.sum())
    if not asked or not postings.items:
        return np.zeros(postings.items)
    relative = postings.length / max(postings.mean_length, 1.0)
    damping = policy.k1 * (1.0 - policy.b + policy.b * relative)
    gains = weights[postings.term] * postings.frequency * (policy.k1 + 1.0) / (postings.frequency + damping)
    totals = np.bincount(postings.item, weights=gains, minlength=postings.items)
    shares: NDArray[np.float64] = totals / asked
    return shares
