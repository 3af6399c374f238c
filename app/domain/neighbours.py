"""Which rows of a matrix are most alike: exact, a block at a time."""

from collections.abc import Iterator, Sequence

import numpy as np

from app.domain.vectors import Matrix

BLOCK = 512  # rows compared with all at once: 40 MB of cosines with 20,000


def neighbours(matrix: Matrix, of: Sequence[int], limit: int) -> Iterator[Sequence[tuple[int, float]]]:
    """For each row in `of` the other rows most similar to it, as (row, cosine), most similar first.

    Args:
        matrix: shape (n, dimension), rows of length 1.
        of: row numbers.
        limit: neighbours at most, at least 1.
    """
    for start in range(0, len(of), BLOCK):
        block = of[start : start + BLOCK]
        similar = np.clip(matrix[list(block)] @ matrix.T, -1.0, 1.0)
        for own, row in zip(block, similar, strict=True):
            row[own] = -np.inf
            few = min(limit, len(row) - 1)
            best = np.argsort(-row, kind="stable")[:few]
            yield [(int(at), float(row[at])) for at in best]
