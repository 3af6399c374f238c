"""What the doctor reads of one namespace beyond what the other repositories give, and what a repair writes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table, delete, exists, func, or_, select, update

from app.domain.ids import EpisodeId, StatementId, ThemeId
from app.domain.jobs import OPEN_STATES, JobState, Step
from app.domain.late import WIDTH
from app.domain.levels import Level
from app.domain.messages import Message
from app.domain.vectors import Vector, unit
from app.storage.items import ITEMS, stray
from app.storage.messages import to_message
from app.storage.repository import IN_LIMIT, Repository
from app.storage.schema import metadata
from app.storage.tables import (
    citations,
    embeddings,
    episodes,
    jobs,
    messages,
    postings,
    statements,
    themes,
    word_statistics,
)

REFERENCES = [
    constraint
    for table in metadata.sorted_tables
    for constraint in sorted(table.foreign_key_constraints, key=lambda one: tuple(one.column_keys))
    if len(constraint.columns) > 1  # a row's own namespace: the directory looks for those
]


class DoctorRepository(Repository):
    """Looks over one namespace; never changes anything."""

    async def walk(self, after: int | None, limit: int) -> Sequence[Message]:
        """Messages of the namespace in the order of their sequence."""
        query = select(messages).where(self._own(messages))
        if after is not None:
            query = query.where(messages.c.sequence > after)
        rows = await self._connection.execute(query.order_by(messages.c.sequence).limit(limit))
        return [to_message(row) for row in rows]

    async def theme_rows(self, after: UUID | None, limit: int) -> Sequence[tuple[ThemeId, int, Vector, Vector]]:
        """Themes by id: size, vector sum and centroid."""
        query = select(themes.c.id, themes.c.size, themes.c.vector_sum, themes.c.centroid).where(self._own(themes))
        if after is not None:
            query = query.where(themes.c.id > after)
        rows = await self._connection.execute(query.order_by(themes.c.id).limit(limit))
        return [(ThemeId(row.id), row.size, row.vector_sum, row.centroid) for row in rows]

    async def postings(self, level: Level, items: Sequence[UUID]) -> Mapping[UUID, Mapping[str, tuple[int, int]]]:
        """The postings of these items: term → (frequency, length)."""
        found: dict[UUID, dict[str, tuple[int, int]]] = defaultdict(dict)
        columns = (postings.c.item_id, postings.c.term, postings.c.frequency, postings.c.length)
        for some in _chunks(items):
            query = select(*columns).where(
                self._own(postings), postings.c.level == level.value, postings.c.item_id.in_(some)
            )
            for row in await self._connection.execute(query):
                found[row.item_id][row.term] = (row.frequency, row.length)
        return found

    async def statistics(self) -> Mapping[str, tuple[int, int]]:
        """(documents, total length) by level."""
        rows = await self._connection.execute(select(word_statistics).where(self._own(word_statistics)))
        return {row.level: (row.documents, row.total_length) for row in rows}

    async def strays(self, table: Table) -> Mapping[str, Sequence[UUID]]:
        """Items of `embeddings` or `postings` that do not exist, by level."""
        query = select(table.c.level, table.c.item_id).where(self._own(table), stray(table)).distinct()
        found: dict[str, list[UUID]] = defaultdict(list)
        for row in await self._connection.execute(query.order_by(table.c.level, table.c.item_id)):
            found[row.level].append(row.item_id)
        return found

    async def torn_words(self) -> Mapping[str, Sequence[UUID]]:
        """Items with vectors of words that are not whole, by level."""
        torn = func.length(embeddings.c.word_vectors) % WIDTH != 0
        query = select(embeddings.c.level, embeddings.c.item_id).where(self._own(embeddings), torn).distinct()
        found: dict[str, list[UUID]] = defaultdict(list)
        for row in await self._connection.execute(query.order_by(embeddings.c.level, embeddings.c.item_id)):
            found[row.level].append(row.item_id)
        return found

    async def orphans(self) -> Mapping[str, Sequence[UUID]]:
        """Rows whose reference leads nowhere, by table and column."""
        found: dict[str, Sequence[UUID]] = {}
        for constraint in REFERENCES:
            table, parent = constraint.table, constraint.referred_table.alias("referred")
            same = [parent.c[element.column.name] == element.parent for element in constraint.elements]
            key, column = list(table.primary_key.columns)[1], constraint.column_keys[-1]
            query = select(key).where(self._own(table), table.c[column].is_not(None), ~exists().where(*same))
            lost = list((await self._connection.execute(query.order_by(key))).scalars())
            if lost:
                found[f"{table.name}.{column}"] = lost
        return found

    async def lost_successors(self) -> Sequence[StatementId]:
        """Statements that were superseded by one that does not exist."""
        newer = statements.alias("newer")
        there = exists().where(
            newer.c.namespace_id == statements.c.namespace_id, newer.c.id == statements.c.superseded_by
        )
        query = select(statements.c.id).where(self._own(statements), statements.c.superseded_by.is_not(None), ~there)
        return [StatementId(row.id) for row in await self._connection.execute(query.order_by(statements.c.id))]

    async def silent_jobs(self, before: datetime) -> Sequence[UUID]:
        """Running jobs that have shown no sign of life since `before`."""
        query = select(jobs.c.id).where(self._own(jobs), jobs.c.state == JobState.RUNNING, _silent(before))
        return list((await self._connection.execute(query.order_by(jobs.c.id))).scalars())

    async def open_keys(self, kind: Step) -> set[str]:
        """Keys of the jobs of this kind that wait or run."""
        query = select(jobs.c.key).where(self._own(jobs), jobs.c.kind == kind, jobs.c.state.in_(OPEN_STATES))
        return set((await self._connection.execute(query)).scalars())


class RepairRepository(Repository):
    """Writes what can be rebuilt. The namespace's row is locked."""

    async def set_episode(self, episode: EpisodeId, **values: Any) -> None:  # noqa: ANN401
        """An episode's numbers."""
        query = update(episodes).where(self._own(episodes), episodes.c.id == episode)
        await self._connection.execute(query.values(**values))

    async def count_support(self, ids: Sequence[UUID]) -> None:
        """Set each statement's support to the messages that it cites."""
        cited = (
            select(func.count())
            .where(self._own(citations), citations.c.statement_id == statements.c.id)
            .correlate(statements)
        )
        for some in _chunks(ids):
            query = update(statements).where(self._own(statements), statements.c.id.in_(some))
            await self._connection.execute(query.values(support=cited.scalar_subquery()))

    async def clear_postings(self, level: Level, items: Sequence[UUID]) -> None:
        """Remove the postings of these items."""
        for some in _chunks(items):
            query = delete(postings).where(self._own(postings), postings.c.level == level.value)
            await self._connection.execute(query.where(postings.c.item_id.in_(some)))

    async def clear_strays(self) -> None:
        """Remove postings and vectors of items that do not exist."""
        for table in (postings, embeddings):
            await self._connection.execute(delete(table).where(self._own(table), stray(table)))

    async def count_words(self) -> None:
        """Make the statistics those of the postings."""
        await self._connection.execute(delete(word_statistics).where(self._own(word_statistics)))
        for level, table in ITEMS.items():
            items = await self._connection.execute(select(func.count()).where(self._own(table)))
            documents = items.scalar_one()
            total = await self._connection.execute(
                select(func.coalesce(func.sum(postings.c.frequency), 0)).where(
                    self._own(postings), postings.c.level == level.value
                )
            )
            if documents:
                values = self._row(level=level.value, documents=documents, total_length=int(total.scalar_one()))
                await self._connection.execute(word_statistics.insert().values(values))

    async def set_theme(self, theme: ThemeId, size: int, vector_sum: Vector) -> None:
        """A theme's size, sum and centroid; its version rises."""
        query = update(themes).where(self._own(themes), themes.c.id == theme)
        await self._connection.execute(
            query.values(size=size, vector_sum=vector_sum, centroid=unit(vector_sum), version=themes.c.version + 1)
        )

    async def release_superseded(self, theme: ThemeId) -> None:
        """Superseded statements leave a theme that is about to end."""
        query = update(statements).where(self._own(statements), statements.c.theme_id == theme)
        await self._connection.execute(query.where(statements.c.superseded_by.is_not(None)).values(theme_id=None))

    async def release_silent(self, before: datetime) -> None:
        """Queue again what a silent worker held."""
        query = update(jobs).where(self._own(jobs), jobs.c.state == JobState.RUNNING, _silent(before))
        await self._connection.execute(query.values(state=JobState.QUEUED.value, token=None))

    async def newest_sequence(self) -> int:
        """That of the newest message; 0 if there is none."""
        found = await self._connection.execute(select(func.max(messages.c.sequence)).where(self._own(messages)))
        return found.scalar_one() or 0


def _silent(before: datetime) -> ColumnElement[bool]:
    return or_(jobs.c.heartbeat_at.is_(None), jobs.c.heartbeat_at < before)


def _chunks(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), IN_LIMIT):
        yield ordered[start : start + IN_LIMIT]
