"""What the service asks of a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.vectors import Matrix


@dataclass(frozen=True, slots=True)
class Profile:
    """What made a vector. Vectors of different profiles are never compared."""

    model: str
    revision: str
    dimension: int

    def __str__(self) -> str:
        """The stored form, `model@revision/dimension`."""
        return f"{self.model}@{self.revision}/{self.dimension}"


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    profile: Profile
    max_tokens: int
    """Longest text it reads whole, in tokens as domain.text.count_tokens counts; callers split longer ones."""

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts, float32, shape (len(texts), dimension). Raises ProviderUnavailable."""
        ...

    async def embed_query(self, text: str) -> Matrix:
        """The vector of one question, shape (dimension,), in a lane of its own: it never waits for a batch."""
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...
