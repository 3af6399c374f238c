import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.selection import SelectionPolicy, representatives
from app.domain.vectors import cosine

DIVERSE = SelectionPolicy(coverage=0.5, theme=0.0, similar=0.5)


def alike(*groups: int) -> np.ndarray:
    """Cosine 0.95 inside a group, 0 between groups."""
    codes = np.array(groups)
    same = np.where(codes[:, None] == codes[None, :], 0.95, 0.0)
    np.fill_diagonal(same, 1.0)
    return same


def test_a_near_duplicate_gives_way_to_something_new() -> None:
    relevance = np.array([0.9, 0.88, 0.7])
    assert representatives(relevance, alike(0, 0, 1), 2, policy=DIVERSE).chosen == (0, 2)


def test_without_coverage_it_is_the_order_of_relevance() -> None:
    relevance = np.array([0.2, 0.9, 0.88, 0.7])
    plain = SelectionPolicy(coverage=0.0, theme=0.0)
    assert representatives(relevance, alike(0, 1, 1, 2), 4, policy=plain).chosen == (1, 2, 3, 0)


def test_diversity_does_not_let_in_what_is_not_relevant() -> None:
    relevance = np.array([0.9, 0.85, 0.1])
    assert representatives(relevance, alike(0, 0, 1), 2, policy=DIVERSE).chosen == (0, 1)


def test_a_new_theme_breaks_a_near_tie_and_no_theme_is_shut_out() -> None:
    relevance = np.array([0.9, 0.80, 0.79])
    policy = SelectionPolicy(coverage=0.0, theme=0.05)
    unlike = np.eye(3)
    assert representatives(relevance, unlike, 3, ["a", "a", "b"], policy).chosen == (0, 2, 1)
    assert representatives(relevance, unlike, 3, [None, None, None], policy).chosen == (0, 1, 2)


def test_covered_is_the_share_of_relevance_stood_for() -> None:
    found = representatives(np.array([0.6, 0.4]), np.eye(2), 1)
    assert found.covered == pytest.approx(0.6)
    assert representatives(np.zeros(0), np.zeros((0, 0)), 3).chosen == ()


def test_nothing_relevant_is_not_an_error() -> None:
    found = representatives(np.zeros(3), np.eye(3), 2)
    assert found.chosen == (0, 1)
    assert found.covered == 0.0


@given(st.integers(1, 14), st.integers(0, 2**32 - 1), st.integers(0, 16))
def test_lazy_choice_is_the_greedy_choice(n: int, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    relevance = random.uniform(0.05, 1.0, n)
    similarity = cosine(*[random.normal(size=(n, 3)).astype(np.float32)] * 2).astype(np.float64)
    themes = [int(theme) for theme in random.integers(0, 3, n)]
    policy = SelectionPolicy(coverage=0.6, theme=0.1, similar=0.3)
    found = representatives(relevance, similarity, count, themes, policy)
    assert len(found.chosen) == len(set(found.chosen)) == min(n, count)
    assert 0.0 <= found.covered <= 1.0 + 1e-9
    assert list(found.chosen) == _greedy(relevance, similarity, count, themes, policy)


def _greedy(
    relevance: np.ndarray, similarity: np.ndarray, count: int, themes: list[int], policy: SelectionPolicy
) -> list[int]:
    close = np.clip((similarity - policy.similar) / (1 - policy.similar), 0, 1)
    np.fill_diagonal(close, 1.0)
    worth, chosen = close * relevance, []
    while len(chosen) < min(count, len(relevance)):
        covered = worth[chosen].max(axis=0, initial=0.0) if chosen else np.zeros(len(relevance))
        novelty = np.maximum(worth - covered, 0).sum(axis=1) / worth.sum(axis=1)
        fresh = np.array([theme not in {themes[i] for i in chosen} for theme in themes])
        value = relevance * (1 - policy.coverage * (1 - novelty) + policy.theme * fresh)
        value[chosen] = -1.0
        chosen.append(int(value.argmax()))
    return chosen
