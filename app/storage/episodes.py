"""Episodes: closed runs of messages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, func, insert, select, update

from app.domain.accounts import Told
from app.domain.episodes import BoundaryReason, Episode
from app.domain.errors import NotFound
from app.domain.ids import ConversationId, EpisodeId
from app.domain.provenance import MadeBy
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import episodes


def to_episode(row: Row[Any]) -> Episode:
    """An episode row as a value."""
    return Episode(
        id=EpisodeId(row.id),
        conversation=ConversationId(row.conversation_id),
        title=row.title,
        narrative=row.narrative,
        message_count=row.message_count,
        tokens=row.tokens,
        first_sequence=row.first_sequence,
        last_sequence=row.last_sequence,
        started_at=row.started_at,
        ended_at=row.ended_at,
        boundary_reason=BoundaryReason(row.boundary_reason),
        degraded=row.degraded,
        made_by=MadeBy(**row.made_by),
        admitted=row.admitted_at is not None,
    )


class EpisodeRepository(Repository):
    """Episodes of one namespace."""

    async def add(self, episode: Episode, now: datetime) -> None:
        """Insert a new, not yet admitted episode."""
        await self._connection.execute(
            insert(episodes).values(
                self._row(
                    id=episode.id,
                    conversation_id=episode.conversation,
                    title=episode.title,
                    narrative=episode.narrative,
                    message_count=episode.message_count,
                    tokens=episode.tokens,
                    first_sequence=episode.first_sequence,
                    last_sequence=episode.last_sequence,
                    started_at=episode.started_at,
                    ended_at=episode.ended_at,
                    boundary_reason=episode.boundary_reason.value,
                    degraded=episode.degraded,
                    made_by=asdict(episode.made_by),
                    admitted_at=None,
                    created_at=now,
                )
            )
        )

    async def get(self, episode: EpisodeId) -> Episode:
        """One episode. Raises NotFound."""
        query = select(episodes).where(self._own(episodes), episodes.c.id == episode)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("no such episode")
        return to_episode(row)

    async def many(self, ids: Iterable[EpisodeId]) -> Mapping[EpisodeId, Episode]:
        """Episodes by id; ids that do not exist here are left out."""
        wanted = sorted(set(ids))
        found: dict[EpisodeId, Episode] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(episodes).where(self._own(episodes), episodes.c.id.in_(wanted[start : start + IN_LIMIT]))
            found |= {EpisodeId(row.id): to_episode(row) for row in await self._connection.execute(query)}
        return found

    async def page(self, after: UUID | None, limit: int) -> Sequence[Episode]:
        """Episodes in the order they were made."""
        query = select(episodes).where(self._own(episodes))
        if after is not None:
            query = query.where(episodes.c.id > after)
        rows = await self._connection.execute(query.order_by(episodes.c.id).limit(limit))
        return [to_episode(row) for row in rows]

    async def mark_admitted(self, episode: EpisodeId, now: datetime) -> bool:
        """Record that the episode's statements are in. False if they were in already."""
        changed = await self._connection.execute(
            update(episodes)
            .where(self._own(episodes), episodes.c.id == episode, episodes.c.admitted_at.is_(None))
            .values(admitted_at=now)
        )
        return changed.rowcount == 1

    async def tell(self, episode: EpisodeId, told: Told, made_by: MadeBy) -> bool:
        """Store the title and narrative that a model wrote. False if one has written them already."""
        changed = await self._connection.execute(
            update(episodes)
            .where(self._own(episodes), episodes.c.id == episode, episodes.c.degraded)
            .values(title=told.title, narrative=told.narrative, degraded=False, made_by=asdict(made_by))
        )
        return changed.rowcount == 1

    async def degraded(self, limit: int) -> Sequence[tuple[EpisodeId, int]]:
        """Admitted episodes whose title and narrative stand in for better ones, with their first sequence."""
        query = select(episodes.c.id, episodes.c.first_sequence).where(
            self._own(episodes), episodes.c.degraded, episodes.c.admitted_at.is_not(None)
        )
        rows = await self._connection.execute(query.order_by(episodes.c.first_sequence).limit(limit))
        return [(EpisodeId(row.id), row.first_sequence) for row in rows]

    async def not_admitted(self) -> Sequence[tuple[EpisodeId, int]]:
        """Episodes without their statements yet, with their first sequence."""
        query = select(episodes.c.id, episodes.c.first_sequence).where(
            self._own(episodes), episodes.c.admitted_at.is_(None)
        )
        rows = await self._connection.execute(query.order_by(episodes.c.first_sequence))
        return [(EpisodeId(row.id), row.first_sequence) for row in rows]

    async def counts(self) -> tuple[int, int]:
        """(episodes, of them degraded)."""
        degraded = func.count().filter(episodes.c.degraded)
        row = (await self._connection.execute(select(func.count(), degraded).where(self._own(episodes)))).one()
        return row[0], row[1]
