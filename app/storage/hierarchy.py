"""Reads across the levels of memory: what is in themes, what is near them, and what rests on what."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from sqlalchemy import Executable, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.ids import EpisodeId, MessageId, StatementId, ThemeId
from app.domain.levels import Level
from app.domain.namespaces import Namespace
from app.domain.vectors import Matrix
from app.storage.repository import Repository
from app.storage.statements import CURRENT
from app.storage.tables import citations, embeddings, messages, statements, themes
from app.storage.vectors import inner_product

PORTION = 1000  # rows; what takes longest, 1,000 vectors, is read in some 10 ms
SHOWN_CHARACTERS = 200  # of a message that stands in a graph: enough to tell which one it is


@dataclass(frozen=True, slots=True)
class Inside:
    """A statement in its theme. `similarity` is its cosine to the centroid; None if it has no vector."""

    id: StatementId
    text: str
    occurred_at: datetime
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Centroids:
    """The unit centroids of themes: `ids`, ascending, and one row of `matrix` for each."""

    ids: Sequence[ThemeId]
    matrix: Matrix


NO_CENTROIDS = Centroids((), np.zeros((0, 1), np.float32))


class Stated(NamedTuple):
    """A current statement, without the messages that it cites."""

    id: StatementId
    theme: ThemeId | None
    text: str
    kind: str
    support: int
    occurred_at: datetime


class Support(NamedTuple):
    """A current statement, a message that it cites, and the episode of that message if it has one."""

    statement: StatementId
    message: MessageId
    episode: EpisodeId | None


class Glimpse(NamedTuple):
    """A message with the beginning of its content."""

    id: MessageId
    sequence: int
    speaker: str
    beginning: str
    occurred_at: datetime
    episode: EpisodeId | None


class HierarchyRepository(Repository):
    """The hierarchy of one namespace. Every method is one query."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace) -> None:
        super().__init__(connection, namespace.id)
        self._generation = namespace.generation

    async def inside(self, ids: Sequence[ThemeId]) -> Mapping[ThemeId, Sequence[Inside]]:
        """The current statements of these themes, each theme's closest to its centroid first."""
        closeness = case((embeddings.c.vector.is_not(None), inner_product(embeddings.c.vector, themes.c.centroid)))
        its_theme = (themes.c.namespace_id == statements.c.namespace_id) & (themes.c.id == statements.c.theme_id)
        its_vector = (
            (embeddings.c.namespace_id == statements.c.namespace_id)
            & (embeddings.c.generation == self._generation)
            & (embeddings.c.level == Level.STATEMENT.value)
            & (embeddings.c.item_id == statements.c.id)
            & (embeddings.c.part == 0)
        )
        columns = (statements.c.id, statements.c.text, statements.c.occurred_at, closeness.label("closeness"))
        query = select(statements.c.theme_id, *columns).where(
            self._own(statements), CURRENT, statements.c.theme_id.in_(ids)
        )
        found: dict[ThemeId, list[Inside]] = defaultdict(list)
        for row in await self._connection.execute(query.join(themes, its_theme).outerjoin(embeddings, its_vector)):
            found[ThemeId(row.theme_id)].append(_inside(row))
        return {theme: sorted(group, key=_closest_first) for theme, group in found.items()}

    async def centroids(self) -> Centroids:
        """The centroids of all themes: 1.5 kB each with 384 dimensions."""
        query = select(themes.c.id, themes.c.centroid).where(self._own(themes)).order_by(themes.c.id)
        rows = await self._all(query)
        if not rows:
            return NO_CENTROIDS
        return Centroids([ThemeId(row.id) for row in rows], np.stack([row.centroid for row in rows]))

    async def spans(self) -> Mapping[ThemeId, tuple[datetime, datetime]]:
        """First and last event time of the statements of every theme."""
        times = (func.min(statements.c.occurred_at), func.max(statements.c.occurred_at))
        query = select(statements.c.theme_id, *times).where(
            self._own(statements), CURRENT, statements.c.theme_id.is_not(None)
        )
        return {ThemeId(row[0]): (row[1], row[2]) for row in await self._all(query.group_by(statements.c.theme_id))}

    async def statements(self) -> Sequence[Stated]:
        """All current statements, in order of arrival."""
        names = ("id", "theme_id", "text", "kind", "support", "occurred_at")
        query = select(*(statements.c[name] for name in names)).where(self._own(statements), CURRENT)
        return [Stated(*row) for row in await self._all(query.order_by(statements.c.id))]

    async def count_citations(self) -> int:
        """How many pairs of a statement, current or not, and a message that it cites there are."""
        query = select(func.count()).select_from(citations).where(self._own(citations))
        return (await self._connection.execute(query)).scalar_one()

    async def support(self) -> Sequence[Support]:
        """What all current statements rest on, statement by statement."""
        stated = (statements.c.namespace_id == citations.c.namespace_id) & (statements.c.id == citations.c.statement_id)
        said = (messages.c.namespace_id == citations.c.namespace_id) & (messages.c.id == citations.c.message_id)
        query = select(citations.c.statement_id, citations.c.message_id, messages.c.episode_id).where(
            self._own(citations), CURRENT
        )
        query = query.join(statements, stated).join(messages, said)
        rows = await self._all(query.order_by(citations.c.statement_id, citations.c.message_id))
        return [Support(*row) for row in rows]

    async def glimpses(self) -> Sequence[Glimpse]:
        """All messages, in their order."""
        speaker = func.coalesce(messages.c.speaker, messages.c.role)
        beginning = func.substr(messages.c.content, 1, SHOWN_CHARACTERS)
        columns = (messages.c.id, messages.c.sequence, speaker, beginning, messages.c.occurred_at)
        query = select(*columns, messages.c.episode_id).where(self._own(messages))
        return [Glimpse(*row) for row in await self._all(query.order_by(messages.c.sequence))]

    async def _all(self, query: Executable) -> Sequence[Any]:
        """Many rows, fetched a portion at a time: others get their turn in between."""
        rows: list[Any] = []
        async with self._connection.stream(query) as result:
            async for portion in result.partitions(PORTION):
                rows += portion
        return rows


def _inside(row: Any) -> Inside:  # noqa: ANN401
    closeness = None if row.closeness is None else float(row.closeness)
    return Inside(StatementId(row.id), row.text, row.occurred_at, closeness)


def _closest_first(inside: Inside) -> tuple[float, UUID]:
    return -(inside.similarity or 0.0), inside.id
