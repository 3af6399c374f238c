"""Late interaction: how well each word of a question is met by some word of a text.

The vector of a whole text says what it is about; it blurs the one word that a question turns on. The same pass
of the model has a vector for every word, in its context. Those of a text's content words are kept, small: seen
along `WIDTH` axes, which keeps their cosines nearly, and a byte for each number.

The words of a text are those of `content_spans`, in that order; a model that reads only the beginning of a text
has vectors of its first words. A text in several parts has the words of all its parts, in their order.
"""

import hashlib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from app.domain.levels import Level
from app.domain.text import content_words, terms
from app.domain.vectors import Matrix, Vector, unit

WIDTH = 64  # numbers of a word's vector; see docs/decisions/0017
SCALE = 127  # of a number of size 1, in a byte
WORD_LEVELS = (Level.MESSAGE, Level.STATEMENT)
"""Levels whose words are kept. A narrative meets too many words by chance, and its messages are there."""
WORDS_KEPT = 256  # of a part; more than any part has for a model of MiniLM's size

WordVectors: TypeAlias = NDArray[np.int8]
"""Vectors of a text's content words, shape (words, WIDTH), each `SCALE` long up to rounding."""

_WORD = re.compile(r"(\w+)(?:['’]\w+)*")  # of "Ann's" the name


@dataclass(frozen=True, slots=True)
class Embedding:
    """What a model makes of a text, or of one part of it. `words` is None for a model that tells no words apart."""

    vector: Vector
    words: WordVectors | None = None


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The content words of a question, as they are written, and their vectors (words, WIDTH) of length 1."""

    words: tuple[str, ...]
    vectors: Matrix

    def without(self, names: Collection[str]) -> "AskedWords":
        """The words that belong to none of these names; all of them if no other is left.

        A speaker's name stands in everything that they say: it tells no message from another.
        """
        named = {term for name in names for term in terms(name)}
        kept = [place for place, word in enumerate(self.words) if named.isdisjoint(terms(word))]
        return AskedWords(tuple(self.words[place] for place in kept), self.vectors[kept]) if kept else self


@dataclass(frozen=True, slots=True)
class Axes:
    """The directions (dimension, WIDTH) along which words' vectors are seen, from their `centre` (dimension,)."""

    centre: Vector
    directions: Matrix

    def along(self, vectors: Matrix) -> Matrix:
        """Vectors (n, dimension) of any length as (n, WIDTH) of length 1; what is nothing stays so."""
        small: Matrix = unit(np.asarray((unit(vectors) - self.centre) @ self.directions, dtype=np.float32))
        return small


def drawn_axes(dimension: int) -> Axes:
    """Axes for a model whose words nobody has looked at: signs, from a digest, so that they are the same everywhere."""
    size = dimension * WIDTH
    drawn = np.frombuffer(hashlib.shake_256(b"xmemory: axes of words").digest(-(-size // 8)), np.uint8)
    signs = np.unpackbits(drawn)[:size].reshape(dimension, WIDTH) * 2.0 - 1.0
    return Axes(np.zeros(dimension, dtype=np.float32), signs.astype(np.float32))


def content_spans(text: str) -> list[tuple[int, int]]:
    """Where the words stand whose vectors are kept: the first `WORDS_KEPT` that are no stop words, in their order."""
    found = (match.span(1) for match in _WORD.finditer(text) if content_words(match[0]))
    return list(islice(found, WORDS_KEPT))


def asked_words(text: str, vectors: Matrix, axes: Axes) -> AskedWords:
    """The words of a question. `vectors` (n, dimension) are those of its first n content words, of any length."""
    spans = content_spans(text)[: len(vectors)]
    return AskedWords(tuple(text[start:end] for start, end in spans), axes.along(vectors))


def compress(vectors: Matrix, axes: Axes) -> WordVectors:
    """Words' vectors (n, dimension), of any length, as they are kept."""
    small: WordVectors = np.rint(axes.along(vectors) * SCALE).astype(np.int8)
    return small


def to_bytes(words: WordVectors) -> bytes:
    """As they are stored."""
    return np.ascontiguousarray(words).tobytes()


def from_bytes(stored: bytes) -> WordVectors:
    """Inverse of `to_bytes`. Raises ValueError for bytes that are not whole vectors."""
    return np.frombuffer(stored, np.int8).reshape(-1, WIDTH)


def matches(asked: AskedWords, texts: Sequence[WordVectors]) -> NDArray[np.float64]:
    """For each text (n,), in [-1, 1]: the mean over the asked words of the cosine of the text's nearest word.

    0 for a text without words, and for all of them if nothing is asked.
    """
    found = np.zeros(len(texts))
    full = [place for place, text in enumerate(texts) if len(text)]
    if not full or not len(asked.words):
        return found
    stored = np.concatenate([texts[place] for place in full]).astype(np.float32) / SCALE
    starts = np.cumsum([0, *(len(texts[place]) for place in full)])[:-1]
    nearest = np.maximum.reduceat(stored @ asked.vectors.T, starts, axis=0)
    found[full] = np.clip(nearest.mean(axis=1, dtype=np.float64), -1.0, 1.0)
    return found
