"""How a region of themes is divided."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.domain.regions import CROWDED, ROOM, divided, sums
from app.domain.vectors import unit


def rows(count: int, seed: int = 0, dimension: int = 8) -> np.ndarray:
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32))


def test_what_has_room_stays_together() -> None:
    assert divided(rows(ROOM)) == [list(range(ROOM))]


def test_two_heaps_come_apart() -> None:
    heaps = np.repeat(np.eye(2, 8, dtype=np.float32), ROOM, axis=0) + 0.01 * rows(2 * ROOM)
    assert divided(unit(heaps)) == [list(range(ROOM)), list(range(ROOM, 2 * ROOM))]


@given(st.integers(1, 700), st.integers(0, 5))
def test_every_row_is_in_one_part_and_no_part_is_full(count: int, seed: int) -> None:
    given_rows = rows(count, seed)
    parts = divided(given_rows)
    assert sorted(row for part in parts for row in part) == list(range(count))
    assert all(part and len(part) <= CROWDED for part in parts)
    assert parts == divided(given_rows)
    np.testing.assert_allclose(sum(sums(given_rows, parts)), given_rows.sum(axis=0), atol=1e-3)


def test_rows_are_where_their_neighbours_look_for_them() -> None:
    heaps = unit(np.repeat(np.eye(12, 16, dtype=np.float32), 40, axis=0) + 0.4 * rows(480, dimension=16))
    parts = divided(heaps)
    centres = unit(np.stack(sums(heaps, parts)))
    nearest = (heaps @ centres.T).argmax(axis=1)
    assert np.mean([row in parts[nearest[row]] for row in range(480)]) > 0.95


def test_equal_rows_are_divided_too() -> None:
    parts = divided(np.ones((CROWDED + 2, 3), dtype=np.float32))
    assert [len(part) for part in parts] == [CROWDED // 2 + 1] * 2
