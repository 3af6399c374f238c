"""How sure a figure is: bootstrap intervals and paired tests over questions. Pure; the same values, the same result.

What is drawn again are questions, so an interval tells how far other questions of the same kind about the same
conversations would move a figure. It does not tell about other conversations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from app.evaluation.metrics import auroc

COVERED = 0.95  # of an interval
RESAMPLES = 2000  # the ends of an interval move by less than a tenth of its width between seeds
FLIPS = 10_000  # p-values down to 0.0001
EXACT = 12  # differences that are not 0: up to so many, every one of the 2^n signs is tried
SEED = 8
LEAST_SIDE = 2  # questions of one kind: of one alone nobody knows how it varies
ROUNDING = 1e-12  # sums of the same numbers in another order differ by less

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure over `count` questions, and where it lies in COVERED of the resamples: `low` <= `high`."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Paired:
    """Second minus first over `difference.count` questions that both have.

    `p`: how often chance gives a difference at least as large, in 0–1. `won`: questions at which the second is higher,
    `lost`: lower.
    """

    difference: Interval
    p: float
    won: int
    lost: int


def mean_interval(values: Sequence[float]) -> Interval | None:
    """The mean with its percentile bootstrap interval; None of nothing."""
    if not values:
        return None
    array = np.asarray(values, dtype=np.float64)
    return _interval(float(array.mean()), array[_draws(len(array), SEED)].mean(axis=1), len(array))


def auroc_interval(lower: Sequence[float], higher: Sequence[float]) -> Interval | None:
    """The area under the ROC curve, both sides drawn again apart; None if one is empty."""
    value = auroc(lower, higher)
    if value is None:
        return None
    first, second = np.asarray(lower, dtype=np.float64), np.asarray(higher, dtype=np.float64)
    below, above = first[_draws(len(first), SEED)], second[_draws(len(second), SEED + 1)]
    drawn = np.array([_area(left, right) for left, right in zip(below, above, strict=True)])
    return _interval(value, drawn, len(first) + len(second))


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compares two measurements of the same questions, in the same order. Neither may be empty."""
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    interval = mean_interval(differences.tolist())
    if interval is None:
        raise ValueError("there are no pairs")
    won, lost = int((differences > ROUNDING).sum()), int((differences < -ROUNDING).sum())
    return Paired(interval, _sign_flip(differences[np.abs(differences) > ROUNDING]), won, lost)


def paired_auroc(
    first: tuple[Sequence[float], Sequence[float]], second: tuple[Sequence[float], Sequence[float]]
) -> Paired | None:
    """Compares two areas under the ROC curve over the same questions by DeLong's method: normal interval and test.

    Each of the two is (`lower`, `higher`) as for `auroc_interval`, in the same order of questions; a question is higher
    where its own share of the pairs won is. None if a side has fewer than two questions, or if all of them moved alike:
    then nothing tells how far chance would move them.
    """
    if min(map(len, (*first, *second))) < LEAST_SIDE:
        return None
    moved = [after - before for before, after in zip(_shares_won(*first), _shares_won(*second), strict=True)]
    difference = float(moved[1].mean())
    error = math.sqrt(sum(float(side.var(ddof=1)) / len(side) for side in moved))
    if error < ROUNDING < abs(difference):
        return None
    p = math.erfc(abs(difference) / error / math.sqrt(2)) if error > ROUNDING else 1.0
    reach = NormalDist().inv_cdf((1 + COVERED) / 2) * error
    all_moved = np.concatenate(moved)
    won, lost = int((all_moved > ROUNDING).sum()), int((all_moved < -ROUNDING).sum())
    interval = Interval(difference, max(difference - reach, -1.0), min(difference + reach, 1.0), len(all_moved))
    return Paired(interval, p, won, lost)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for there being several (Holm): an error among all of them stays as rare as p says."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        corrected[index] = highest
    return corrected


def risk_coverage(confidences: Sequence[float], losses: Sequence[float], asked: int) -> list[tuple[float, float]]:
    """Mean loss of the surest answers, against the share of all `asked` questions that they are.

    One (coverage, risk) for each confidence that occurs, by rising coverage; equal confidences come together.
    """
    order = sorted(range(len(confidences)), key=lambda index: -confidences[index])
    curve, lost = [], 0.0
    for taken, index in enumerate(order, start=1):
        lost += losses[index]
        if taken == len(order) or confidences[order[taken]] != confidences[index]:
            curve.append((taken / asked, lost / taken))
    return curve


def _sign_flip(differences: Floats) -> float:
    """Two-sided: if neither is better, each difference could as well have the other sign."""
    count = len(differences)
    if not count:
        return 1.0
    signs = _signs(count)
    hits = int((np.abs(signs @ differences) >= abs(differences.sum()) - ROUNDING * count).sum())  # ties count
    return hits / len(signs) if count <= EXACT else (hits + 1) / (len(signs) + 1)


def _shares_won(lower: Sequence[float], higher: Sequence[float]) -> tuple[Floats, Floats]:
    """For each of both sides, with how many of the other it stands as it should: a share, ties half."""
    below, above = np.asarray(lower, dtype=np.float64), np.asarray(higher, dtype=np.float64)
    won = (above[None, :] > below[:, None]) + 0.5 * (above[None, :] == below[:, None])
    return won.mean(axis=1), won.mean(axis=0)


def _area(lower: Floats, higher: Floats) -> float:
    """`metrics.auroc` for arrays."""
    ranked = np.sort(lower)
    above = np.searchsorted(ranked, higher, "left").sum() + np.searchsorted(ranked, higher, "right").sum()
    return float(above) / (2 * len(lower) * len(higher))


def _interval(value: float, drawn: Floats, count: int) -> Interval:
    tail = (1 - COVERED) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value), count)


@lru_cache(maxsize=8)  # of 12 MB for the whole of LoCoMo
def _draws(count: int, seed: int) -> NDArray[np.int32]:
    """Which values each resample takes. (RESAMPLES, count)."""
    return np.random.default_rng(seed).integers(0, count, size=(RESAMPLES, count), dtype=np.int32)


def _signs(count: int) -> Floats:
    """All signs of so many differences, or FLIPS of them. (n, count), each 1 or -1."""
    if count <= EXACT:
        bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
    else:
        bits = np.random.default_rng(SEED).integers(0, 2, size=(FLIPS, count))
    return bits.astype(np.float64) * 2 - 1
