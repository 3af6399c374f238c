"""Vectors that are being made ready for another embedding profile: the next generation, which nothing reads yet.

From the switch on (`Directory.switch_embeddings`) it is the one that is read, and the one before it is left over.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import and_, delete, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.levels import Level
from app.domain.namespaces import Namespace
from app.storage.embeddings import FIRST_PART, EmbeddingRepository
from app.storage.items import there
from app.storage.repository import Repository
from app.storage.tables import embeddings


class StagingRepository(Repository):
    """The vectors of a namespace's next generation, and those that no generation needs any more."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace) -> None:
        super().__init__(connection, namespace.id)
        self.ready = EmbeddingRepository(connection, namespace.id, namespace.next_generation)
        self._present, self._next = namespace.generation, namespace.next_generation
        generation = embeddings.c.generation
        given_up = generation <= self._next if namespace.next_profile is None else generation < self._next
        self._rest = (generation < self._present, and_(generation > self._present, given_up))  # each a range of the key

    async def last(self, level: Level) -> UUID | None:
        """The highest item that is ready: they are made in the order of their ids."""
        query = select(embeddings.c.item_id).where(
            self._own(embeddings), embeddings.c.generation == self._next, embeddings.c.level == level.value
        )
        found = await self._connection.execute(query.order_by(embeddings.c.item_id.desc()).limit(1))
        return found.scalar_one_or_none()

    async def missing(self, level: Level, after: UUID | None, limit: int) -> Sequence[UUID]:
        """Items with a vector that is read and none that is ready, in the order of their ids."""
        ready = embeddings.alias("ready")
        is_ready = exists().where(
            ready.c.namespace_id == embeddings.c.namespace_id,
            ready.c.generation == self._next,
            ready.c.level == embeddings.c.level,
            ready.c.item_id == embeddings.c.item_id,
            ready.c.part == FIRST_PART,
        )
        query = select(embeddings.c.item_id).where(
            self._own(embeddings),
            embeddings.c.generation == self._present,
            embeddings.c.level == level.value,
            embeddings.c.part == FIRST_PART,
            there(embeddings, level),
            ~is_ready,
        )
        if after is not None:
            query = query.where(embeddings.c.item_id > after)
        return list((await self._connection.execute(query.order_by(embeddings.c.item_id).limit(limit))).scalars())

    async def tally(self) -> tuple[int, int]:
        """(items that are ready, items with a vector that is read)."""
        return await self._items(self._next), await self._items(self._present)

    async def count_unread(self) -> int:
        """Vectors that nothing reads: those that are ready, and what is left over."""
        query = select(func.count()).where(self._own(embeddings), embeddings.c.generation != self._present)
        return (await self._connection.execute(query.select_from(embeddings))).scalar_one()

    async def remove_rest(self, limit: int) -> bool:
        """Remove some of what is left over, the vectors of at most `limit` items. False if there were none."""
        for rest in self._rest:
            first = select(embeddings.c.generation, embeddings.c.level).where(self._own(embeddings), rest)
            found = (await self._connection.execute(first.limit(1))).one_or_none()
            if found is not None:
                await self._remove(found.generation, found.level, limit)
                return True
        return False

    async def _remove(self, generation: int, level: str, limit: int) -> None:
        group = (embeddings.c.generation == generation, embeddings.c.level == level)
        some = select(embeddings.c.item_id).where(self._own(embeddings), *group).distinct().limit(limit)
        ids = list((await self._connection.execute(some.order_by(embeddings.c.item_id))).scalars())
        gone = delete(embeddings).where(self._own(embeddings), *group, embeddings.c.item_id.in_(ids))
        await self._connection.execute(gone)

    async def _items(self, generation: int) -> int:
        query = select(func.count()).where(
            self._own(embeddings), embeddings.c.generation == generation, embeddings.c.part == FIRST_PART
        )
        return (await self._connection.execute(query.select_from(embeddings))).scalar_one()
