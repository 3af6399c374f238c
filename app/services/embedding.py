"""From texts of any length to vectors: long ones in parts."""

import asyncio
from collections.abc import Sequence

from app.domain.text import split_long
from app.domain.vectors import Vector
from app.providers.protocols import Embedder


async def embed_parts(embedder: Embedder, texts: Sequence[str]) -> list[list[Vector]]:
    """The vectors of each text, one for each part that the model can read whole; at least one a text."""
    # Off the event loop: a message may have a million characters.
    parts = await asyncio.to_thread(lambda: [split_long(text, embedder.max_tokens) or [text] for text in texts])
    vectors = iter(await embedder.embed([part for split in parts for part in split]))
    return [[next(vectors) for _ in split] for split in parts]
