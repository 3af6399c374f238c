"""Intervals and paired tests, by hand and against scipy."""

import numpy as np
import pytest
from scipy import stats

from app.evaluation.intervals import auroc_interval, holm, mean_interval, paired, paired_auroc, risk_coverage

RNG = np.random.default_rng(3)
FIRST = RNG.random(60).tolist()
SECOND = (np.array(FIRST) + RNG.normal(0.05, 0.1, 60)).tolist()


def test_a_mean_has_its_interval() -> None:
    interval = mean_interval(FIRST)
    assert interval is not None
    assert interval.value == pytest.approx(np.mean(FIRST))
    assert interval.count == 60
    theirs = stats.bootstrap((FIRST,), np.mean, n_resamples=5000, method="percentile", rng=1).confidence_interval
    assert (interval.low, interval.high) == (pytest.approx(theirs.low, abs=0.01), pytest.approx(theirs.high, abs=0.01))
    assert mean_interval(FIRST) == interval
    assert mean_interval([]) is None


def test_an_auroc_has_its_interval() -> None:
    interval = auroc_interval([0.1, 0.4, 0.35], [0.8, 0.4, 0.9, 0.3])
    assert interval is not None
    # By hand: of 12 pairs, .8 and .9 win 3 each, .4 wins 2 and ties 1, .3 wins 1.
    assert interval.value == pytest.approx(9.5 / 12)
    assert 0 <= interval.low < interval.value < interval.high <= 1
    assert interval.count == 7
    assert auroc_interval([], [1.0]) is None


def test_three_wins_out_of_three_are_one_sign_pattern_in_eight_and_its_opposite() -> None:
    result = paired([0.0, 0.5, 0.5, 0.25], [1.0, 0.75, 1.0, 0.25])
    assert result.difference.value == pytest.approx(1.75 / 4)
    assert (result.won, result.lost, result.difference.count) == (3, 0, 4)
    assert result.p == 2 / 8


def test_no_difference_at_all_is_no_finding() -> None:
    same = paired([0.5, 0.25], [0.5, 0.25])
    assert (same.difference.value, same.difference.low, same.difference.high, same.p) == (0, 0, 0, 1)
    with pytest.raises(ValueError, match="no pairs"):
        paired([], [])


@pytest.mark.parametrize("count", [8, 60])
def test_the_paired_test_agrees_with_scipy(count: int) -> None:
    first, second = FIRST[:count], SECOND[:count]
    theirs = stats.permutation_test(
        (second, first), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=20_000, rng=2
    )
    assert paired(first, second).p == pytest.approx(theirs.pvalue, rel=0.15, abs=2e-4)


def test_two_aurocs_are_compared_by_delong_by_hand() -> None:
    result = paired_auroc(([1, 2], [2, 3, 0]), ([0, 1], [2, 1, 3]))
    assert result is not None
    # Shares won by the three above: .75, 1, 0 and 1, .75, 1; by the two below: 2/3, 1/2 and 1, 5/6.
    # So they moved by .25, -.25, 1 (variance .395833) and by 1/3 each: the error is the root of .395833 / 3.
    assert result.difference.value == pytest.approx(2.75 / 3 - 1.75 / 3)
    assert result.difference.low == pytest.approx(1 / 3 - 1.959964 * 0.363242, abs=1e-5)
    assert result.difference.high == 1.0  # of 1.05: no area differs by more
    assert result.p == pytest.approx(2 * stats.norm.sf((1 / 3) / 0.363242), abs=1e-5)
    assert (result.won, result.lost, result.difference.count) == (4, 1, 5)


def test_what_delong_cannot_tell_is_not_told() -> None:
    same = paired_auroc(([1, 2], [2, 3]), ([1, 2], [2, 3]))
    assert same is not None
    assert (same.difference.value, same.difference.low, same.difference.high, same.p) == (0, 0, 0, 1)
    assert paired_auroc(([1], [2, 3]), ([1], [2, 3])) is None
    assert paired_auroc(([3, 4], [1, 2]), ([1, 2], [3, 4])) is None  # all moved by 1: chance cannot be seen


def test_delong_agrees_with_drawing_questions_again() -> None:
    below, above = RNG.normal(0, 1, (2, 80)), RNG.normal(0.8, 1, (2, 120))
    before, after = (below[0], above[0]), ((below[0] + below[1]) / 1.6, (above[0] + above[1]) / 1.6)
    result = paired_auroc((before[0].tolist(), before[1].tolist()), (after[0].tolist(), after[1].tolist()))
    assert result is not None
    drawn = []
    for _ in range(2000):
        low, high = RNG.integers(0, 80, 80), RNG.integers(0, 120, 120)
        areas = [stats.mannwhitneyu(one[1][high], one[0][low]).statistic / 9600 for one in (before, after)]
        drawn.append(areas[1] - areas[0])
    assert result.difference.low == pytest.approx(np.quantile(drawn, 0.025), abs=0.012)
    assert result.difference.high == pytest.approx(np.quantile(drawn, 0.975), abs=0.012)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_risk_by_coverage_takes_equal_confidences_together() -> None:
    curve = risk_coverage([0.9, 0.6, 0.6, 0.8], [0.0, 1.0, 0.5, 0.5], asked=8)
    assert curve == [(1 / 8, 0.0), (2 / 8, 0.25), (4 / 8, 0.5)]
    assert risk_coverage([], [], asked=3) == []
