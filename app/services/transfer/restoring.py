"""An empty namespace gets all that a file holds, with the ids that it had. Nothing of it is read until it is whole.

Lines are written block by block, each with its removal in one transaction; words are found and vectors made where the
file has none; the last transaction lets readers in and queues what was left to do where the file comes from.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np

from app.domain.ids import ConversationId, MessageId
from app.domain.invariants import message_terms, shown
from app.domain.jobs import Attempt, Unfinished
from app.domain.levels import Level
from app.domain.messages import Image, Message, Role
from app.domain.text import terms
from app.domain.vectors import unit as scaled
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts, embedded_texts, first_slice
from app.services.sums import sums_of_themes
from app.services.transfer.checking import LEVELS
from app.services.transfer.lines import (
    AnyLine,
    EpisodeLine,
    MessageLine,
    StatementLine,
    ThemeLine,
    VectorLine,
)
from app.services.transfer.progress import Far, parsed, read_block
from app.services.turns import TURN_SECONDS, Turn
from app.services.upkeep import queue_left
from app.storage.transfer import MOVED, Row
from app.storage.unit_of_work import Clock, Storage, WriteUnit

SLICE_ITEMS = 128  # whose vectors are made between two transactions


@dataclass(slots=True)
class _Rows:
    """What a block holds, as it is stored."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    citations: list[tuple[UUID, UUID]] = field(default_factory=list)
    vectors: list[Row] = field(default_factory=list)
    words: dict[Level, dict[UUID, Sequence[str]]] = field(default_factory=lambda: defaultdict(dict))
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Restoring:
    """Makes a namespace of a file."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock
    turn_seconds: float = TURN_SECONDS

    async def restore(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Go on for a while."""
        turn, far = Turn.begin(self.turn_seconds), Far.of(attempt)
        while (block := await read_block(self.storage, attempt, far.block + 1)) is not None:
            await self._write(attempt, far, block)
            if turn.is_over:
                return Unfinished(far.result(attempt))
        while far.level < len(LEVELS):
            if not await self._embed(attempt, far, LEVELS[far.level]):
                far.level, far.item = far.level + 1, None
            elif turn.is_over:
                return Unfinished(far.result(attempt))
        await self._open(attempt, far)
        return far.result(attempt)

    async def _write(self, attempt: Attempt, far: Far, block: str) -> None:
        """Store a block's lines with all by which they are found."""
        dimension = _dimension(attempt)
        rows = await asyncio.to_thread(_rows, block, dimension, vectors=attempt.job.payload["vectors"])
        async with self.storage.write(attempt.namespace, also_importing=True) as unit:
            far.block += 1
            far.lines += rows.lines
            far.messages += len(rows.rows["message"])
            await unit.jobs.report(attempt, far.result(attempt))
            for kind in MOVED:
                await unit.transfer.add(kind, rows.rows[kind])
            await unit.transfer.add_citations(rows.citations)
            await unit.transfer.add_vectors(rows.vectors)
            for level, documents in rows.words.items():
                await unit.words.add(level, documents)
            await unit.transfer.remove_block(attempt.job.id, far.block)
            await unit.commit(revises_memory=False)

    async def _embed(self, attempt: Attempt, far: Far, level: Level) -> bool:
        """Make the vectors of some items that have none. False if there are none any more."""
        after = None if far.item is None else UUID(far.item)
        async with self.storage.read(attempt.namespace, also_importing=True) as unit:
            items = await unit.transfer.lacking(level, after, SLICE_ITEMS)
            texts = first_slice(items, await embedded_texts(unit, level, items))
        if not texts:
            return False
        embedder = self.embedders.of(attempt.embedding_profile)
        made = dict(zip(texts, await embed_parts(embedder, list(texts.values())), strict=True))
        async with self.storage.write(attempt.namespace, also_importing=True) as unit:
            far.embedded, far.item = far.embedded + len(made), str(list(made)[-1])
            await unit.jobs.report(attempt, far.result(attempt))
            await unit.embeddings.add(level, made)
            await unit.commit(revises_memory=False)
        return True

    async def _open(self, attempt: Attempt, far: Far) -> None:
        """The namespace is whole: from this commit on it is read."""
        payload = attempt.job.payload
        sums = None
        if not payload["vectors"]:
            async with self.storage.read(attempt.namespace, also_importing=True) as unit:
                sums = await sums_of_themes(unit, unit.embeddings, _dimension(attempt))
        async with self.storage.write(attempt.namespace, also_importing=True) as unit:
            await unit.jobs.report(attempt, far.result(attempt))
            if sums is not None:
                await unit.themes.set_sums(sums)
            await _adopt(unit, payload)
            now = self.clock()
            await queue_left(unit, now, rested=now)
            await unit.commit()


async def _adopt(unit: WriteUnit, payload: Mapping[str, Any]) -> None:
    namespace = unit.namespace.id
    await unit.directory.set_sequence(namespace, payload["sequence"])
    await unit.directory.set_retention(namespace, payload["retention_seconds"])
    await unit.directory.end_import(namespace)


def _dimension(attempt: Attempt) -> int:
    return int(attempt.embedding_profile.rpartition("/")[2])


def _rows(block: str, dimension: int, *, vectors: bool) -> _Rows:
    found = _Rows()
    for line in parsed(block):
        found.lines += 1
        if isinstance(line, VectorLine):
            if vectors:
                found.vectors.append(_vector(line))
            continue
        found.rows[line.line].append(_row(line, dimension, vectors=vectors))
        if isinstance(line, StatementLine):
            found.citations += [(line.id, message) for message in line.messages]
        for level, item, words in _words(line):
            found.words[level][item] = words
    return found


def _row(line: AnyLine, dimension: int, *, vectors: bool) -> Row:
    """The columns of a line that is a row."""
    values = line.model_dump(exclude={"line", "messages"})
    if isinstance(line, ThemeLine):
        total = line.vector_sum if vectors and line.vector_sum is not None else np.zeros(dimension, np.float32)
        values |= {"vector_sum": total, "centroid": scaled(total), "made_from": list(map(str, line.made_from))}
    return values


def _vector(line: VectorLine) -> Row:
    return {
        "level": line.level,
        "item_id": line.item_id,
        "part": line.part,
        "vector": line.vector,
        "word_vectors": line.words,
    }


def _words(line: AnyLine) -> Iterator[tuple[Level, UUID, Sequence[str]]]:
    """The terms that a line's item is found by, if it is found by any."""
    if isinstance(line, MessageLine):
        yield Level.MESSAGE, line.id, message_terms(as_message(line))
    elif isinstance(line, EpisodeLine):
        yield Level.EPISODE, line.id, terms(shown(line))
    elif isinstance(line, StatementLine):
        yield Level.STATEMENT, line.id, terms(line.text)


def as_message(line: MessageLine) -> Message:
    """The message that a line stands for."""
    return Message(
        id=MessageId(line.id),
        conversation=ConversationId(line.conversation_id),
        sequence=line.sequence,
        role=Role(line.role),
        content=line.content,
        occurred_at=line.occurred_at,
        recorded_at=line.recorded_at,
        position=line.position,
        external_id=line.external_id,
        speaker=line.speaker,
        images=tuple(Image(image.caption, image.query, image.url) for image in line.images),
        metadata=line.metadata,
    )
