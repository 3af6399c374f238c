from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.fusion import (
    FusionPolicy,
    Pool,
    Signal,
    best_of_group,
    calibrated,
    fuse,
    fused,
    near,
    reciprocal_rank,
    timely,
    vector_score,
    word_score,
)

POLICY = FusionPolicy()


def pool(cosine: list[float], words: list[float], *, named: list[bool] | None = None, apart: bool = True) -> Pool:
    n = len(cosine)
    values = np.array(cosine)
    return Pool(
        cosine=Signal(values, float(values.mean()) if n else 0.0, float(values.std()) if n else 0.0, n),
        words=Signal.sparse(np.array(words), n),
        named=np.array(named or [False] * n),
        group=np.arange(n) if apart else np.zeros(n, dtype=np.intp),
        position=np.arange(n),
    )


def test_an_exact_match_in_a_small_namespace_is_first_and_above_a_half() -> None:
    scores = fuse(pool([0.1, 0.2, 1.0, 0.05, 0.3], [0.0, 0.1, 1.0, 0.0, 0.1]))
    assert scores.argmax() == 2
    assert scores[2] > 0.5
    assert np.delete(scores, 2).max() < scores[2]


def test_the_only_item_of_a_namespace_is_judged_by_what_it_says() -> None:
    assert fuse(pool([1.0], [1.0]))[0] > 0.5
    assert fuse(pool([0.1], [0.0]))[0] < 0.1


def test_a_question_about_something_absent_scores_low() -> None:
    random = np.random.default_rng(1)
    scores = fuse(pool(list(random.normal(0.05, 0.08, 200)), [0.0] * 200))
    assert scores.max() < 0.2


def test_what_was_said_beside_good_evidence_is_lifted() -> None:
    cosine = [0.1] * 20
    cosine[10] = 0.7
    scores = fuse(pool(cosine, [0.0] * 20, apart=False))
    assert scores[11] == pytest.approx(scores[9])
    assert scores[9] > scores[8] > scores[0]


def test_the_named_speaker_is_preferred_between_equals() -> None:
    scores = fuse(pool([0.5, 0.5, 0.1], [0.2, 0.2, 0.0], named=[False, True, False]))
    assert scores[1] > scores[0]


def test_a_pool_scores_as_the_whole_level_does() -> None:
    random = np.random.default_rng(2)
    n = 60
    whole = pool(list(random.normal(0.1, 0.1, n)), list(random.exponential(0.05, n)), apart=True)
    index = np.arange(10, 30)
    part = Pool(
        whole.cosine.take(index),
        whole.words.take(index),
        whole.named[index],
        whole.group[index],
        whole.position[index],
    )
    assert fused(part) == pytest.approx(fused(whole)[index])


def test_near_is_a_fading_sum_of_constant_spread_that_stays_inside_its_group() -> None:
    own = np.array([8.0, 0.0, 0.0, 5.0])
    group, position = np.array([0, 0, 0, 1]), np.array([1, 2, 9, 3])
    half = replace(POLICY, fading=0.5, reach=1)
    spread = 1.25**0.5  # of the weights 1 and 1/2
    assert near(own, group, position, half) == pytest.approx([8 / spread, 4 / spread, 0.0, 5.0])


def test_items_at_one_place_share_their_context() -> None:
    own = np.array([4.0, 2.0])
    assert near(own, np.zeros(2, np.intp), np.zeros(2, np.intp), POLICY) == pytest.approx([3.0, 3.0])


def test_best_of_group_takes_the_mean_of_the_highest() -> None:
    total = np.array([1.0, 9.0, 5.0, 7.0, 3.0])
    group = np.array([4, 4, 4, 4, 2])
    assert best_of_group(total, group, 3) == pytest.approx([7.0, 7.0, 7.0, 7.0, 3.0])


def test_a_sparse_signal_counts_the_items_without_a_value() -> None:
    signal = Signal.sparse(np.array([3.0, 1.0]), 4)
    assert (signal.mean, signal.deviation) == (1.0, pytest.approx(np.std([3, 1, 0, 0])))


def test_an_empty_pool_has_no_scores() -> None:
    assert fuse(pool([], [])).size == 0
    assert reciprocal_rank(np.zeros(0), np.zeros(0)).size == 0


def test_single_signals_keep_an_exact_match_above_a_half() -> None:
    assert vector_score(np.array([1.0, 0.3, -0.2])).tolist() == [1.0, 0.3, 0.0]
    scores = word_score(np.array([1.0, 0.4, 0.0]))
    assert scores[0] > scores[1] > 0.5
    assert scores[2] == 0.0


def test_reciprocal_rank_is_by_rank_and_low_where_nothing_matches() -> None:
    scores = reciprocal_rank(np.array([0.9, 0.2, 0.1]), np.array([0.8, 0.0, 0.5]))
    assert scores[0] == pytest.approx(0.9)
    assert scores[0] > scores[2] > scores[1]
    assert reciprocal_rank(np.array([0.1, 0.05]), np.zeros(2)).max() < 0.1
    same = reciprocal_rank(np.array([0.5, 0.5]), np.zeros(2))
    assert same[0] == same[1]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_scores_lie_in_0_to_1_and_rise_with_the_sum(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    found = Pool(
        Signal(random.uniform(-1, 1, n), 0.05, 0.12, n),
        Signal.sparse(random.exponential(0.2, n), n),
        random.random(n) < 0.5,
        random.integers(0, 4, n),
        random.integers(0, 50, n),
    )
    total = fused(found)
    scores = calibrated(total, found)
    assert np.all((scores >= 0) & (scores <= 1))
    assert np.all(np.diff(scores[np.argsort(total)]) >= 0)
    shuffled = random.permutation(n)
    again = Pool(
        found.cosine.take(shuffled),
        found.words.take(shuffled),
        found.named[shuffled],
        found.group[shuffled],
        found.position[shuffled],
    )
    assert fuse(again) == pytest.approx(scores[shuffled])


# Late interaction ------------------------------------------------------------------------------------------


def met(base: Pool, late: list[float], compared: list[bool] | None = None) -> Pool:
    return replace(base, late=np.array(late), compared=np.array(compared or [True] * len(late)))


def test_what_meets_the_words_goes_first_between_equals() -> None:
    equal = pool([0.4, 0.4, 0.4], [0.2, 0.2, 0.2])
    scores = fuse(met(equal, [0.3, 0.8, 0.5]))
    assert scores.argsort().tolist() == [0, 2, 1]
    assert np.all((scores > 0.0) & (scores < 1.0))


def test_an_item_without_words_is_neither_lifted_nor_pushed_down() -> None:
    equal = pool([0.4] * 41, [0.2] * 41)
    scores = fuse(met(equal, [float("nan"), *np.linspace(0.1, 0.6, 40)]))
    assert 15 <= (scores[1:] < scores[0]).sum() <= 25, "about in the middle"


def test_where_nobody_has_words_nothing_changes() -> None:
    base = pool([0.1, 0.6, 0.3], [0.0, 0.4, 0.1])
    np.testing.assert_array_equal(fuse(met(base, [float("nan")] * 3)), fuse(base))


def test_what_was_not_compared_stays_behind() -> None:
    equal = pool([0.4] * 4, [0.2] * 4)
    scores = fuse(met(equal, [0.5, 0.3, 0.4, float("nan")], [True, True, True, False]))
    assert scores[3] <= scores[:3].max()
    assert scores.argmax() == 0


def test_no_weight_turns_late_interaction_off() -> None:
    base = pool([0.1, 0.6, 0.3], [0.0, 0.4, 0.1])
    off = replace(POLICY, late=0.0)
    np.testing.assert_array_equal(fuse(met(base, [0.9, 0.1, 0.5]), off), fuse(base, off))


def test_words_that_are_met_as_usual_leave_the_best_score_where_it_was() -> None:
    random = np.random.default_rng(5)
    base = pool(list(random.normal(0.1, 0.1, 120)), list(random.exponential(0.05, 120)), apart=False)
    late = 0.35 + 0.13 * (base.cosine.values - 0.1) / 0.1  # as good a signal as the cosine
    before, after = fuse(base).max(), fuse(met(base, list(late))).max()
    assert after == pytest.approx(before, abs=0.2)


@given(st.lists(st.floats(-1, 1) | st.just(float("nan")), min_size=1, max_size=12))
def test_whatever_is_met_scores_stay_in_range_and_follow_the_sum(late: list[float]) -> None:
    base = met(pool([0.3] * len(late), [0.1] * len(late), apart=False), late)
    total, scores = fused(base), fuse(base)
    assert np.all((scores >= 0.0) & (scores <= 1.0))
    assert np.all(np.diff(scores[np.argsort(total, kind="stable")]) >= 0.0)


# Times -----------------------------------------------------------------------------------------------------


def test_the_pull_of_a_time_fades_over_days_on_both_sides() -> None:
    first, last = date(2024, 5, 6), date(2024, 5, 12)
    days = [first, last, last + timedelta(7), first - timedelta(7), last + timedelta(90), date.min]
    pulls = timely(days, [(first, last)])
    assert pulls is not None
    assert pulls.tolist() == pytest.approx([1.0, 1.0, 0.3679, 0.3679, 0.0, 0.0], abs=1e-3)
    assert timely(days, [(date(2020, 1, 1), date(2020, 1, 1)), (first, last)]) == pytest.approx(pulls)


def test_no_time_pulls_nowhere() -> None:
    assert timely([date(2024, 5, 6)], []) is None


def test_what_was_said_at_the_time_goes_before_a_better_match() -> None:
    base = pool([0.3, 0.5, 0.1], [0.1, 0.3, 0.0])
    assert fuse(base).argmax() == 1
    assert fuse(replace(base, timely=np.array([1.0, 0.0, 0.0]))).argmax() == 0
