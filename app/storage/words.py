"""Our own inverted index: the same table, terms and statistics on both databases, per namespace and level."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from sqlalchemy import ColumnElement, delete, exists, func, insert, select, update

from app.domain.bm25 import Postings
from app.domain.levels import Level
from app.storage.filters import Within
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import postings, word_statistics

IdT = TypeVar("IdT", bound=UUID)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where a question's terms occur in a level: `postings` number the items by their place in `items`."""

    items: tuple[UUID, ...]
    postings: Postings


class WordRepository(Repository):
    """Postings of one namespace."""

    async def add(self, level: Level, documents: Mapping[IdT, Sequence[str]]) -> None:
        """Index items' terms (with repeats). Each item is added once; the namespace's row must be locked."""
        rows = [
            self._row(level=level.value, term=term, item_id=item, frequency=count, length=len(terms))
            for item, terms in documents.items()
            for term, count in Counter(terms).items()
        ]
        if rows:
            await self._connection.execute(insert(postings), rows)
        await self._count(level, len(documents), sum(len(terms) for terms in documents.values()))

    async def replace(self, level: Level, documents: Mapping[IdT, Sequence[str]]) -> None:
        """Index items that are indexed already anew: their texts are others now."""
        await self.remove(level, documents)
        await self.add(level, documents)

    async def lookup(self, level: Level, terms: Sequence[str], within: Within | None = None) -> Occurrences:
        """All occurrences of `terms` in a level; `within` limits the items to those of a joined table."""
        vocabulary = sorted(set(terms))
        documents, total = await self._statistics(level)
        matches = (self._own(postings), postings.c.level == level.value, postings.c.term.in_(vocabulary))
        rows = await self._rows(matches, within) if vocabulary else []
        containing = await self._containing(matches) if vocabulary else {}
        items = tuple(dict.fromkeys(row.item_id for row in rows))
        number = {item: index for index, item in enumerate(items)}
        place = {term: index for index, term in enumerate(vocabulary)}
        return Occurrences(
            items,
            Postings(
                items=len(items),
                item=np.array([number[row.item_id] for row in rows], dtype=np.intp),
                term=np.array([place[row.term] for row in rows], dtype=np.intp),
                frequency=np.array([row.frequency for row in rows], dtype=np.float64),
                length=np.array([row.length for row in rows], dtype=np.float64),
                containing=np.array([containing.get(term, 0) for term in vocabulary], dtype=np.float64),
                documents=documents,
                mean_length=total / documents if documents else 0.0,
            ),
        )

    async def spread(self, level: Level, items: Collection[UUID], most: int) -> Mapping[str, int]:
        """For each term of these items in how many items of the level it occurs; of more than `most`, `most`."""
        other, found = postings.alias(), dict[str, int]()
        same = (other.c.namespace_id == self._namespace, other.c.level == level.value)
        wanted = sorted(items)
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = (postings.c.level == level.value, postings.c.item_id.in_(wanted[start : start + IN_LIMIT]))
            asked = select(postings.c.term).where(self._own(postings), *chunk).distinct().subquery("asked")
            few = select(other.c.item_id).where(*same, other.c.term == asked.c.term).limit(most).correlate(asked)
            count = select(func.count()).select_from(few.subquery("few")).scalar_subquery().correlate(asked)
            found |= {row[0]: row[1] for row in await self._connection.execute(select(asked.c.term, count))}
        return found

    async def lonely(self, level: Level, items: Collection[UUID]) -> set[str]:
        """The terms that no other items of the level hold than these, which are a few hundred at most."""
        other, these = postings.alias(), sorted(items)
        elsewhere = exists().where(
            other.c.namespace_id == self._namespace,
            other.c.level == level.value,
            other.c.term == postings.c.term,
            other.c.item_id.not_in(these),
        )
        query = select(postings.c.term).where(
            self._own(postings), postings.c.level == level.value, postings.c.item_id.in_(these), ~elsewhere
        )
        return set((await self._connection.execute(query.distinct())).scalars())

    async def holding(self, level: Level, terms: Collection[str]) -> set[UUID]:
        """The items of a level that hold any of these terms."""
        wanted, found = sorted(terms), set[UUID]()
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = postings.c.term.in_(wanted[start : start + IN_LIMIT])
            query = select(postings.c.item_id).where(self._own(postings), postings.c.level == level.value, chunk)
            found |= set((await self._connection.execute(query.distinct())).scalars())
        return found

    async def documents(self, level: Level) -> int:
        """How many items of the level are indexed; of statements also those that were superseded."""
        documents, _ = await self._statistics(level)
        return documents

    async def remove(self, level: Level, items: Collection[UUID]) -> None:
        """Remove the postings of these items, which have some."""
        wanted = sorted(items)
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = wanted[start : start + IN_LIMIT]
            inside = (postings.c.level == level.value, postings.c.item_id.in_(chunk))
            total = select(func.coalesce(func.sum(postings.c.frequency), 0)).where(self._own(postings), *inside)
            await self._count(level, -len(chunk), -int((await self._connection.execute(total)).scalar_one()))
            await self._connection.execute(delete(postings).where(self._own(postings), *inside))

    async def _rows(self, matches: Sequence[ColumnElement[bool]], within: Within | None) -> Sequence[Any]:
        columns = (postings.c.item_id, postings.c.term, postings.c.frequency, postings.c.length)
        query = select(*columns).where(*matches).order_by(postings.c.item_id, postings.c.term)
        if within is not None:
            table, condition = within
            same = (table.c.namespace_id == postings.c.namespace_id) & (table.c.id == postings.c.item_id)
            query = query.select_from(postings.join(table, same)).where(condition)
        return (await self._connection.execute(query)).all()

    async def _containing(self, matches: Sequence[ColumnElement[bool]]) -> Mapping[str, int]:
        query = select(postings.c.term, func.count()).where(*matches).group_by(postings.c.term)
        return {row[0]: row[1] for row in await self._connection.execute(query)}

    async def _statistics(self, level: Level) -> tuple[int, int]:
        query = select(word_statistics.c.documents, word_statistics.c.total_length).where(
            self._own(word_statistics), word_statistics.c.level == level.value
        )
        row = (await self._connection.execute(query)).one_or_none()
        return (0, 0) if row is None else (row.documents, row.total_length)

    async def _count(self, level: Level, items: int, terms: int) -> None:
        changed = await self._connection.execute(
            update(word_statistics)
            .where(self._own(word_statistics), word_statistics.c.level == level.value)
            .values(documents=word_statistics.c.documents + items, total_length=word_statistics.c.total_length + terms)
        )
        if changed.rowcount == 0:
            values: dict[str, Any] = self._row(level=level.value, documents=items, total_length=terms)
            await self._connection.execute(insert(word_statistics).values(values))
