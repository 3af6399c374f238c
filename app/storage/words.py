"""Our own inverted index: the same table, terms and statistics on both databases, per namespace and level."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import (
    JSON,
    Float,
    Select,
    cast,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from app.domain.bm25 import Formula, formula
from app.domain.levels import Level
from app.storage.dialects import json_pairs, unindexed
from app.storage.filters import Within
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import postings, word_statistics

IdT = TypeVar("IdT", bound=UUID)


@dataclass(frozen=True, slots=True)
class Matches:
    """The best matches of a question's words in one level, and how well the level's items match on the whole.

    `scores` maps item ids to their BM25, best first; `mean` and `deviation` are over all `count` items of the level,
    those without any of the words and those that a filter left out among them, so that a score means the same
    whatever the filter.
    """

    scores: Mapping[UUID, float]
    mean: float
    deviation: float
    count: int


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

    async def formula(self, level: Level, terms: Collection[str]) -> Formula:
        """How items of a level score for a question of these terms."""
        vocabulary = sorted(set(terms))
        documents, total = await self._statistics(level)
        counted = (
            select(postings.c.term, func.count())
            .where(self._own(postings), postings.c.level == level.value, postings.c.term.in_(vocabulary))
            .group_by(postings.c.term)
        )
        containing = {row[0]: row[1] for row in await self._connection.execute(counted)} if vocabulary else {}
        every = {term: containing.get(term, 0) for term in vocabulary}
        return formula(every, documents, total / documents if documents else 0.0)

    async def best(self, level: Level, asked: Formula, limit: int, within: Within | None = None) -> Matches:
        """The `limit` items that score highest; `within` limits them to items of a joined table.

        The database adds up, and hands over no more than these: a frequent word is in very many items.
        """
        count = asked.documents
        if not asked.weights:
            return Matches({}, 0.0, 0.0, count)
        scored = self._scored(level, asked).cte("scored")
        total, squares = func.sum(scored.c.score), func.sum(scored.c.score * scored.c.score)
        spread = select(func.coalesce(total, 0.0).label("total"), func.coalesce(squares, 0.0).label("squares")).cte()
        query = self._best_beside(spread, scored, limit, within)
        rows = (await self._connection.execute(query)).all()
        mean, square = rows[0].total / max(count, 1), rows[0].squares / max(count, 1)
        scores = {row.item_id: row.score for row in rows if row.item_id is not None}
        return Matches(scores, mean, math.sqrt(max(square - mean * mean, 0.0)), count)

    async def scores(self, level: Level, asked: Formula, items: Iterable[UUID]) -> Mapping[UUID, float]:
        """What these items score; those without any of the words are left out."""
        wanted, found = sorted(set(items)), dict[UUID, float]()
        for start in range(0, len(wanted) if asked.weights else 0, IN_LIMIT):
            chunk = postings.c.item_id.in_(wanted[start : start + IN_LIMIT])
            rows = await self._connection.execute(self._scored(level, asked).where(chunk))
            found |= {row.item_id: row.score for row in rows}
        return found

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

    def _scored(self, level: Level, asked: Formula) -> Select[Any]:
        """Each item that has any of the words with its BM25."""
        # One document, not a row of parameters a term: whatever their number, it is the same statement, compiled once.
        weights = json_pairs(literal(dict(asked.weights), JSON())).table_valued("key", "value", name="asked")
        times = cast(postings.c.frequency, Float)
        damping = times + asked.base + asked.slope * postings.c.length
        item = unindexed(postings.c.item_id)
        return (
            select(item.label("item_id"), func.sum(cast(weights.c.value, Float) * times / damping).label("score"))
            .select_from(weights.join(postings, postings.c.term == weights.c.key))
            .where(self._own(postings), postings.c.level == level.value)
            .group_by(item)
        )

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
            row = self._row(level=level.value, documents=items, total_length=terms)
            await self._connection.execute(insert(word_statistics).values(row))
