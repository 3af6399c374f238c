"""Model doubles that ship with the service: fast and deterministic, for tests and for trying it out."""

import hashlib
from collections.abc import Sequence

import numpy as np

from app.domain.text import terms
from app.domain.vectors import Matrix, Vector, unit
from app.providers.protocols import Profile

DIMENSION = 64  # enough for a few thousand words to be nearly orthogonal


class ScriptedEmbedder:
    """Hash vectors: each word has a fixed random direction, a text is the sum of its words'.

    Texts that share words are similar; meaning plays no part.
    """

    profile = Profile("scripted", "1", DIMENSION)
    max_tokens = 200

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of length 1, float32, shape (len(texts), 64)."""
        return np.array([_vector(text) for text in texts], dtype=np.float32).reshape(len(texts), DIMENSION)

    async def embed_query(self, text: str) -> Matrix:
        """One vector, shape (64,)."""
        return _vector(text)

    def close(self) -> None:
        """Nothing to release."""


def _vector(text: str) -> Vector:
    total = np.zeros(DIMENSION, dtype=np.float32)
    for word in terms(text) or [text]:
        seed = int.from_bytes(hashlib.sha256(word.encode(errors="replace")).digest()[:8])
        total += np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)
    vector: Vector = unit(total)
    return vector
