"""From items to texts to vectors; texts of any length, long ones in parts."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from app.domain.ids import EpisodeId, MessageId, StatementId
from app.domain.invariants import shown
from app.domain.levels import Level
from app.domain.messages import render
from app.domain.text import split_long
from app.domain.vectors import Vector
from app.providers.protocols import Embedder
from app.storage.unit_of_work import ReadUnit


async def embedded_texts(unit: ReadUnit, level: Level, items: Sequence[UUID]) -> Mapping[UUID, str]:
    """The text that each item's vectors are made from; items that do not exist are left out."""
    if level is Level.EPISODE:
        episodes = await unit.episodes.many(EpisodeId(item) for item in items)
        return {item: shown(episode) for item, episode in episodes.items()}
    if level is Level.STATEMENT:
        statements = await unit.statements.many(StatementId(item) for item in items)
        return {item: statement.text for item, statement in statements.items()}
    messages = await unit.messages.many(MessageId(item) for item in items)
    return {item: render(message) for item, message in messages.items()}


async def embed_parts(embedder: Embedder, texts: Sequence[str]) -> list[list[Vector]]:
    """The vectors of each text, one for each part that the model can read whole; at least one a text."""
    # Off the event loop: a message may have a million characters.
    parts = await asyncio.to_thread(lambda: [split_long(text, embedder.max_tokens) or [text] for text in texts])
    vectors = iter(await embedder.embed([part for split in parts for part in split]))
    return [[next(vectors) for _ in split] for split in parts]
