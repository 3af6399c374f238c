"""What the service asks of a model."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from app.domain.chat import Prompt, Reply, Scored
from app.domain.late import AskedWords, WordVectors
from app.domain.vectors import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Profile:
    """What made a vector. Vectors of different profiles are never compared."""

    model: str
    revision: str
    dimension: int

    def __str__(self) -> str:
        """The stored form, `model@revision/dimension`."""
        return f"{self.model}@{self.revision}/{self.dimension}"


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a model makes of n texts: float32 vectors (n, dimension) of length 1, and each text's words.

    `words` is None for a model that tells no words apart.
    """

    vectors: Matrix
    words: tuple[WordVectors, ...] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model makes of a question: a vector (dimension,) of length 1, and its words if it tells them apart."""

    vector: Vector
    words: AskedWords | None = None


class Embedder(Protocol):
    """Turns texts into vectors of length 1, and their words into small ones."""

    profile: Profile
    max_tokens: int
    """Longest text it reads whole, in tokens as domain.text.count_tokens counts; callers split longer ones."""
    tells_words: bool
    """Whether it gives vectors of words too."""

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """What it makes of texts that are stored. Raises ProviderUnavailable."""
        ...

    async def embed_query(self, text: str) -> Asked:
        """What it makes of one question, in a lane of its own: it never waits for a batch."""
        ...

    def close(self) -> None:
        """Release threads and memory."""
        ...


class Structured(StrEnum):
    """How a model can be held to a JSON schema."""

    SCHEMA = "schema"  # it takes the schema and keeps to it
    JSON = "json"  # it promises JSON, of any form
    PLAIN = "plain"  # the schema stands in the prompt, and that is all


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do. `context_tokens` is its window, prompt and reply together, in its own tokens."""

    structured: Structured
    logprobs: bool
    prefix_reuse: bool
    context_tokens: int


Heard: TypeAlias = Callable[[str], None]
"""Told all that a model has said so far, each time there is more; another try of it begins anew."""


class Scoring(Protocol):
    """The shared beginning of several prompts, read once. Belongs to one request; what it keeps goes with it."""

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        """The greedy answer to `prefix + probe` for each probe. Raises ProviderUnavailable, ProviderFault."""
        ...


class ChatModel(Protocol):
    """A language model. Its texts are recorded as made by `name` at `revision`."""

    name: str
    revision: str
    tokenizer: str
    """What `count_tokens` counts with; `characters/4` where the model's own is not at hand."""

    async def capabilities(self) -> Capabilities:
        """What it can do: found out once, by a call where need be, then kept. Raises ProviderUnavailable."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of a text. Linear, no call."""
        ...

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        """One call; no retry of its own. The text is as it came: parsing is `structured.ask`'s.

        `heard` is told of the text while it grows, on the event loop, where the model can do that.
        Raises ProviderUnavailable (retryable), ProviderRefused, ContextOverflow.
        """
        ...

    def scoring(self, system: str, prefix: str) -> AbstractAsyncContextManager[Scoring]:
        """For models with `logprobs`: probe answers to a user message that begins with `prefix`."""
        ...

    def close(self) -> None:
        """Release connections, threads and memory."""
        ...
