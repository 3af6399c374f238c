"""A namespace full of memory, written in bulk: what the steps of the background work would have left, for measuring."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from pgvector.psycopg import register_vector_async
from sqlalchemy import Table, insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.episodes import BoundaryReason, Episode
from app.domain.ids import ConversationId, EpisodeId, MessageId, NamespaceId
from app.domain.invariants import message_terms, shown
from app.domain.levels import Level
from app.domain.messages import Message, Role, render
from app.domain.provenance import EXTRACTIVE
from app.domain.text import count_tokens, terms
from app.domain.vectors import Matrix, unit
from app.storage.dialects import POSTGRES
from app.storage.doctor import RepairRepository
from app.storage.episodes import EpisodeRepository
from app.storage.messages import MessageRepository
from app.storage.namespaces import Directory
from app.storage.repository import new_id
from app.storage.tables import citations, conversations, embeddings, postings, statements, themes

DIMENSION = 384
PER_TOPIC = 5  # statements of a topic, on average
PER_SUBJECT = 20  # topics of a subject: near to one another, but not the same
PER_THEME = 10
PER_MESSAGE = 5  # statements that rest on one message
PER_EPISODE = 10  # messages
AT_ONCE = 1000  # statements in one transaction
BEGINS = datetime(2024, 1, 1, tzinfo=UTC)
SPEAKERS = ("Ada", "Ben", "Cleo", "Dan")
SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pa", "ro", "si", "tu", "ve", "zo")
COMMON = 300  # words that all topics share
SENT_AS = {  # columns of the tables with the most rows, as Postgres reads them fastest
    "embeddings": {"namespace_id": "uuid", "level": "varchar", "item_id": "uuid", "part": "int4", "vector": "vector"},
    "postings": {
        "namespace_id": "uuid",
        "level": "varchar",
        "term": "varchar",
        "item_id": "uuid",
        "frequency": "int4",
        "length": "int4",
    },
}
TOPIC_SPREAD, STATEMENT_SPREAD = 0.9, 0.75  # lengths of what is added to a subject, to a topic: cosines of about 0.6


def word(number: int) -> str:
    """A word of its own for each number, pronounceable."""
    found = ""
    while number or len(found) < 4:
        number, at = divmod(number, len(SYLLABLES))
        found += SYLLABLES[at]
    return found


@dataclass(slots=True)
class World:
    """What a namespace of so many statements is about."""

    size: int
    random: np.random.Generator = field(init=False)
    topics: Matrix = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.size)
        count = max(1, self.size // PER_TOPIC)
        subjects = unit(self._noise(max(1, count // PER_SUBJECT)))
        chosen = self.random.integers(len(subjects), size=count)
        self.topics = unit(subjects[chosen] + TOPIC_SPREAD * self._noise(count))

    def about(self, topics: Sequence[int]) -> Matrix:
        """The vectors of statements about these topics."""
        return unit(self.topics[list(topics)] + STATEMENT_SPREAD * self._noise(len(topics)))

    def text(self, topic: int) -> str:
        """A statement about a topic."""
        own = [word(COMMON + 6 * topic + int(at)) for at in self.random.integers(6, size=3)]
        common = [word(int(at)) for at in self.random.integers(COMMON, size=3)]
        return f"{SPEAKERS[topic % len(SPEAKERS)]} {' '.join([common[0], *own, *common[1:]])}."

    def _noise(self, count: int) -> Matrix:
        return unit(self.random.standard_normal((count, DIMENSION)).astype(np.float32))


async def fill(connection: AsyncConnection, name: str, profile: str, size: int) -> tuple[NamespaceId, int, World]:
    """Make a namespace with `size` statements in themes, and the messages and episodes that they rest on."""
    world = World(size)
    namespace = await Directory(connection).get_or_create(name, profile, BEGINS)
    conversation = ConversationId(new_id())
    made = {"namespace_id": namespace, "id": conversation, "name": "chat", "created_at": BEGINS}
    await connection.execute(insert(conversations).values(made))
    topics = [int(topic) for topic in world.random.integers(len(world.topics), size=size)]
    vectors = world.about(topics)
    homes = await _themes(connection, namespace, topics, vectors)
    for start in range(0, size, AT_ONCE):
        rows = range(start, min(start + AT_ONCE, size))
        texts = [world.text(topics[row]) for row in rows]
        bulk = _Bulk(connection, namespace, conversation)
        cited = await bulk.talk(start // PER_MESSAGE, texts)
        await bulk.statements(texts, [homes[row] for row in rows], cited, vectors[rows.start : rows.stop])
        await Directory(connection).set_sequence(namespace, -(-rows.stop // PER_MESSAGE))
        await connection.commit()
    await RepairRepository(connection, namespace).count_words()
    await connection.commit()
    return namespace, size, world


async def _themes(
    connection: AsyncConnection, namespace: NamespaceId, topics: Sequence[int], vectors: Matrix
) -> Sequence[UUID]:
    """Store the themes; returns the theme of each statement."""
    groups: dict[tuple[int, int], list[int]] = {}
    seen: dict[int, int] = {}
    for row, topic in enumerate(topics):
        number = seen[topic] = seen.get(topic, -1) + 1
        groups.setdefault((topic, number // PER_THEME), []).append(row)
    homes = [namespace] * len(topics)
    rows: list[dict[str, Any]] = []
    for (topic, _), members in groups.items():
        id_, total = new_id(), vectors[members].sum(axis=0, dtype=np.float64).astype(np.float32)
        rows.append(_theme(namespace, id_, topic, len(members), total))
        for row in members:
            homes[row] = id_
    for start in range(0, len(rows), AT_ONCE):
        await connection.execute(insert(themes), rows[start : start + AT_ONCE])
    return homes


def _theme(namespace: NamespaceId, id_: UUID, topic: int, size: int, total: np.ndarray) -> dict[str, Any]:
    return {
        "namespace_id": namespace,
        "id": id_,
        "label": f"{word(COMMON + 6 * topic)} · {word(COMMON + 6 * topic + 1)}",
        "size": size,
        "vector_sum": total,
        "centroid": unit(total),
        "version": 1,
        "lineage": {"split_from": None, "merged_from": [], "history": []},
        "degraded": False,
        "made_by": asdict(EXTRACTIVE),
        "created_at": BEGINS,
        "updated_at": BEGINS,
    }


@dataclass(frozen=True, slots=True)
class _Bulk:
    """Writes one stretch of the namespace."""

    connection: AsyncConnection
    namespace: NamespaceId
    conversation: ConversationId

    async def talk(self, said_before: int, texts: Sequence[str]) -> Sequence[MessageId]:
        """Messages that say these texts, and their episodes; returns the message of each text."""
        contents = [" ".join(texts[at : at + PER_MESSAGE]) for at in range(0, len(texts), PER_MESSAGE)]
        messages = [self._message(said_before + at, content) for at, content in enumerate(contents, 1)]
        await MessageRepository(self.connection, self.namespace).add([(one, "0" * 64) for one in messages])
        episodes = EpisodeRepository(self.connection, self.namespace)
        documents: dict[UUID, list[str]] = {}
        for inside in _slices(messages, PER_EPISODE):
            episode = self._episode(inside)
            await episodes.add(episode, BEGINS)
            await episodes.mark_admitted(episode.id, BEGINS)
            ids = [one.id for one in inside]
            await MessageRepository(self.connection, self.namespace).assign(episode.id, ids)
            documents[episode.id] = terms(shown(episode))
        await self.find(Level.EPISODE, documents)
        await self.find(Level.MESSAGE, {one.id: message_terms(one) for one in messages})
        return [messages[at // PER_MESSAGE].id for at in range(len(texts))]

    async def statements(
        self, texts: Sequence[str], homes: Sequence[UUID], cited: Sequence[MessageId], vectors: Matrix
    ) -> None:
        """Statements in their themes."""
        ids = [new_id() for _ in texts]
        rows = [self._statement(id_, text, home) for id_, text, home in zip(ids, texts, homes, strict=True)]
        await self.connection.execute(insert(statements), rows)
        pairs = zip(ids, cited, strict=True)
        rows = [{"namespace_id": self.namespace, "statement_id": one, "message_id": message} for one, message in pairs]
        await self.connection.execute(insert(citations), rows)
        documents = {id_: terms(text) for id_, text in zip(ids, texts, strict=True)}
        await self.find(Level.STATEMENT, documents, vectors)

    async def find(self, level: Level, documents: Mapping[UUID, Sequence[str]], vectors: Matrix | None = None) -> None:
        """Postings and vectors of items."""
        same = {"namespace_id": self.namespace, "level": level.value}
        found = [
            {**same, "term": term, "item_id": id_, "frequency": count, "length": len(words)}
            for id_, words in documents.items()
            for term, count in Counter(words).items()
        ]
        await _send(self.connection, postings, found)
        if vectors is None:
            seeded = np.random.default_rng(len(documents))
            vectors = unit(seeded.standard_normal((len(documents), DIMENSION)).astype(np.float32))
        found = [
            {**same, "item_id": id_, "part": 0, "vector": row} for id_, row in zip(documents, vectors, strict=True)
        ]
        await _send(self.connection, embeddings, found)

    def _message(self, number: int, content: str) -> Message:
        return Message(
            id=MessageId(new_id()),
            conversation=self.conversation,
            sequence=number,
            role=Role.USER,
            content=content,
            occurred_at=BEGINS + timedelta(minutes=number),
            recorded_at=BEGINS,
            position=number,
            external_id=None,
            speaker=SPEAKERS[number % len(SPEAKERS)],
            images=(),
            metadata={},
            episode=None,
        )

    def _episode(self, inside: Sequence[Message]) -> Episode:
        return Episode(
            id=EpisodeId(new_id()),
            conversation=self.conversation,
            title=inside[0].content[:40],
            narrative=inside[0].content,
            message_count=len(inside),
            tokens=sum(count_tokens(render(message)) for message in inside),
            first_sequence=inside[0].sequence,
            last_sequence=inside[-1].sequence,
            started_at=inside[0].occurred_at,
            ended_at=inside[-1].occurred_at,
            boundary_reason=BoundaryReason.TOPIC,
            degraded=False,
            made_by=EXTRACTIVE,
            admitted=True,
        )

    def _statement(self, id_: UUID, text: str, home: UUID) -> dict[str, Any]:
        return {
            "namespace_id": self.namespace,
            "id": id_,
            "theme_id": home,
            "text": text,
            "normal": f"{id_.int:064x}",
            "topic": None,
            "kind": "fact",
            "origin": "extractive",
            "support": 1,
            "occurred_at": BEGINS,
            "valid_from": None,
            "valid_to": None,
            "superseded_by": None,
            "made_by": asdict(EXTRACTIVE),
            "recorded_at": BEGINS,
        }


async def _send(connection: AsyncConnection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert very many rows."""
    if connection.dialect.name != POSTGRES:
        await connection.execute(insert(table), rows)
        return
    driver = (await connection.get_raw_connection()).driver_connection
    await register_vector_async(driver)
    columns = SENT_AS[table.name]
    async with driver.cursor().copy(f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy:
        copy.set_types(list(columns.values()))
        for row in rows:
            await copy.write_row([row[column] for column in columns])


def _slices(messages: Sequence[Message], size: int) -> Iterator[Sequence[Message]]:
    for start in range(0, len(messages), size):
        yield messages[start : start + size]
