"""How good a set of themes is: sparsity against semantics, from each theme's size and vector sum alone.

Two forms. `paper` is the published one, kept for reference. `balanced`, the default, repairs what makes it
degenerate: there, every partition into equal parts has sparsity 1, and one odd separation among equal ones
counts as infinitely far. In `balanced` the value of a partition is a plain mean over its statements, so the
gain of a local change is the same whichever other themes are looked at with it, but for the nearest ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.domain.vectors import Vector, cosine

PAPER_EPSILON = 1e-8  # added to the median absolute deviation in the published form
SIGMA_FLOOR = 0.05  # cosine; separations closer than this are the same, whatever their spread
AT_ONCE = 1024  # themes whose nearest are looked for together: all against all would not fit into memory

Floats = NDArray[np.float64]
Form = Literal["balanced", "paper"]


@dataclass(frozen=True, slots=True, eq=False)
class ThemeStat:
    """A theme as the objective sees it: how many unit vectors it holds (at least 1), and their sum."""

    size: int
    vector_sum: Vector


@dataclass(frozen=True, slots=True)
class Balance:
    """The constants of the balanced form; the cosines belong to an embedding model."""

    alone: float  # mean cosine that makes a pair no better and no worse than two single statements
    redundant: float  # cosine to the nearest theme from which two themes count as the same subject
    target_size: float = 6.0  # statements; half the cap leaves room to grow
    spread: float = 1.7  # of log size around the target: a third and three times it weigh 0.81, a single one 0.57
    size_weight: float = 0.4  # of the size prior against cohesion


def cohesion(stats: Sequence[ThemeStat]) -> Floats:
    """Mean cosine of each theme's members to its centroid, shape (K,), in [0, 1]: the sum's length over n."""
    return _norms(stats) / _sizes(stats)


def tightness(stats: Sequence[ThemeStat], alone: float) -> Floats:
    """Mean cosine between two members of each theme, shape (K,), in [-1, 1]; `alone` for a single member.

    Unlike cohesion it does not grow as themes shrink, so a single statement is not a perfect theme.
    """
    return _tight(_sizes(stats), _norms(stats) ** 2, alone)


def nearest_other(stats: Sequence[ThemeStat]) -> Floats:
    """Cosine of each theme's centroid to the nearest other one, shape (K,); 0 for a theme on its own."""
    nearest = np.zeros(len(stats))
    if len(stats) < 2:
        return nearest
    sums = np.stack([stat.vector_sum for stat in stats])
    for start in range(0, len(sums), AT_ONCE):
        similar = cosine(sums[start : start + AT_ONCE], sums).astype(np.float64)
        own = np.arange(len(similar))
        similar[own, start + own] = -np.inf
        nearest[start : start + AT_ONCE] = similar.max(axis=1)
    return nearest


def paper(stats: Sequence[ThemeStat]) -> float:
    """The published objective, in [0, 2]; 0 without themes.

    Sparsity N² / (K Σ n²) plus Semantics, the mean of cohesion · g(s) with g = exp(-(s - m)² / 2σ²),
    s the cosine to the nearest other theme, m the median of all s, σ their median absolute deviation.

    Source: Hu et al. 2026 (arXiv 2602.02007), sparsity-semantics objective.
    """
    if not stats:
        return 0.0
    sizes, near = _sizes(stats), nearest_other(stats)
    sparsity = sizes.sum() ** 2 / (len(stats) * (sizes**2).sum())
    middle = np.median(near)
    sigma = np.median(np.abs(near - middle)) + PAPER_EPSILON
    separation = np.exp(-((near - middle) ** 2) / (2 * sigma**2))
    return float(sparsity + (cohesion(stats) * separation).mean())


def balanced(stats: Sequence[ThemeStat], balance: Balance) -> float:
    """The default objective: a mean over statements, at most 1 + `size_weight`; 0 without themes."""
    if not stats:
        return 0.0
    return worth(stats, nearest_other(stats), balance) / float(_sizes(stats).sum())


def worth(stats: Sequence[ThemeStat], nearest: Floats, balance: Balance) -> float:
    """What themes add to the sum whose mean over all statements `balanced` is; `nearest` (K,) as `nearest_other`.

    Each theme counts by its size with tightness · separation + size_weight · prior. The prior is 1 at the
    target size and falls with the distance of log sizes. Separation only ever punishes: it is 1 until the
    nearest other theme is `redundant`ly close, so that standing apart, as noise does, earns nothing.
    """
    if not stats:
        return 0.0
    sizes = _sizes(stats)
    excess = np.maximum(nearest - balance.redundant, 0.0)
    separation = np.exp(-(excess**2) / (2 * SIGMA_FLOOR**2))
    tight = tightness(stats, balance.alone) * separation
    return float((sizes * (tight + balance.size_weight * _prior(sizes, balance))).sum())


def apart(sizes: Floats, squares: Floats, balance: Balance) -> Floats:
    """What each theme adds to that sum while no other is redundantly near; arrays of one shape.

    `sizes` are at least 1; `squares` are the squared lengths of the vector sums.
    """
    each: Floats = sizes * (_tight(sizes, squares, balance.alone) + balance.size_weight * _prior(sizes, balance))
    return each


def evaluate(stats: Sequence[ThemeStat], form: Form, balance: Balance) -> float:
    """The objective in the given form."""
    return paper(stats) if form == "paper" else balanced(stats, balance)


def _tight(sizes: Floats, squares: Floats, alone: float) -> Floats:
    return np.where(sizes > 1, (squares - sizes) / np.maximum(sizes * (sizes - 1), 1), alone)


def _prior(sizes: Floats, balance: Balance) -> Floats:
    prior: Floats = np.exp(-(np.log(sizes / balance.target_size) ** 2) / (2 * balance.spread**2))
    return prior


def _sizes(stats: Sequence[ThemeStat]) -> Floats:
    return np.array([stat.size for stat in stats], dtype=np.float64)


def _norms(stats: Sequence[ThemeStat]) -> Floats:
    if not stats:
        return np.zeros(0)
    norms: Floats = np.linalg.norm(np.stack([stat.vector_sum for stat in stats]).astype(np.float64), axis=1)
    return norms
