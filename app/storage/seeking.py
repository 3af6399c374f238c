"""Every row of every table of the database, ours or not, as the driver gives it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import func, inspect, quoted_name, select, table, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.tables import postings

PORTION = 500  # rows held at once


class Everything:
    """Reads across namespaces, for whoever administers the database and looks for what must not be there."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def tables(self) -> Sequence[str]:
        """The names of all tables."""
        return sorted(await self._connection.run_sync(lambda bound: inspect(bound).get_table_names()))

    async def rows(self, name: str) -> AsyncIterator[Mapping[str, Any]]:
        """The rows of a table, by column."""
        every = select(text("*")).select_from(table(quoted_name(name, quote=True)))
        async with self._connection.stream(every) as result:
            async for portion in result.mappings().partitions(PORTION):
                for row in portion:
                    yield row

    async def indexed(self, terms: Collection[str]) -> Sequence[UUID]:
        """Items that are found by all of these terms together."""
        query = (
            select(postings.c.item_id)
            .where(postings.c.term.in_(sorted(terms)))
            .group_by(postings.c.namespace_id, postings.c.level, postings.c.item_id)
            .having(func.count() == len(set(terms)))
        )
        return list((await self._connection.execute(query.order_by(postings.c.item_id))).scalars())
