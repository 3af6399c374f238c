"""The centroids of many themes in one matrix, updated in place: which are nearest, without stacking them anew."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from app.domain.vectors import Matrix, Vector, unit

ROOM = 64  # rows of a new matrix; it doubles when it is full
TIE = 6  # decimals of a cosine: closer than this two themes are equally near, and the older one counts as nearer


class Centroids:
    """Unit vectors by key. The lower of two keys is that of the older theme."""

    def __init__(self) -> None:
        self._rows: Matrix = np.zeros((0, 0), dtype=np.float32)
        self._keys: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._at: dict[int, int] = {}  # the row of each key; rows without a gap

    @property
    def rows(self) -> Matrix:
        """Shape (n, dimension): a view, valid until the next change."""
        rows: Matrix = self._rows[: len(self._at)]
        return rows

    @property
    def keys(self) -> NDArray[np.int64]:
        """Shape (n,): whose row is which."""
        return self._keys[: len(self._at)]

    def places(self, keys: Collection[int]) -> list[int]:
        """The row numbers of these keys."""
        return [self._at[key] for key in keys]

    def put(self, key: int, vector_sum: Vector) -> None:
        """Store a new centroid, or exchange it: the vector sum scaled to length 1."""
        at = self._at.setdefault(key, len(self._at))
        if at == len(self._keys):
            self._grow(len(vector_sum))
        self._rows[at], self._keys[at] = unit(vector_sum), key

    def drop(self, key: int) -> None:
        """Forget a centroid: the last row moves into its place."""
        at, last = self._at.pop(key), len(self._at)
        if at != last:
            self._rows[at], self._keys[at] = self._rows[last], self._keys[last]
            self._at[int(self._keys[at])] = at

    def nearest(self, key: int, limit: int) -> list[tuple[int, float]]:
        """At most `limit` other keys, nearest first, with their cosines in [-1, 1]; ties to the lower key."""
        own = self._at[key]
        similar = np.clip(self.rows @ self.rows[own], -1.0, 1.0).round(TIE)
        similar[own] = -np.inf
        few = min(limit, len(similar) - 1)
        if few < 1:
            return []
        least = np.partition(similar, -few)[-few]
        near = np.flatnonzero(similar >= least)
        best = near[np.lexsort((self.keys[near], -similar[near]))][:few]
        return [(int(self.keys[at]), float(similar[at])) for at in best]

    def _grow(self, dimension: int) -> None:
        room = max(ROOM, 2 * len(self._keys))
        rows = np.zeros((room, dimension), dtype=np.float32)
        keys = np.full(room, -1, dtype=np.int64)
        rows[: len(self._keys)], keys[: len(self._keys)] = self._rows.reshape(-1, dimension), self._keys
        self._rows, self._keys = rows, keys
