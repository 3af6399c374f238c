import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fusion import Pool, Signal
from app.domain.norlift import DEFAULT, fired, joined, lifted

shares = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


def pool(cosine: list[float], words: list[float], count: int = 500) -> Pool:
    """Candidates of a level of `count` items, whose other items are as usual."""
    n = len(cosine)
    return Pool(
        cosine=Signal(np.array(cosine), 0.06, 0.12, count),
        words=Signal(np.array(words), 0.02, 0.05, count),
        named=np.zeros(n, dtype=np.bool_),
        group=np.arange(n),
        position=np.arange(n),
    )


def test_an_item_at_the_threshold_fires_with_even_odds_by_that_detector_alone() -> None:
    at = 0.06 + DEFAULT.threshold * 0.12
    silent = -1.0
    assert fired(pool([at], [silent]))[0] == pytest.approx(0.5, abs=1e-6)
    assert fired(pool([at], [0.02 + DEFAULT.threshold * 0.05]))[0] == pytest.approx(0.75, abs=1e-6)


def test_the_noisy_or_is_the_product_of_what_stays_silent() -> None:
    found = joined(np.array([0.2, 0.0]), np.array([0.6, 1.0, 0.5]), np.array([0, 0, 1]))
    assert found == pytest.approx([1 - 0.8 * 0.7 * 0.5, 0.25])


@given(shares, st.data())
def test_more_evidence_never_lowers_a_chance(own: list[float], data: st.DataObject) -> None:
    causes = data.draw(st.lists(st.floats(0.0, 1.0), max_size=8))
    of = np.array(
        data.draw(st.lists(st.integers(0, len(own) - 1), min_size=len(causes), max_size=len(causes))), np.intp
    )
    before = joined(np.array(own), np.array(causes), of)
    assert np.all((before >= -1e-12) & (before <= 1 + 1e-12))
    more = data.draw(st.floats(0.0, 1.0))
    at = data.draw(st.integers(0, len(own) - 1))
    after = joined(np.array(own), np.array([*causes, more]), np.append(of, at))
    assert np.all(after >= before - 1e-12)
    raised = np.array(own)
    raised[at] = max(raised[at], more)
    assert np.all(joined(raised, np.array(causes), of) >= before - 1e-12)


@given(st.permutations(range(5)))
def test_the_order_of_causes_is_all_the_same(order: list[int]) -> None:
    causes, of = np.array([0.1, 0.9, 0.4, 0.7, 0.2]), np.array([0, 1, 0, 1, 1])
    assert joined(np.array([0.3, 0.1]), causes[order], of[order]) == pytest.approx(
        joined(np.array([0.3, 0.1]), causes, of)
    )


@given(shares, st.integers(0, 11), st.floats(0.0, 1.0), st.integers(0, 1000))
def test_lifted_scores_are_in_range_keep_the_order_and_never_fall_with_evidence(
    chances: list[float], at: int, more: float, others: int
) -> None:
    n = len(chances)
    of = pool([0.5] * n, [0.2] * n, n + others)
    scores = lifted(np.array(chances), of)
    assert np.all((scores >= 0.0) & (scores <= 1.0))
    assert np.all(np.diff(scores[np.argsort(chances)]) >= -1e-12)
    raised = np.array(chances)
    raised[at % n] = max(raised[at % n], more)
    assert lifted(raised, of)[at % n] >= scores[at % n] - 1e-12


def test_an_average_item_is_at_half_of_the_best_match() -> None:
    scores = lifted(np.array([0.3, 0.3]), pool([0.6, 0.6], [0.0, 0.0], 2))
    assert scores == pytest.approx([0.3, 0.3])


def test_nothing_matches_scores_nothing() -> None:
    empty = pool([], [])
    assert lifted(fired(empty), empty).size == 0
    nothing = pool([-0.2, -0.1], [0.0, 0.0])
    assert lifted(fired(nothing), nothing) == pytest.approx([0.0, 0.0])
