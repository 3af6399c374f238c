import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from app.domain.splitting import in_parts, ways_to_cut

AXES = np.eye(4, dtype=np.float32)


def test_rows_come_apart_where_nothing_links_them() -> None:
    rows = AXES[[0, 1, 0, 2, 1]]
    assert ((0, 2), (1, 4), (3,)) in ways_to_cut(rows, edge=0.5, cap=5)


def test_linked_rows_can_still_be_cut_in_two() -> None:
    angles = np.radians([0, 5, 40, 45])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert ways_to_cut(rows, edge=0.5, cap=4) == [((0, 1), (2, 3))]


def test_one_row_cannot_be_cut() -> None:
    assert ways_to_cut(AXES[:1], edge=0.5, cap=1) == []


def test_equal_rows_are_cut_by_halves() -> None:
    assert ways_to_cut(AXES[[0] * 6], edge=0.5, cap=3) == [((0, 1, 2), (3, 4, 5))]


@given(
    st.integers(1, 30).flatmap(lambda n: arrays(np.float32, (n, 3), elements=st.floats(-1, 1, width=32))),
    st.floats(-1, 1),
    st.integers(1, 12),
)
def test_every_way_is_a_partition_within_the_cap(
    rows: np.ndarray[tuple[int, int], np.dtype[np.float32]], edge: float, cap: int
) -> None:
    ways = ways_to_cut(rows, edge=edge, cap=cap)
    assert bool(ways) or len(rows) <= cap
    for way in ways:
        assert sorted(at for part in way for at in part) == list(range(len(rows)))
        assert len(way) > 1
        assert all(1 <= len(part) <= cap for part in way)


def test_many_rows_come_in_parts_of_what_lies_together() -> None:
    angles = np.radians([0, 90, 2, 92, 1, 91, 3])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert in_parts(rows, 4) == [[0, 2, 4], [1, 3, 5, 6]] or in_parts(rows, 4) == [[0, 2, 4, 6], [1, 3, 5]]
    assert in_parts(rows, 7) == [[0, 1, 2, 3, 4, 5, 6]]


@given(
    st.integers(1, 60).flatmap(lambda n: arrays(np.float32, (n, 3), elements=st.floats(-1, 1, width=32))),
    st.integers(1, 12),
)
def test_parts_are_a_partition_of_what_is_small_enough(rows: np.ndarray, most: int) -> None:
    parts = in_parts(rows, most)
    assert sorted(at for part in parts for at in part) == list(range(len(rows)))
    assert all(1 <= len(part) <= most for part in parts)
