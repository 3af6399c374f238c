"""Our own inverted index: the same table, terms and statistics on both databases, per namespace and level."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, FromClause, func, insert, select, update

from app.domain.levels import Level
from app.storage.repository import Repository
from app.storage.tables import postings, word_statistics


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a question's terms occur. Arrays are parallel, shape (n,), one entry a (term, item) pair.

    `items` are ids; `terms` index into `vocabulary`; `document_frequency` (v,) counts the level's items that
    hold each term, filtered or not; `count` and `mean_length` describe the whole level.
    """

    vocabulary: tuple[str, ...]
    items: tuple[UUID, ...]
    terms: NDArray[np.int64]
    frequencies: NDArray[np.float64]
    lengths: NDArray[np.float64]
    document_frequency: NDArray[np.float64]
    count: int
    mean_length: float


class WordRepository(Repository):
    """Postings of one namespace."""

    async def add(self, level: Level, documents: Mapping[UUID, Sequence[str]]) -> None:
        """Index items' terms (with repeats). Each item is added once; the namespace's row must be locked."""
        rows = [
            self._row(level=level.value, term=term, item_id=item, frequency=count, length=len(terms))
            for item, terms in documents.items()
            for term, count in Counter(terms).items()
        ]
        if rows:
            await self._connection.execute(insert(postings), rows)
        await self._count(level, len(documents), sum(len(terms) for terms in documents.values()))

    async def lookup(
        self, level: Level, terms: Sequence[str], within: tuple[FromClause, ColumnElement[bool]] | None = None
    ) -> Postings:
        """All occurrences of `terms` in a level; `within` limits the items to those of a joined table."""
        vocabulary = tuple(sorted(set(terms)))
        count, total = await self._statistics(level)
        matches = (self._own(postings), postings.c.level == level.value, postings.c.term.in_(vocabulary))
        query = select(postings.c.item_id, postings.c.term, postings.c.frequency, postings.c.length).where(*matches)
        if within is not None:
            table, condition = within
            query = query.select_from(
                postings.join(
                    table, (table.c.namespace_id == postings.c.namespace_id) & (table.c.id == postings.c.item_id)
                )
            ).where(condition)
        rows = (await self._connection.execute(query)).all() if vocabulary else []
        by_term = select(postings.c.term, func.count()).where(*matches).group_by(postings.c.term)
        held: dict[str, int] = (
            {row[0]: row[1] for row in await self._connection.execute(by_term)} if vocabulary else {}
        )
        index = {term: position for position, term in enumerate(vocabulary)}
        return Postings(
            vocabulary,
            tuple(row.item_id for row in rows),
            np.array([index[row.term] for row in rows], dtype=np.int64),
            np.array([row.frequency for row in rows], dtype=np.float64),
            np.array([row.length for row in rows], dtype=np.float64),
            np.array([held.get(term, 0) for term in vocabulary], dtype=np.float64),
            count,
            total / count if count else 0.0,
        )

    async def _statistics(self, level: Level) -> tuple[int, int]:
        query = select(word_statistics.c.items, word_statistics.c.terms).where(
            self._own(word_statistics), word_statistics.c.level == level.value
        )
        row = (await self._connection.execute(query)).one_or_none()
        return (0, 0) if row is None else (row.items, row.terms)

    async def _count(self, level: Level, items: int, terms: int) -> None:
        changed = await self._connection.execute(
            update(word_statistics)
            .where(self._own(word_statistics), word_statistics.c.level == level.value)
            .values(items=word_statistics.c.items + items, terms=word_statistics.c.terms + terms)
        )
        if changed.rowcount == 0:
            values: dict[str, Any] = self._row(level=level.value, items=items, terms=terms)
            await self._connection.execute(insert(word_statistics).values(values))
