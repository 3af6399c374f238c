"""From items to texts to vectors; texts of any length, long ones in parts."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from app.domain.ids import EpisodeId, MessageId, StatementId
from app.domain.invariants import shown
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.messages import render
from app.domain.text import split_long
from app.providers.protocols import Embedder
from app.storage.unit_of_work import ReadUnit

Item = TypeVar("Item", bound=UUID)

SLICE_CHARACTERS = 200_000  # of the texts of a slice, about: it takes seconds, not minutes, however long they are


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


def first_slice(items: Sequence[Item], texts: Mapping[Item, str]) -> Mapping[Item, str]:
    """The texts of the first items, as many as are embedded in a moment; at least one if there is one."""
    taken: dict[Item, str] = {}
    left = SLICE_CHARACTERS
    for item in items:
        left -= len(texts[item])
        if taken and left < 0:
            break
        taken[item] = texts[item]
    return taken


async def embed_parts(embedder: Embedder, texts: Sequence[str]) -> list[list[Embedding]]:
    """What the model makes of each text, by the parts that it can read whole; at least one a text."""
    # Off the event loop: a message may have a million characters.
    parts = await asyncio.to_thread(lambda: [split_long(text, embedder.max_tokens) or [text] for text in texts])
    made = await embedder.embed([part for split in parts for part in split])
    words = made.words or (None,) * len(made.vectors)
    embeddings = iter([Embedding(*one) for one in zip(made.vectors, words, strict=True)])
    return [[next(embeddings) for _ in split] for split in parts]
