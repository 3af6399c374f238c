"""Stored vectors of messages, episodes and statements and of their words, and exact search inside one namespace."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from sqlalchemy import ColumnElement, Select, Table, delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.ids import NamespaceId
from app.domain.late import WORD_LEVELS, Embedding, WordVectors
from app.domain.levels import Level
from app.domain.vectors import Vector
from app.storage.filters import Within
from app.storage.items import there
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import embeddings
from app.storage.vectors import similarity

IdT = TypeVar("IdT", bound=UUID)

FIRST_PART = 0  # every item with vectors has it: counted instead of the item


@dataclass(frozen=True, slots=True)
class Nearest:
    """The best matches of a question in one level, and how similar the level's items are to it on the whole.

    `similarities` maps item ids to cosines, best first; `mean` and `deviation` are over all items of the
    level, also those that a filter left out, so that a score means the same whatever the filter.
    """

    similarities: Mapping[UUID, float]
    mean: float
    deviation: float
    count: int


class EmbeddingRepository(Repository):
    """Vectors of one generation of a namespace, all of length 1 and of one embedding profile."""

    def __init__(self, connection: AsyncConnection, namespace: NamespaceId, generation: int) -> None:
        super().__init__(connection, namespace)
        self._generation = generation

    def _own(self, table: Table) -> ColumnElement[bool]:
        """Condition: the row belongs to this namespace and, if it is a vector, to this generation."""
        owned = super()._own(table)
        return owned & (embeddings.c.generation == self._generation) if table is embeddings else owned

    async def add(self, level: Level, embeddings_of: Mapping[IdT, Sequence[Embedding]]) -> None:
        """Store what was made of each item, one row a part."""
        rows = [
            self._row(
                generation=self._generation,
                level=level.value,
                item_id=item,
                part=part,
                vector=embedding.vector,
                word_vectors=embedding.words if level in WORD_LEVELS else None,
            )
            for item, parts in embeddings_of.items()
            for part, embedding in enumerate(parts)
        ]
        if rows:
            await self._connection.execute(insert(embeddings), rows)

    async def replace(self, level: Level, embeddings_of: Mapping[IdT, Sequence[Embedding]]) -> None:
        """Store what was made of each item in the place of what it had: its text is another one now."""
        await self.remove(level, embeddings_of)
        await self.add(level, embeddings_of)

    async def remove(self, level: Level, ids: Iterable[UUID]) -> None:
        """Remove the vectors of these items, also those that are being made ready for another profile."""
        wanted = sorted(set(ids))
        for start in range(0, len(wanted), IN_LIMIT):
            query = delete(embeddings).where(super()._own(embeddings), embeddings.c.level == level.value)
            await self._connection.execute(query.where(embeddings.c.item_id.in_(wanted[start : start + IN_LIMIT])))

    async def nearest(self, level: Level, query: Vector, limit: int, within: Within | None = None) -> Nearest:
        """The `limit` items most similar to `query`; an item of several parts counts by its best one.

        `within` limits the matches to items of a joined table.
        """
        scored = self._scored(level, query).cte("scored")
        spread = select(
            func.count().label("known"),
            func.avg(scored.c.score).label("mean"),
            func.avg(scored.c.score * scored.c.score).label("square"),
        ).select_from(scored)
        best = self._best_beside(spread.cte(), scored, limit, within)
        rows = (await self._connection.execute(best)).all()
        known = rows[0].known
        if not known:
            return Nearest({}, 0.0, 0.0, 0)
        mean, square = float(rows[0].mean), float(rows[0].square)
        similarities = {row.item_id: float(row.score) for row in rows if row.item_id is not None}
        return Nearest(similarities, mean, math.sqrt(max(square - mean * mean, 0.0)), known)

    async def similarities(self, level: Level, query: Vector, ids: Iterable[UUID]) -> Mapping[UUID, float]:
        """Cosine similarity of these items with `query`; items without a vector are left out."""
        wanted = sorted(set(ids))
        found: dict[UUID, float] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = self._scored(level, query).where(embeddings.c.item_id.in_(wanted[start : start + IN_LIMIT]))
            found |= {row.item_id: float(row.score) for row in await self._connection.execute(chunk)}
        return found

    async def vectors(self, level: Level, ids: Iterable[UUID]) -> Mapping[UUID, Vector]:
        """The first part's vector of each item."""
        wanted = sorted(set(ids))
        found: dict[UUID, Vector] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(embeddings.c.item_id, embeddings.c.vector).where(
                self._own(embeddings),
                embeddings.c.level == level.value,
                embeddings.c.part == FIRST_PART,
                embeddings.c.item_id.in_(wanted[start : start + IN_LIMIT]),
            )
            found |= {row.item_id: row.vector for row in await self._connection.execute(query)}
        return found

    async def parts(self, level: Level, ids: Iterable[UUID]) -> Mapping[UUID, Sequence[tuple[int, Vector]]]:
        """All vectors of each item, with their part; items without a vector are left out."""
        wanted = sorted(set(ids))
        found: dict[UUID, list[tuple[int, Vector]]] = defaultdict(list)
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(embeddings.c.item_id, embeddings.c.part, embeddings.c.vector).where(
                self._own(embeddings),
                embeddings.c.level == level.value,
                embeddings.c.item_id.in_(wanted[start : start + IN_LIMIT]),
            )
            for row in await self._connection.execute(query):
                found[row.item_id].append((row.part, row.vector))
        return found

    async def words(self, level: Level, ids: Iterable[UUID]) -> Mapping[UUID, WordVectors]:
        """The vectors of each item's words, of all its parts; items of which none were made are left out."""
        wanted = sorted(set(ids))
        found: dict[UUID, list[WordVectors]] = defaultdict(list)
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(embeddings.c.item_id, embeddings.c.word_vectors).where(
                self._own(embeddings),
                embeddings.c.level == level.value,
                embeddings.c.item_id.in_(wanted[start : start + IN_LIMIT]),
                embeddings.c.word_vectors.is_not(None),
            )
            for row in await self._connection.execute(query.order_by(embeddings.c.item_id, embeddings.c.part)):
                found[row.item_id].append(row.word_vectors)
        return {item: parts[0] if len(parts) == 1 else np.concatenate(parts) for item, parts in found.items()}

    async def lack_words(self) -> bool:
        """Whether an item of `WORD_LEVELS` has vectors and none of its words."""
        for level in WORD_LEVELS:
            query = select(embeddings.c.item_id).where(
                self._own(embeddings),
                embeddings.c.level == level.value,
                embeddings.c.word_vectors.is_(None),
                there(embeddings, level),
            )
            if (await self._connection.execute(query.limit(1))).first() is not None:
                return True
        return False

    def _scored(self, level: Level, query: Vector) -> Select[Any]:
        """Each item with its similarity, that of its best part."""
        score = func.max(similarity(embeddings.c.vector, query)).label("score")
        return (
            select(embeddings.c.item_id, score)
            .where(self._own(embeddings), embeddings.c.level == level.value)
            .group_by(embeddings.c.item_id)
        )
