from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.objective import (
    SIGMA_FLOOR,
    Balance,
    ThemeStat,
    apart,
    balanced,
    cohesion,
    evaluate,
    nearest_other,
    paper,
    tightness,
    worth,
)

BALANCE = Balance(alone=0.5, redundant=0.8)


def stat(*members: tuple[float, ...]) -> ThemeStat:
    """A theme of the given vectors, each scaled to length 1."""
    rows = np.array(members, dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return ThemeStat(len(rows), rows.sum(axis=0))


def test_cohesion_is_the_mean_cosine_to_the_centroid() -> None:
    theme = stat((1, 0, 0), (0, 1, 0))
    assert cohesion([theme]) == pytest.approx([1 / sqrt(2)])


def test_tightness_is_the_mean_cosine_between_members_and_is_unknown_for_one() -> None:
    three = stat((1, 0), (1, 0), (0, 1))
    assert tightness([three, stat((1, 0))], alone=0.4) == pytest.approx([1 / 3, 0.4])


def test_the_nearest_other_theme_is_measured_between_centroids() -> None:
    themes = [stat((1, 0)), stat((1, 1)), stat((0, 1), (0, 1))]
    assert nearest_other(themes) == pytest.approx([1 / sqrt(2)] * 3)
    assert nearest_other(themes[:1]) == pytest.approx([0])


def test_paper_of_one_theme() -> None:
    # S = 4 / (1 * 4) = 1; s = 0 = m, so g = 1, and cohesion is 1 / sqrt(2).
    assert paper([stat((1, 0), (0, 1))]) == pytest.approx(1 + 1 / sqrt(2))


def test_paper_by_hand() -> None:
    # Sizes 1, 1, 2: S = 16 / (3 * 6). Centroids at 0, 60 and 180 degrees: s = 0.5, 0.5, -0.5.
    # m = 0.5, MAD = 0, so the third theme's g is 0. All cohesions are 1.
    half = sqrt(3) / 2
    themes = [stat((1, 0)), stat((0.5, half)), stat((-1, 0), (-1, 0))]
    assert paper(themes) == pytest.approx(16 / 18 + 2 / 3, abs=1e-6)


def test_paper_by_hand_with_a_spread() -> None:
    # Centroids at 0, 10, 40 and 100 degrees: s = cos 10, cos 10, cos 30, cos 60.
    themes = [stat((np.cos(a), np.sin(a))) for a in np.radians([0, 10, 40, 100])]
    s = np.cos(np.radians([10, 10, 30, 60]))
    m = (s[1] + s[2]) / 2
    sigma = (abs(s[0] - m) + abs(s[0] - m)) / 2  # deviations d, d, d, larger: their median is d
    expected = 1 + sum(exp(-((x - m) ** 2) / (2 * sigma**2)) for x in s) / 4
    assert paper(themes) == pytest.approx(expected, rel=1e-4)


def test_paper_by_hand_of_loose_themes_of_different_sizes() -> None:
    # Sizes 3, 2, 1: S = 36 / (3 * 14). Sums (2, 1, 0), (0, 1, 1), (0, 0, 1): cohesions sqrt(5) / 3, sqrt(2) / 2, 1.
    # Cosines of centroids: 1 / sqrt(10), 0 and 1 / sqrt(2), so s = 0.316…, 0.707…, 0.707…; m = 0.707…, MAD = 0.
    themes = [stat((1, 0, 0), (1, 0, 0), (0, 1, 0)), stat((0, 1, 0), (0, 0, 1)), stat((0, 0, 1))]
    assert nearest_other(themes) == pytest.approx([1 / sqrt(10), 1 / sqrt(2), 1 / sqrt(2)])
    assert paper(themes) == pytest.approx(36 / 42 + (sqrt(2) / 2 + 1) / 3, abs=1e-5)


def test_paper_of_two_themes_knows_no_separation() -> None:
    # Each is the other's nearest, so both s are m and both g are 1, however close they are.
    for other in ((0.999, sqrt(1 - 0.999**2)), (0, 1), (-1, 0)):
        assert paper([stat((1, 0)), stat(other)]) == pytest.approx(2, abs=1e-6)


def test_paper_of_opposites_is_finite() -> None:
    # The sum is zero: no cohesion, and a centroid that points nowhere has a cosine of 0.
    torn, one = stat((1, 0), (-1, 0)), stat((0, 1))
    assert paper([torn]) == pytest.approx(1)
    assert paper([torn, one]) == pytest.approx(9 / 10 + 1 / 2)


def test_paper_takes_a_hair_for_a_gulf_and_balanced_does_not() -> None:
    # s = 0.5, 0.5 and 0.499: the median absolute deviation is 0, so the third counts as infinitely far (E47).
    def themes(third: float) -> list[ThemeStat]:
        return [stat((1, 0, 0)), stat((0.5, sqrt(0.75), 0)), stat((third, 0, -sqrt(1 - third**2)))]

    assert paper(themes(0.5)) == pytest.approx(2, abs=1e-5)
    assert paper(themes(0.499)) == pytest.approx(1 + 2 / 3, abs=1e-5)
    assert balanced(themes(0.499), BALANCE) == pytest.approx(balanced(themes(0.5), BALANCE))


def test_paper_calls_every_equal_partition_equally_sparse() -> None:
    axes = [stat(tuple(np.eye(4)[at])) for at in range(4)]
    pairs = [stat(tuple(np.eye(4)[0]), tuple(np.eye(4)[1])), stat(tuple(np.eye(4)[2]), tuple(np.eye(4)[3]))]
    assert paper(axes) - 1 == pytest.approx(1)
    assert paper(pairs) - 1 == pytest.approx(1 / sqrt(2))


def test_balanced_by_hand() -> None:
    # A pair of cosine 0 and a single statement, far apart.
    themes = [stat((1, 0, 0), (0, 1, 0)), stat((0, 0, 1))]
    prior = [exp(-(log(size / 6) ** 2) / (2 * 1.7**2)) for size in (2, 1)]
    expected = (2 * (0 + 0.25 * prior[0]) + (0.5 + 0.25 * prior[1])) / 3
    assert balanced(themes, Balance(alone=0.5, redundant=0.8, size_weight=0.25)) == pytest.approx(expected)


def test_balanced_punishes_two_themes_of_one_subject() -> None:
    # Both are 0.1 nearer than is redundant: their tightness is damped by the same factor.
    near = [stat((1, 0)), stat((0.9, sqrt(1 - 0.81)))]
    far = [stat((1, 0)), stat((0, 1))]
    damped = 0.5 * (1 - exp(-(0.1**2) / (2 * SIGMA_FLOOR**2)))
    assert balanced(far, BALANCE) - balanced(near, BALANCE) == pytest.approx(damped, abs=1e-5)


def test_balanced_gives_nothing_for_standing_apart() -> None:
    base = [stat((1, 0, 0)), stat((0.5, sqrt(0.75), 0))]
    somewhat, wholly = stat((-0.34, 0.94, 0)), stat((0, 0, 1))
    assert balanced([*base, wholly], BALANCE) == pytest.approx(balanced([*base, somewhat], BALANCE))


def test_balanced_prefers_themes_near_the_target_size() -> None:
    axes = np.eye(24, dtype=np.float32)
    common = [tuple(axes[0] + 0.5 * axes[at]) for at in range(1, 13)]
    one = [stat(*common)]
    two = [stat(*common[:6]), stat(*common[6:])]
    twelve = [stat(vector) for vector in common]
    lenient = Balance(alone=0.5, redundant=1.0)
    assert balanced(two, lenient) > balanced(one, lenient) > balanced(twelve, lenient)


def test_no_themes_have_no_value() -> None:
    assert paper([]) == balanced([], BALANCE) == 0


def test_evaluate_takes_the_form() -> None:
    themes = [stat((1, 0), (0, 1)), stat((1, 1))]
    assert evaluate(themes, "paper", BALANCE) == paper(themes)
    assert evaluate(themes, "balanced", BALANCE) == balanced(themes, BALANCE)


rows = st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(any), min_size=1, max_size=5)


@given(st.lists(rows.filter(lambda theme: all(np.linalg.norm(row) > 0.1 for row in theme)), min_size=1, max_size=5))
def test_values_are_bounded_and_do_not_depend_on_order(themes: list[list[list[float]]]) -> None:
    stats = [stat(*map(tuple, theme)) for theme in themes]
    assert 0 < paper(stats) <= 2 + 1e-6
    assert -1 - 1e-6 <= balanced(stats, BALANCE) <= 1 + BALANCE.size_weight + 1e-6
    assert balanced(stats[::-1], BALANCE) == pytest.approx(balanced(stats, BALANCE), abs=1e-6)
    assert ((cohesion(stats) >= 0) & (cohesion(stats) <= 1 + 1e-6)).all()


@given(st.lists(rows.filter(lambda theme: all(np.linalg.norm(row) > 0.1 for row in theme)), min_size=1, max_size=5))
def test_far_apart_each_theme_is_worth_what_its_size_and_sum_say(themes: list[list[list[float]]]) -> None:
    """`apart` is `worth` without redundancy: moves are ranked by the one and checked by the other."""
    stats = [stat(*map(tuple, theme)) for theme in themes]
    sizes = np.array([one.size for one in stats], dtype=float)
    squares = np.array([float(one.vector_sum.astype(float) @ one.vector_sum) for one in stats])
    nowhere = np.zeros(len(stats))
    assert apart(sizes, squares, BALANCE).sum() == pytest.approx(worth(stats, nowhere, BALANCE), abs=1e-5)
