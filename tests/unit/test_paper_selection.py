import numpy as np
import pytest

from app.domain.paper_selection import PaperPolicy, neighbourhoods, pick

THREE = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_the_graph_has_the_nearest_neighbours_without_negative_edges() -> None:
    similarity = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, -0.3], [0.2, -0.3, 1.0]])
    one = neighbourhoods(similarity, PaperPolicy(neighbours=1))
    assert one == pytest.approx(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.2, 0.0, 1.0]]))
    assert neighbourhoods(similarity).min() == 0.0


def test_values_computed_by_hand() -> None:
    """Z = 3 + 2 · 0.8 = 4.6; scores from 0 to 1: 1, 0.5, 0. First 0 (0.7 · 1.8 / 4.6 + 0.3), which covers 1; then
    1 is worth 0.3 · 0.5 = 0.15, and 2 is worth 0.7 / 4.6 = 0.152.
    """
    assert pick([0.9, 0.7, 0.5], THREE, 2) == (0, 2)
    assert pick([0.9, 0.71, 0.5], THREE, 3) == (0, 1, 2)


def test_it_stops_once_all_is_covered() -> None:
    alike = np.full((3, 3), 0.9)
    np.fill_diagonal(alike, 1.0)
    assert pick([0.5, 0.4, 0.3], alike, 3) == (0,)


def test_equal_scores_count_half_and_ties_go_to_the_first() -> None:
    assert pick([0.4, 0.4, 0.4], np.eye(3), 2) == (0, 1)
    assert pick([], np.zeros((0, 0)), 2) == ()
    assert pick([0.4], np.eye(1), 0) == ()


def test_the_coverage_is_nearly_inert() -> None:
    """What research found of the published form: the picks are those with the best scores."""
    random = np.random.default_rng(3)
    overlaps = []
    for _ in range(20):
        points = random.normal(size=(40, 8))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        scores = random.uniform(0.2, 0.8, 40)
        picks = pick(scores.tolist(), neighbourhoods(points @ points.T), 20)
        overlaps.append(len(set(picks) & set(np.argsort(-scores)[: len(picks)])) / len(picks))
    assert np.mean(overlaps) > 0.9
