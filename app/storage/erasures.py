"""Erasing messages: which they are, their rows, and what stays of them: a number, and a hash of the client's id."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import ColumnElement, Select, delete, exists, func, insert, select, update

from app.domain.ids import ConversationId, EpisodeId, MessageId
from app.domain.levels import Level
from app.domain.messages import Message
from app.storage.erasure_tables import tombstones
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import conversations, embeddings, episodes, messages


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is still known of an erased message that had a client's id."""

    id: MessageId
    sequence: int


def external_key(conversation: str, external_id: str) -> str:
    """Under which a client's id stays reserved: tells whether it was used, and not what it was."""
    return hashlib.sha256(json.dumps([conversation, external_id]).encode()).hexdigest()


class ErasureRepository(Repository):
    """What goes and what went of one namespace. Writers hold the lock on its row."""

    async def retire_conversation(self, conversation: ConversationId, now: datetime) -> None:
        """Free a conversation's name; its messages are about to be erased."""
        query = update(conversations).where(self._own(conversations), conversations.c.id == conversation)
        await self._connection.execute(query.values(deleted_at=now))

    async def retired(self, conversation: ConversationId | None, limit: int) -> Sequence[MessageId]:
        """The first messages of a conversation that was retired, or of all such together."""
        these = self._retired() if conversation is None else [conversation]
        query = select(messages.c.id).where(self._own(messages), messages.c.conversation_id.in_(these))
        rows = await self._connection.execute(query.order_by(messages.c.sequence).limit(limit))
        return [MessageId(row.id) for row in rows]

    async def remove_retired(self, conversation: ConversationId | None) -> None:
        """Delete a retired conversation, or all such, that have no messages any more."""
        gone = delete(conversations).where(self._own(conversations), conversations.c.deleted_at.is_not(None))
        if conversation is not None:
            gone = gone.where(conversations.c.id == conversation)
        await self._connection.execute(gone)

    async def remove_emptied(self) -> Sequence[ConversationId]:
        """Delete the conversations that have no messages any more and no retention of their own. Returns which."""
        filled = exists().where(
            messages.c.namespace_id == conversations.c.namespace_id, messages.c.conversation_id == conversations.c.id
        )
        gone = delete(conversations).where(
            self._own(conversations), conversations.c.retention_seconds.is_(None), ~filled
        )
        rows = await self._connection.execute(gone.returning(conversations.c.id))
        return [ConversationId(row.id) for row in rows]

    async def set_retention(self, conversation: ConversationId, seconds: int | None) -> None:
        """How long a conversation's messages are kept after their receipt; None: as its namespace has it."""
        query = update(conversations).where(self._own(conversations), conversations.c.id == conversation)
        await self._connection.execute(query.values(retention_seconds=seconds))

    async def expired(
        self,
        retention: timedelta | None,
        now: datetime,
        limit: int,
        age: Callable[[timedelta], timedelta] = lambda kept: kept,
    ) -> Sequence[MessageId]:
        """The first messages that are older than they are kept, by when they were received.

        `retention` is the namespace's; `age` says how old a message must be to count, by how long it is kept.
        """
        query = select(conversations.c.id, conversations.c.retention_seconds).where(
            self._own(conversations), conversations.c.retention_seconds.is_not(None)
        )
        own = {row.id: timedelta(seconds=row.retention_seconds) for row in await self._connection.execute(query)}
        over = [
            (messages.c.conversation_id == conversation) & (messages.c.recorded_at <= now - age(kept))
            for conversation, kept in own.items()
        ]
        if retention is not None:
            others = messages.c.conversation_id.not_in(self._keeping())
            over.append(others & (messages.c.recorded_at <= now - age(retention)))
        found: list[MessageId] = []
        for condition in over:
            chosen = select(messages.c.id).where(self._own(messages), condition).order_by(messages.c.recorded_at)
            rows = await self._connection.execute(chosen.limit(limit - len(found)))
            found += [MessageId(row.id) for row in rows]
            if len(found) == limit:
                break
        return found

    async def bury(self, gone: Sequence[Message], names: Mapping[ConversationId, str], now: datetime) -> None:
        """Delete messages, whose citations are gone; `names` are those of their conversations."""
        for start in range(0, len(gone), IN_LIMIT):
            chunk = gone[start : start + IN_LIMIT]
            rows = [
                self._row(
                    id=message.id,
                    conversation_id=message.conversation,
                    sequence=message.sequence,
                    position=message.position,
                    external_key=message.external_id and external_key(names[message.conversation], message.external_id),
                    erased_at=now,
                )
                for message in chunk
            ]
            await self._connection.execute(insert(tombstones), rows)
            ids = messages.c.id.in_([message.id for message in chunk])
            await self._connection.execute(delete(messages).where(self._own(messages), ids))

    async def remove_episodes(self, ids: Sequence[EpisodeId]) -> None:
        """Delete episodes that have no messages any more."""
        for start in range(0, len(ids), IN_LIMIT):
            chunk = episodes.c.id.in_(ids[start : start + IN_LIMIT])
            await self._connection.execute(delete(episodes).where(self._own(episodes), chunk))

    async def known(self, conversation: str, external_ids: Sequence[str]) -> Mapping[str, Tombstone]:
        """Which of a client's ids belonged to messages of a conversation of this name that were erased."""
        keys = {external_key(conversation, external_id): external_id for external_id in external_ids}
        found: dict[str, Tombstone] = {}
        wanted = sorted(keys)
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(tombstones.c.external_key, tombstones.c.id, tombstones.c.sequence).where(
                self._own(tombstones), tombstones.c.external_key.in_(wanted[start : start + IN_LIMIT])
            )
            for row in await self._connection.execute(query):
                found[keys[row.external_key]] = Tombstone(MessageId(row.id), row.sequence)
        return found

    async def last_position(self, conversation: ConversationId) -> int:
        """The highest position of a conversation's erased messages; 0 if there are none."""
        query = select(func.max(tombstones.c.position)).where(
            self._own(tombstones), tombstones.c.conversation_id == conversation
        )
        return (await self._connection.execute(query)).scalar_one() or 0

    async def tallies(self) -> Mapping[ConversationId, tuple[int, int]]:
        """Of each conversation, also of those that are gone: how many messages were erased, and the last's position."""
        columns = (tombstones.c.conversation_id, func.count(), func.max(tombstones.c.position))
        query = select(*columns).where(self._own(tombstones)).group_by(tombstones.c.conversation_id)
        return {ConversationId(row[0]): (row[1], row[2]) for row in await self._connection.execute(query)}

    async def withhold(self, ids: Sequence[MessageId]) -> None:
        """No more statements are drawn from these messages: a user deleted one that was."""
        for start in range(0, len(ids), IN_LIMIT):
            query = update(messages).where(self._own(messages), messages.c.id.in_(ids[start : start + IN_LIMIT]))
            await self._connection.execute(query.values(withheld=True))

    async def withheld(self, episode: EpisodeId) -> set[MessageId]:
        """The messages of an episode from which nothing more is drawn."""
        query = select(messages.c.id).where(self._own(messages), messages.c.episode_id == episode, messages.c.withheld)
        return {MessageId(row.id) for row in await self._connection.execute(query)}

    async def episodes_without_vectors(self, generation: int, limit: int) -> Sequence[EpisodeId]:
        """Episodes that have none of this generation: their texts are others since some of their messages went."""
        query = select(episodes.c.id).where(self._own(episodes), ~_has_vector(generation)).order_by(episodes.c.id)
        return [EpisodeId(row.id) for row in await self._connection.execute(query.limit(limit))]

    def _keeping(self) -> Select[tuple[UUID]]:
        return select(conversations.c.id).where(
            self._own(conversations), conversations.c.retention_seconds.is_not(None)
        )

    def _retired(self) -> Select[tuple[UUID]]:
        return select(conversations.c.id).where(self._own(conversations), conversations.c.deleted_at.is_not(None))


def _has_vector(generation: int) -> ColumnElement[bool]:
    return exists().where(
        embeddings.c.namespace_id == episodes.c.namespace_id,
        embeddings.c.generation == generation,
        embeddings.c.level == Level.EPISODE.value,
        embeddings.c.item_id == episodes.c.id,
    )
