"""Conversations and their messages: the immutable log, and the buffer as a query over it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, and_, func, insert, select, update

from app.domain.errors import NotFound
from app.domain.filters import Filter
from app.domain.ids import ConversationId, EpisodeId, MessageId
from app.domain.levels import Level
from app.domain.messages import Image, Message, Role
from app.domain.namespaces import Conversation
from app.storage.filters import within
from app.storage.repository import IN_LIMIT, Repository, new_id
from app.storage.tables import conversations, messages


@dataclass(frozen=True, slots=True)
class Known:
    """A message already stored under a client's id; without a digest it was erased."""

    id: MessageId
    sequence: int
    digest: str | None


@dataclass(frozen=True, slots=True)
class Buffer:
    """Messages of one conversation that belong to no episode yet, in numbers."""

    conversation: ConversationId
    count: int
    first_sequence: int
    last_sequence: int
    last_recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands: all that ranking needs to know of it."""

    id: MessageId
    conversation: ConversationId
    position: int
    sequence: int
    speaker: str | None
    occurred_at: datetime


def to_place(row: Row[Any]) -> Place:
    """A row of `_places` as a value."""
    return Place(
        MessageId(row.id),
        ConversationId(row.conversation_id),
        row.position,
        row.sequence,
        row.speaker,
        row.occurred_at,
    )


def to_conversation(row: Row[Any], messages_in_it: int, last_occurred_at: datetime | None) -> Conversation:
    """A conversation row as a value."""
    return Conversation(
        ConversationId(row.id),
        row.name,
        row.created_at,
        messages_in_it,
        last_occurred_at,
        None if row.retention_seconds is None else timedelta(seconds=row.retention_seconds),
    )


def to_message(row: Row[Any]) -> Message:
    """A message row as a value."""
    return Message(
        id=MessageId(row.id),
        conversation=ConversationId(row.conversation_id),
        sequence=row.sequence,
        role=Role(row.role),
        content=row.content,
        occurred_at=row.occurred_at,
        recorded_at=row.recorded_at,
        position=row.position,
        external_id=row.external_id,
        speaker=row.speaker,
        images=tuple(Image(**image) for image in row.images),
        metadata=row.metadata,
        episode=None if row.episode_id is None else EpisodeId(row.episode_id),
    )


class MessageRepository(Repository):
    """Messages and conversations of one namespace."""

    async def find_conversation(self, name: str) -> ConversationId | None:
        """The conversation called `name`; None if there is none, or it is being erased."""
        query = select(conversations.c.id).where(
            self._own(conversations), conversations.c.name == name, conversations.c.deleted_at.is_(None)
        )
        found = (await self._connection.execute(query)).scalar_one_or_none()
        return None if found is None else ConversationId(found)

    async def conversation(self, name: str) -> ConversationId:
        """The conversation called `name`. Raises NotFound."""
        found = await self.find_conversation(name)
        if found is None:
            raise NotFound("no such conversation")
        return found

    async def get_or_create_conversation(self, name: str, now: datetime) -> ConversationId:
        """The conversation called `name`, made on first use. The namespace's row must be locked."""
        found = await self.find_conversation(name)
        if found is not None:
            return found
        made = new_id()
        await self._connection.execute(insert(conversations).values(self._row(id=made, name=name, created_at=now)))
        return ConversationId(made)

    async def list_conversations(
        self, after: UUID | None, limit: int, only: ConversationId | None = None
    ) -> Sequence[Conversation]:
        """Conversations, oldest first, or only one, with their size and newest event time."""
        count = func.count(messages.c.id)
        joined = conversations.outerjoin(
            messages,
            and_(
                messages.c.namespace_id == conversations.c.namespace_id,
                messages.c.conversation_id == conversations.c.id,
            ),
        )
        query = (
            select(conversations, count, func.max(messages.c.occurred_at))
            .select_from(joined)
            .where(self._own(conversations), conversations.c.deleted_at.is_(None))
            .group_by(conversations.c.namespace_id, conversations.c.id)
        )
        if only is not None:
            query = query.where(conversations.c.id == only)
        if after is not None:
            query = query.where(conversations.c.id > after)
        rows = await self._connection.execute(query.order_by(conversations.c.id).limit(limit))
        return [to_conversation(row, row[-2], row[-1]) for row in rows]

    async def conversation_names(self, ids: Iterable[ConversationId]) -> Mapping[ConversationId, str]:
        """The names of these conversations."""
        wanted = sorted(set(ids))
        found: dict[ConversationId, str] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(conversations.c.id, conversations.c.name).where(
                self._own(conversations), conversations.c.id.in_(wanted[start : start + IN_LIMIT])
            )
            found |= {ConversationId(row.id): row.name for row in await self._connection.execute(query)}
        return found

    async def known(self, conversation: ConversationId, external_ids: Sequence[str]) -> Mapping[str, Known]:
        """Which of a client's ids are stored already."""
        found: dict[str, Known] = {}
        for start in range(0, len(external_ids), IN_LIMIT):
            query = select(messages.c.external_id, messages.c.id, messages.c.sequence, messages.c.digest).where(
                self._own(messages),
                messages.c.conversation_id == conversation,
                messages.c.external_id.in_(external_ids[start : start + IN_LIMIT]),
            )
            for row in await self._connection.execute(query):
                found[row.external_id] = Known(MessageId(row.id), row.sequence, row.digest)
        return found

    async def add(self, new: Sequence[tuple[Message, str]]) -> None:
        """Insert messages, each with the digest of what the client sent."""
        rows = [
            self._row(
                id=message.id,
                conversation_id=message.conversation,
                sequence=message.sequence,
                position=message.position,
                external_id=message.external_id,
                role=message.role.value,
                speaker=message.speaker,
                content=message.content,
                images=[asdict(image) for image in message.images],
                metadata=dict(message.metadata),
                digest=digest,
                occurred_at=message.occurred_at,
                recorded_at=message.recorded_at,
                episode_id=None,
            )
            for message, digest in new
        ]
        await self._connection.execute(insert(messages), rows)

    async def get(self, message: MessageId) -> Message:
        """One message. Raises NotFound."""
        query = select(messages).where(self._own(messages), messages.c.id == message)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise NotFound("no such message")
        return to_message(row)

    async def page(self, conversation: ConversationId, after: int, limit: int) -> Sequence[Message]:
        """Messages of a conversation with a sequence above `after`, in order."""
        query = self._select().where(messages.c.conversation_id == conversation, messages.c.sequence > after)
        return await self._fetch(query.order_by(messages.c.sequence).limit(limit))

    async def many(self, ids: Iterable[MessageId]) -> Mapping[MessageId, Message]:
        """Messages by id; ids that do not exist here are left out."""
        wanted = sorted(set(ids))
        found: dict[MessageId, Message] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = self._select().where(messages.c.id.in_(wanted[start : start + IN_LIMIT]))
            found |= {message.id: message for message in await self._fetch(query)}
        return found

    async def of_episode(self, episode: EpisodeId) -> Sequence[Message]:
        """An episode's messages, in order."""
        query = self._select().where(messages.c.episode_id == episode)
        return await self._fetch(query.order_by(messages.c.sequence))

    async def before(self, message: Message) -> Message | None:
        """The message before this one in its conversation."""
        query = self._select().where(
            messages.c.conversation_id == message.conversation, messages.c.position < message.position
        )
        found = await self._fetch(query.order_by(messages.c.position.desc()).limit(1))
        return found[0] if found else None

    async def buffer(self, conversation: ConversationId, limit: int) -> Sequence[Message]:
        """The first `limit` messages of a conversation that belong to no episode, in order."""
        query = self._select().where(messages.c.conversation_id == conversation, messages.c.episode_id.is_(None))
        return await self._fetch(query.order_by(messages.c.sequence).limit(limit))

    async def buffered(self) -> int:
        """How many messages belong to no episode."""
        query = select(func.count()).where(self._own(messages), messages.c.episode_id.is_(None))
        return (await self._connection.execute(query)).scalar_one()

    async def buffers(self) -> Sequence[Buffer]:
        """All non-empty buffers."""
        query = (
            select(
                messages.c.conversation_id,
                func.count(),
                func.min(messages.c.sequence),
                func.max(messages.c.sequence),
                func.max(messages.c.recorded_at),
            )
            .where(self._own(messages), messages.c.episode_id.is_(None))
            .group_by(messages.c.conversation_id)
        )
        rows = await self._connection.execute(query)
        return [Buffer(ConversationId(row[0]), *row[1:]) for row in rows]

    async def assign(self, episode: EpisodeId, ids: Sequence[MessageId]) -> int:
        """Move messages from the buffer into an episode. Returns how many were still in the buffer."""
        changed = await self._connection.execute(
            update(messages)
            .where(self._own(messages), messages.c.id.in_(ids), messages.c.episode_id.is_(None))
            .values(episode_id=episode)
        )
        return changed.rowcount

    async def speakers(self) -> Sequence[str]:
        """Distinct speaker names: from one to the next in the index, however many messages each has."""
        first = select(func.min(messages.c.speaker).label("speaker")).where(self._own(messages))
        names = first.cte("names", recursive=True)
        later = select(func.min(messages.c.speaker)).where(self._own(messages), messages.c.speaker > names.c.speaker)
        names = names.union_all(select(later.correlate(names).scalar_subquery()).where(names.c.speaker.is_not(None)))
        found = await self._connection.execute(select(names.c.speaker).where(names.c.speaker.is_not(None)))
        return sorted(found.scalars())

    async def places(self, ids: Iterable[MessageId]) -> Sequence[Place]:
        """Where these messages stand, without their text."""
        wanted = sorted(set(ids))
        found: list[Place] = []
        for start in range(0, len(wanted), IN_LIMIT):
            query = self._places().where(messages.c.id.in_(wanted[start : start + IN_LIMIT]))
            found += [to_place(row) for row in await self._connection.execute(query)]
        return found

    async def episodes(self, ids: Iterable[MessageId]) -> Mapping[MessageId, EpisodeId]:
        """The episodes in which these messages lie; those in the buffer are left out."""
        wanted = sorted(set(ids))
        found: dict[MessageId, EpisodeId] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(messages.c.id, messages.c.episode_id).where(
                self._own(messages),
                messages.c.episode_id.is_not(None),
                messages.c.id.in_(wanted[start : start + IN_LIMIT]),
            )
            found |= {MessageId(row.id): EpisodeId(row.episode_id) for row in await self._connection.execute(query)}
        return found

    async def around(self, of: Sequence[Place], reach: int) -> Sequence[Place]:
        """The places of all messages at most `reach` positions from one of `of`, those included."""
        wanted: dict[ConversationId, set[int]] = defaultdict(set)
        for place in of:
            wanted[place.conversation].update(range(place.position - reach, place.position + reach + 1))
        found: list[Place] = []
        for conversation, positions in wanted.items():
            ordered = sorted(positions)
            for start in range(0, len(ordered), IN_LIMIT):
                query = self._places().where(
                    messages.c.conversation_id == conversation,
                    messages.c.position.in_(ordered[start : start + IN_LIMIT]),
                )
                found += [to_place(row) for row in await self._connection.execute(query)]
        return found

    async def matching(self, ids: Iterable[MessageId], limits: Filter) -> set[MessageId]:
        """Which of these messages meet the limits."""
        wanted = set(ids)
        met = within(Level.MESSAGE, limits)
        if met is None:
            return wanted
        query = select(messages.c.id).where(self._own(messages), met.condition)
        ordered = sorted(wanted)
        found: set[MessageId] = set()
        for start in range(0, len(ordered), IN_LIMIT):
            chunk = query.where(messages.c.id.in_(ordered[start : start + IN_LIMIT]))
            found |= {MessageId(row.id) for row in await self._connection.execute(chunk)}
        return found

    async def last_position(self, conversation: ConversationId) -> int:
        """The position of a conversation's newest message; 0 if it has none."""
        query = select(func.max(messages.c.position)).where(
            self._own(messages), messages.c.conversation_id == conversation
        )
        return (await self._connection.execute(query)).scalar_one() or 0

    async def counts(self) -> tuple[int, int]:
        """(messages, of them in the buffer)."""
        buffered = func.count().filter(messages.c.episode_id.is_(None))
        row = (await self._connection.execute(select(func.count(), buffered).where(self._own(messages)))).one()
        return row[0], row[1]

    def _places(self) -> Select[Any]:
        columns = ("id", "conversation_id", "position", "sequence", "speaker", "occurred_at")
        return select(*(messages.c[name] for name in columns)).where(self._own(messages))

    def _select(self) -> Select[Any]:
        return select(messages).where(self._own(messages))

    async def _fetch(self, query: Select[Any]) -> list[Message]:
        return [to_message(row) for row in await self._connection.execute(query)]
