"""Choosing representatives by the published formula, for comparison with `selection.representatives`.

A pick is worth 0.7 · Gain + 0.3 · its score, brought to 0–1. Gain is the similarity to what no pick has covered yet,
divided by that of all edges of all candidates: among forty candidates it is hardly ever above 0.03, so the score
decides nearly alone. That is what is to be compared, so it stays as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.fusion import Floats


@dataclass(frozen=True, slots=True)
class PaperPolicy:
    """The published constants."""

    alpha: float = 0.7  # weight of the gain beside the score's
    neighbours: int = 10  # edges of each candidate; published over all statements, here over the candidates alone
    pool: int = 40  # statements considered
    themes: int = 5  # themes chosen; statements of others are left out
    statements: int = 20  # statements chosen


DEFAULT = PaperPolicy()


def neighbourhoods(similarity: Floats, policy: PaperPolicy = DEFAULT) -> Floats:
    """The weights (n, n) of the kNN graph over cosines (n, n): 0 where there is no edge, 1 on the diagonal."""
    n = len(similarity)
    others = np.where(np.eye(n, dtype=np.bool_), -np.inf, similarity)
    listed = np.argsort(-others, axis=1, kind="stable")[:, : min(policy.neighbours, max(n - 1, 0))]
    weights = np.zeros((n, n))
    np.put_along_axis(weights, listed, np.take_along_axis(similarity, listed, axis=1), axis=1)
    np.fill_diagonal(weights, 1.0)
    return np.maximum(weights, 0.0)


def pick(scores: Sequence[float], weights: Floats, count: int, policy: PaperPolicy = DEFAULT) -> tuple[int, ...]:
    """At most `count` of n candidates in the order of choice, fewer once all are covered; one at least, if any.

    `scores` (n,) of any range; `weights` (n, n) from `neighbourhoods`. Ties go to the higher score, then to the
    lower index.
    """
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    spread = _spread(np.asarray(scores, dtype=np.float64))
    inside = weights > 0.0
    total = float(weights.sum()) or 1.0
    covered: NDArray[np.bool_] = np.zeros(len(order), dtype=np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(count, len(order)) and not covered.all():
        gain = (weights * ~covered).sum(axis=1) / total
        worth = policy.alpha * gain + (1.0 - policy.alpha) * spread
        worth[chosen] = -1.0
        best = int(order[np.argmax(worth[order])])
        if worth[best] <= 0.0:
            break
        chosen.append(best)
        covered |= inside[best]
    return tuple(chosen) if chosen or not len(order) or not count else (int(order[0]),)


def _spread(scores: Floats) -> Floats:
    """The scores from 0 to 1, 0.5 each where all are equal."""
    if not scores.size or scores.max() == scores.min():
        return np.full(len(scores), 0.5)
    spread: Floats = (scores - scores.min()) / (scores.max() - scores.min())
    return spread
