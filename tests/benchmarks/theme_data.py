"""The statements of long conversations in the order in which they were admitted, as maintenance gets them."""

import ast
import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from app.container import Container
from app.domain.errors import NotFound
from app.domain.ids import StatementId, ThemeId
from app.domain.jobs import JobState
from app.domain.levels import Level
from app.domain.records import Statement
from app.domain.themes import Member
from app.domain.vectors import Matrix
from app.evaluation.datasets import Conversation
from app.settings import Settings

PREFIX = "themes"
WAIT = 900.0  # seconds for a session's work


@dataclass(frozen=True)
class Batch:
    """The statements of one admission, with those that they superseded; `sitting` numbers the data's session."""

    sitting: int
    new: tuple[Member, ...]
    gone: frozenset[StatementId]


@dataclass(frozen=True)
class Told:
    """A conversation's statements. `themes` are those that the service itself put the current ones into."""

    conversation: Conversation
    batches: tuple[Batch, ...]
    current: tuple[Statement, ...]
    vectors: Mapping[StatementId, Member]
    cited: Mapping[StatementId, tuple[str, ...]]
    themes: Mapping[StatementId, ThemeId]

    @property
    def sittings(self) -> Iterator[list[Batch]]:
        """The batches of one session after another."""
        for _, group in groupby(self.batches, key=lambda batch: batch.sitting):
            yield list(group)

    def sitting(self, statement: StatementId) -> int:
        """The session that a statement is from: that of the first message that it cites."""
        return sitting_of(self.cited[statement][0])

    def speaker(self, statement: StatementId) -> str:
        """Who said the first message that it cites."""
        said = {message.external_id: message.speaker for message in self.conversation.messages}
        return str(said[self.cited[statement][0]])


def sitting_of(message: str) -> int:
    """`D3:11` → 3."""
    return int(message.partition(":")[0][1:])


def sessions(conversation: Conversation) -> Iterator[list[Any]]:
    """The messages of one session after another."""
    for _, group in groupby(conversation.messages, key=lambda message: sitting_of(str(message.external_id))):
        yield list(group)


@asynccontextmanager
async def working(built: Container) -> AsyncIterator[None]:
    """The service does its background work, for as long as the context lasts."""
    work = asyncio.create_task(built.worker.run())
    try:
        yield
    finally:
        built.worker.stop()
        await work


async def remember(built: Container, conversation: Conversation) -> str:
    """Post a conversation session by session, each remembered before the next; returns its namespace.

    A namespace that holds all its messages already is left as it is.
    """
    namespace, services = f"{PREFIX}-{conversation.name}", built.services
    try:
        if (await services.namespaces.status(namespace)).messages == len(conversation.messages):
            return namespace
    except NotFound:
        pass
    for messages in sessions(conversation):
        await services.ingest.append(namespace, conversation.name, messages)
        settled = await services.flush.flush(namespace, None, WAIT)
        while not settled.settled:
            settled = await services.flush.flush(namespace, None, WAIT)
        if settled.jobs.of(JobState.FAILED):
            raise RuntimeError(f"a step on {namespace} failed")
    return namespace


async def tell(built: Container, conversation: Conversation) -> Told:
    """Remember a conversation and read its statements."""
    namespace = await remember(built, conversation)
    async with built.storage.read(namespace) as unit:
        homes = await unit.statements.homes()
        every: list[Statement] = []
        while page := await unit.statements.page(every[-1].id if every else None, 500, superseded=True):
            every += page
        vectors = await unit.embeddings.vectors(Level.STATEMENT, [one.id for one in every])
        messages = await unit.messages.many(message for one in every for message in one.messages)
    members = {one.id: Member(one.id, vectors[one.id]) for one in every}
    cited = {one.id: tuple(str(messages[id_].external_id) for id_ in one.messages) for one in every}
    return Told(
        conversation,
        tuple(_batches(every, members, cited)),
        tuple(one for one in every if one.superseded_by is None),
        members,
        cited,
        {id_: theme for id_, theme in homes.items() if theme is not None},
    )


def _batches(
    every: Sequence[Statement],
    members: Mapping[StatementId, Member],
    cited: Mapping[StatementId, tuple[str, ...]],
) -> Iterator[Batch]:
    """What one admission stored bears one time; what superseded another ended it at once."""
    replaced = defaultdict(list)
    for one in every:
        if one.superseded_by is not None:
            replaced[one.superseded_by].append(one.id)
    for _, group in groupby(sorted(every, key=lambda one: (one.recorded_at, one.id)), key=lambda one: one.recorded_at):
        ids = [one.id for one in group]
        gone = frozenset(old for id_ in ids for old in replaced[id_])
        yield Batch(sitting_of(cited[ids[0]][0]), tuple(members[id_] for id_ in ids if id_ not in gone), gone)


@dataclass(frozen=True)
class Event:
    """An event of the data's `event_summary`: something that happened to a person before a session."""

    sitting: int
    speaker: str
    text: str


def events(data: Path) -> Mapping[int, list[Event]]:
    """The annotated events by the conversation's number."""
    return {
        number: list(_events(sample.get("event_summary", {})))
        for number, sample in enumerate(json.loads(data.read_text(encoding="utf-8")), 1)
    }


def _events(summary: Mapping[str, Any]) -> Iterator[Event]:
    for key, held in summary.items():
        told = ast.literal_eval(held) if isinstance(held, str) else held
        for speaker, texts in told.items():
            if isinstance(texts, list):
                yield from (Event(int(key.rpartition("_")[2]), speaker, text) for text in texts)


async def event_vectors(built: Container, found: Sequence[Event]) -> Matrix:
    """The events' vectors, (n, dimension)."""
    return (await built.embedder.embed([event.text for event in found])).vectors


def settings(database: Path, embedder: str) -> Settings:
    """Settings of a service in this process on an SQLite file."""
    return Settings(
        _env_file=None, database_url=f"sqlite+aiosqlite:///{database}", embedder=embedder, log_level="error"
    )
