"""Model doubles that ship with the service: fast and deterministic, for tests and for trying it out."""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from app.domain.late import asked_words, compress, content_spans, drawn_axes
from app.domain.text import terms
from app.domain.vectors import Matrix, Vector, unit
from app.providers.protocols import Asked, Embedded, Profile

DIMENSION = 64  # enough for a few thousand words to be nearly orthogonal


class Faults:
    """What goes wrong with a double: told by whoever rehearses an outage, nothing by itself."""

    def __init__(self) -> None:
        self.calls = 0
        self._error: Exception | None = None
        self._times: int | None = None
        self._hangs = False

    def fail(self, error: Exception, times: int | None = None) -> None:
        """Every call raises `error`; with `times` only the next so many do."""
        self._error, self._times = error, times

    def hang(self) -> None:
        """No call returns any more."""
        self._hangs = True

    def mend(self) -> None:
        """All is well again. A call that hangs goes on hanging, as a lost connection does."""
        self._error, self._times, self._hangs = None, None, False

    async def strike(self) -> None:
        """Called by the double before it works."""
        self.calls += 1
        if self._hangs:
            await asyncio.get_running_loop().create_future()
        if self._error is None or self._times == 0:
            return
        if self._times is not None:
            self._times -= 1
        raise self._error


class ScriptedEmbedder:
    """Hash vectors: each word has a fixed random direction, a text is the sum of its words'.

    Texts that share words are similar; meaning plays no part.
    """

    max_tokens = 200
    tells_words = True

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.profile = Profile("scripted", "1", dimension)
        self._axes = drawn_axes(dimension)

    @cached_property
    def faults(self) -> Faults:
        """What goes wrong with it."""
        return Faults()

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts and of their words."""
        await self.faults.strike()
        dimension = self.profile.dimension
        vectors = np.array([_vector(text, dimension) for text in texts], dtype=np.float32)
        words = tuple(compress(_words(text, dimension), self._axes) for text in texts)
        return Embedded(vectors.reshape(len(texts), dimension), words)

    async def embed_query(self, text: str) -> Asked:
        """Those of one question."""
        await self.faults.strike()
        dimension = self.profile.dimension
        return Asked(_vector(text, dimension), asked_words(text, _words(text, dimension), self._axes))

    def close(self) -> None:
        """Nothing to release."""


def _words(text: str, dimension: int) -> Matrix:
    vectors = [_vector(text[start:end], dimension) for start, end in content_spans(text)]
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), dimension)


def _vector(text: str, dimension: int) -> Vector:
    total = np.zeros(dimension, dtype=np.float32)
    for word in terms(text) or [text]:
        seed = int.from_bytes(hashlib.sha256(word.encode(errors="replace")).digest()[:8])
        total += np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    vector: Vector = unit(total)
    return vector
