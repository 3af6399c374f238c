"""Vectors: float32 arrays, and the only cosine in the project."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""Shape (dimension,)."""
Matrix: TypeAlias = NDArray[np.float32]
"""Shape (n, dimension), one row a text."""

TINY = 1e-12  # keeps a zero vector from dividing by zero; far below any real norm


def unit(matrix: Matrix) -> Matrix:
    """Rows scaled to length 1; a zero row stays zero. Shape (n, d) or (d,) is kept."""
    norms = np.linalg.norm(matrix, axis=-1, keepdims=True)
    scaled: Matrix = (matrix / np.maximum(norms, TINY)).astype(np.float32)
    return scaled


def cosine(left: Matrix, right: Matrix) -> NDArray[np.float32]:
    """Cosine similarity in [-1, 1] of every row of `left` (n, d) with every row of `right` (m, d): (n, m)."""
    product: NDArray[np.float32] = np.clip(unit(left) @ unit(right).T, -1.0, 1.0)
    return product
