"""Embeddings from an OpenAI-compatible endpoint."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.domain.errors import ConfigurationError, ContextOverflow, ProviderRefused, ProviderRejected, UnusableReply
from app.domain.text import count_tokens
from app.domain.vectors import TINY, Matrix
from app.providers.endpoint import Endpoint, Patience
from app.providers.protocols import Asked, Embedded, Profile
from app.providers.specs import EmbedderSpec

DEFAULT_MODEL = "text-embedding-3-small"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
REVISION = "api"  # an endpoint does not say which state of a model it serves

# Tokens of one text, as we count them. OpenAI's models read 8,191 of their own, and dense text has nearly two of
# those for one of ours; of others we assume BERT's 512, and a quarter more of those than of ours.
OPENAI_TOKENS = 4000
OTHER_TOKENS = 400

BATCH_TEXTS = 64  # in one call
BATCH_TOKENS = 16_000  # in one call; some endpoints read a batch as one sequence after another, and take time


class OpenAIEmbedder:
    """An `Embedder` of whole texts. Questions and batches are calls of their own, so neither waits for the other."""

    tells_words = False

    def __init__(self, endpoint: Endpoint, profile: Profile, *, ask_dimension: bool) -> None:
        self.profile = profile
        self.max_tokens = OPENAI_TOKENS if profile.model in DIMENSIONS else OTHER_TOKENS
        self._endpoint = endpoint
        self._ask_dimension = ask_dimension

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of stored texts.

        Raises ProviderUnavailable; ProviderRefused, also for vectors of another dimension; ContextOverflow;
        UnusableReply for vectors that are missing, too many, zero or no numbers.
        """
        parts = [await self._embed(batch) for batch in batches(texts)]
        return Embedded(np.concatenate(parts) if parts else np.zeros((0, self.profile.dimension), np.float32))

    async def embed_query(self, text: str) -> Asked:
        """The vector of one question. Raises as `embed`."""
        return Asked((await self._embed([text]))[0])

    def close(self) -> None:
        """Release the connections."""
        self._endpoint.close()

    async def _embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of one batch; where that is too much for the endpoint, of its halves."""
        try:
            body = await self._ask(texts)
        except ContextOverflow:
            if len(texts) == 1:
                raise
            middle = len(texts) // 2
            return np.concatenate([await self._embed(texts[:middle]), await self._embed(texts[middle:])])
        return _read(body, len(texts), self.profile.dimension)

    async def _ask(self, texts: Sequence[str]) -> Mapping[str, Any]:
        request = {"model": self.profile.model, "input": list(texts), "encoding_format": "float"}
        if not self._ask_dimension:
            return await self._endpoint.post("/embeddings", request)
        try:
            return await self._endpoint.post("/embeddings", request | {"dimensions": self.profile.dimension})
        except ProviderRejected:
            # vLLM refuses the word for models with one dimension only, even if it is that one.
            body = await self._endpoint.post("/embeddings", request)
            self._ask_dimension = False
            return body


def open_embedder(spec: EmbedderSpec, patience: Patience | None = None) -> OpenAIEmbedder:
    """The embedder that `spec` names: `openai[:MODEL[@DIMENSION]]`. Calls nothing. Raises ConfigurationError."""
    model, _, asked = spec.name.partition(":")[2].partition("@")
    model = model or DEFAULT_MODEL
    dimension = int(asked) if asked else DIMENSIONS.get(model)
    if dimension is None:
        raise ConfigurationError(
            f"the dimension of {model} is not known: write XMEMORY_EMBEDDER=openai:{model}@DIMENSION"
        )
    endpoint = Endpoint("the embedding model", spec.base_url, spec.api_key, patience or Patience())
    return OpenAIEmbedder(endpoint, Profile(model, REVISION, dimension), ask_dimension=bool(asked))


def batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """`texts` in runs of at most `BATCH_TEXTS` and `BATCH_TOKENS`; a longer text is a run of its own."""
    start, used = 0, 0
    for index, text in enumerate(texts):
        tokens = count_tokens(text)
        if index > start and (index - start == BATCH_TEXTS or used + tokens > BATCH_TOKENS):
            yield texts[start:index]
            start, used = index, 0
        used += tokens
    if start < len(texts):
        yield texts[start:]


def _read(body: Mapping[str, Any], count: int, dimension: int) -> Matrix:
    """The vectors of a reply in the order of the texts, scaled to length 1."""
    vectors = _in_order(body, count)
    wrong = next((len(vector) for vector in vectors if len(vector) != dimension), None)
    if wrong is not None:
        raise ProviderRefused(f"the embedding model's vectors have {wrong} numbers where {dimension} are configured")
    try:
        matrix = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UnusableReply("the embedding model's vectors are not made of numbers") from None
    with np.errstate(over="ignore", invalid="ignore"):  # looked at below
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths < TINY).any():
        raise UnusableReply("the embedding model's vectors have no direction: NaN, infinite or zero")
    scaled: Matrix = (matrix / lengths).astype(np.float32)
    return scaled


def _in_order(body: Mapping[str, Any], count: int) -> list[list[Any]]:
    """One list of numbers for each text, by `index`; an endpoint that gives none keeps the order."""
    data = body.get("data")
    entries = [entry for entry in data if isinstance(entry, Mapping)] if isinstance(data, Sequence) else []
    placed = {_place(entry, at): entry.get("embedding") for at, entry in enumerate(entries)}
    if len(entries) != count or placed.keys() != set(range(count)):
        raise UnusableReply(f"the embedding model returned {len(entries)} vectors for {count} texts, or misplaced ones")
    vectors = [vector for index in range(count) if isinstance(vector := placed[index], list)]
    if len(vectors) != count:
        raise UnusableReply("the embedding model's vectors are not lists of numbers")
    return vectors


def _place(entry: Mapping[str, Any], default: int) -> int:
    index = entry.get("index")
    return index if isinstance(index, int) else default
