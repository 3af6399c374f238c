"""Browsing what is remembered, level by level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.episodes import Episode
from app.domain.ids import ConversationId, EpisodeId, MessageId, StatementId
from app.domain.messages import Message
from app.domain.namespaces import Conversation
from app.domain.records import Statement
from app.storage.unit_of_work import ReadUnit, Storage


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message as others point to it."""

    id: MessageId
    external_id: str | None
    conversation: str
    sequence: int


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement with the messages it cites."""

    statement: Statement
    messages: tuple[MessageRef, ...]


async def refer(unit: ReadUnit, ids: set[MessageId]) -> Mapping[MessageId, MessageRef]:
    """References to messages, with their conversations' names."""
    found = await unit.messages.many(ids)
    names = await unit.messages.conversation_names(message.conversation for message in found.values())
    return {
        message.id: MessageRef(message.id, message.external_id, names[message.conversation], message.sequence)
        for message in found.values()
    }


@dataclass(frozen=True, slots=True)
class Memory:
    """Reads of one namespace's levels. All raise NotFound for what is not there."""

    storage: Storage

    async def conversations(self, namespace: str, after: UUID | None, limit: int) -> Sequence[Conversation]:
        """Conversations, oldest first."""
        async with self.storage.read(namespace) as unit:
            return await unit.messages.list_conversations(after, limit)

    async def conversation(self, namespace: str, name: str) -> Conversation:
        """One conversation by name."""
        async with self.storage.read(namespace) as unit:
            [found] = await unit.messages.list_conversations(None, 1, only=await unit.messages.conversation(name))
            return found

    async def messages(self, namespace: str, conversation: str, after: int, limit: int) -> Sequence[Message]:
        """A conversation's messages with a sequence above `after`."""
        async with self.storage.read(namespace) as unit:
            return await unit.messages.page(await unit.messages.conversation(conversation), after, limit)

    async def message(self, namespace: str, message: MessageId) -> tuple[Message, str]:
        """One message and its conversation's name."""
        async with self.storage.read(namespace) as unit:
            found = await unit.messages.get(message)
            return found, (await unit.messages.conversation_names([found.conversation]))[found.conversation]

    async def episodes(
        self, namespace: str, after: UUID | None, limit: int
    ) -> tuple[Sequence[Episode], Mapping[ConversationId, str]]:
        """Episodes, oldest first, and the names of their conversations."""
        async with self.storage.read(namespace) as unit:
            found = await unit.episodes.page(after, limit)
            return found, await unit.messages.conversation_names(episode.conversation for episode in found)

    async def episode(self, namespace: str, episode: EpisodeId) -> tuple[Episode, str]:
        """One episode and its conversation's name."""
        async with self.storage.read(namespace) as unit:
            found = await unit.episodes.get(episode)
            return found, (await unit.messages.conversation_names([found.conversation]))[found.conversation]

    async def statements(
        self, namespace: str, after: UUID | None, limit: int, *, superseded: bool, as_of: datetime | None = None
    ) -> Sequence[CitedStatement]:
        """Statements, oldest first, now or `as_of` a time; with `superseded` also those that others replaced."""
        async with self.storage.read(namespace) as unit:
            return await cited(unit, await unit.statements.page(after, limit, superseded=superseded, as_of=as_of))

    async def history(self, namespace: str, statement: StatementId) -> Sequence[CitedStatement]:
        """All versions of a statement, in the order they held."""
        async with self.storage.read(namespace) as unit:
            return await cited(unit, await unit.statements.chain(statement))

    async def statement(self, namespace: str, statement: StatementId) -> CitedStatement:
        """One statement, current or not."""
        async with self.storage.read(namespace) as unit:
            return (await cited(unit, [await unit.statements.get(statement)]))[0]


async def cited(unit: ReadUnit, found: Sequence[Statement]) -> Sequence[CitedStatement]:
    """Statements with references to the messages they cite."""
    refs = await refer(unit, {message for statement in found for message in statement.messages})
    return [CitedStatement(statement, tuple(refs[message] for message in statement.messages)) for statement in found]
