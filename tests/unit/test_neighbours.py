"""The rows most like others, against a plain computation."""

import numpy as np
import pytest

from app.domain import neighbours as module
from app.domain.neighbours import neighbours
from app.domain.vectors import unit


@pytest.mark.parametrize("count", [1, 2, 5, 40])
def test_the_nearest_of_each_row_come_first(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    matrix = unit(np.random.default_rng(3).normal(size=(count, 8)).astype(np.float32))
    wanted = list(range(0, count, 2))
    for own, near in zip(wanted, neighbours(matrix, wanted, 3), strict=True):
        others = [row for row in range(count) if row != own]
        best = sorted(others, key=lambda row, own=own: (-float(matrix[own] @ matrix[row]), row))[:3]
        assert [row for row, _ in near] == best
        assert [cosine for _, cosine in near] == pytest.approx([float(matrix[own] @ matrix[row]) for row in best])


def test_rows_that_are_equally_near_keep_their_order() -> None:
    matrix = np.ones((4, 1), dtype=np.float32)
    assert list(neighbours(matrix, [2], 2)) == [[(0, 1.0), (1, 1.0)]]
