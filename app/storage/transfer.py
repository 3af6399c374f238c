"""Rows as they are moved out of a namespace and into one: whole tables, in an order that does not depend on when.

Only what cannot be computed from other rows. And the lines of a file that came in and is not worked through yet.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, delete, func, insert, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.ids import JobId
from app.domain.levels import Level
from app.domain.namespaces import Namespace
from app.storage.erasure_tables import tombstones
from app.storage.items import ITEMS
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import (
    citations,
    conversations,
    embeddings,
    ended_themes,
    episodes,
    import_blocks,
    messages,
    statements,
    themes,
)

MOVED: Mapping[str, Table] = {
    "conversation": conversations,
    "episode": episodes,
    "message": messages,
    "tombstone": tombstones,
    "theme": themes,
    "ended_theme": ended_themes,
    "statement": statements,
}
"""Parents before children."""

Row = Mapping[str, Any]
"""Values by column."""

NOT_MOVED = {"namespace_id", "deleted_at", "region_id", "centroid"}
"""Nothing is moved while something is being erased; regions are an index; a centroid follows from the sum."""


class TransferRepository(Repository):
    """Rows of one namespace, on their way out or in."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace) -> None:
        super().__init__(connection, namespace.id)
        self._generation = namespace.generation

    async def counts(self) -> Mapping[str, int]:
        """Rows of each kind; of vectors those that are read."""
        found = {}
        for kind, table in MOVED.items():
            query = select(func.count()).select_from(table).where(self._own(table))
            found[kind] = (await self._connection.execute(query)).scalar_one()
        return found

    async def count_vectors(self) -> int:
        """Vectors that are read."""
        query = select(func.count()).where(self._own(embeddings), embeddings.c.generation == self._generation)
        return (await self._connection.execute(query)).scalar_one()

    async def is_erasing(self) -> bool:
        """Whether a conversation is being erased: what it led to may still be there."""
        query = select(conversations.c.id).where(self._own(conversations), conversations.c.deleted_at.is_not(None))
        return (await self._connection.execute(query.limit(1))).first() is not None

    async def page(self, kind: str, after: Row | None, limit: int) -> Sequence[Row]:
        """Rows of a kind after that one: messages by their sequence, all others by their id."""
        table = MOVED[kind]
        key = table.c.sequence if kind == "message" else table.c.id
        columns = [column for column in table.c if column.name not in NOT_MOVED]
        query = select(*columns).where(self._own(table))
        if after is not None:
            query = query.where(key > after[key.name])
        return await self._rows(query.order_by(key).limit(limit))

    async def cited(self, ids: Sequence[UUID]) -> Mapping[UUID, Sequence[UUID]]:
        """The messages that each statement cites, by their ids."""
        found: dict[UUID, list[UUID]] = defaultdict(list)
        for start in range(0, len(ids), IN_LIMIT):
            query = select(citations.c.statement_id, citations.c.message_id).where(
                self._own(citations), citations.c.statement_id.in_(ids[start : start + IN_LIMIT])
            )
            for row in await self._connection.execute(query.order_by(citations.c.message_id)):
                found[row.statement_id].append(row.message_id)
        return found

    async def vectors(self, level: Level, after: Row | None, limit: int) -> Sequence[Row]:
        """Vectors of a level that are read, after that one, by item and part."""
        columns = (embeddings.c.level, embeddings.c.item_id, embeddings.c.part, embeddings.c.vector)
        query = select(*columns, embeddings.c.word_vectors.label("words")).where(
            self._own(embeddings), embeddings.c.generation == self._generation, embeddings.c.level == level.value
        )
        key = (embeddings.c.item_id, embeddings.c.part)
        if after is not None:
            query = query.where(tuple_(*key) > tuple_(after["item_id"], after["part"]))
        return await self._rows(query.order_by(*key).limit(limit))

    async def add(self, kind: str, rows: Iterable[Row]) -> None:
        """Insert rows as they were."""
        if values := [self._row(**row) for row in rows]:
            await self._connection.execute(insert(MOVED[kind]), values)

    async def add_citations(self, pairs: Iterable[tuple[UUID, UUID]]) -> None:
        """Insert citations: statement, message."""
        if values := [self._row(statement_id=statement, message_id=message) for statement, message in pairs]:
            await self._connection.execute(insert(citations), values)

    async def add_vectors(self, rows: Iterable[Row]) -> None:
        """Insert vectors that are read from now on."""
        if values := [self._row(generation=self._generation, **row) for row in rows]:
            await self._connection.execute(insert(embeddings), values)

    async def lacking(self, level: Level, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Items of a level without a vector that is read, in the order of their ids."""
        items = ITEMS[level]
        made = (
            select(embeddings.c.item_id)
            .where(
                self._own(embeddings),
                embeddings.c.generation == self._generation,
                embeddings.c.level == level.value,
                embeddings.c.item_id == items.c.id,
            )
            .exists()
        )
        query = select(items.c.id).where(self._own(items), ~made)
        if after is not None:
            query = query.where(items.c.id > after)
        return list((await self._connection.execute(query.order_by(items.c.id).limit(limit))).scalars())

    async def stage(self, job: JobId, blocks: Sequence[tuple[int, str]]) -> None:
        """Keep lines that came in, in numbered blocks, until their job has worked them through."""
        rows = [self._row(job_id=job, number=number, lines=lines) for number, lines in blocks]
        await self._connection.execute(insert(import_blocks), rows)

    async def block(self, job: JobId, number: int) -> str | None:
        """One block of a job's lines; None if there is no such block (any more)."""
        query = select(import_blocks.c.lines).where(self._own(import_blocks), _block(job, number))
        lines: str | None = (await self._connection.execute(query)).scalar_one_or_none()
        return lines

    async def remove_block(self, job: JobId, number: int) -> None:
        """A block is worked through."""
        await self._connection.execute(delete(import_blocks).where(self._own(import_blocks), _block(job, number)))

    async def clear_blocks(self) -> None:
        """Remove the lines of jobs that ended before they had worked them through."""
        await self._connection.execute(delete(import_blocks).where(self._own(import_blocks)))

    async def _rows(self, query: Select[Any]) -> Sequence[Row]:
        return [dict(row._mapping) for row in await self._connection.execute(query)]


def _block(job: JobId, number: int) -> ColumnElement[bool]:
    return (import_blocks.c.job_id == job) & (import_blocks.c.number == number)
