"""The doctor: a database after real work is sound, each broken invariant is found, and what can be mended is."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.container import Container, build, build_doctor, utc_now
from app.domain.errors import ConfigurationError
from app.domain.findings import MEANING, REPAIRABLE, Fault, Finding
from app.domain.jobs import JobState, Step
from app.settings import Settings
from app.storage.repository import new_id
from app.storage.tables import (
    citations,
    embeddings,
    episodes,
    jobs,
    messages,
    namespaces,
    postings,
    statements,
    themes,
    word_statistics,
)
from tests.conftest import serving
from tests.integration.support import drain, post

TALK = (
    "I moved to Lisbon in 2021. My sister Ines is allergic to peanuts.",
    "I adopted a cat named Miso.",
    "My favourite dish is ramen. I work as a nurse in Porto.",
)


@pytest.fixture
async def worked(settings: Settings) -> Settings:
    """Settings of a database after real work: two namespaces, several conversations and episodes, open tails."""
    async with build(settings) as built:
        for namespace in ("ada", "ben"):
            for conversation in ("chat", "work"):
                for number in range(3):
                    await post(built, namespace, *(f"{line} ({number})" for line in TALK), conversation=conversation)
                    await drain(built, namespace)
                    await built.services.flush.flush(namespace, conversation, 0)
                    await drain(built, namespace)
            await post(built, namespace, "Still open.", conversation="chat")
            await drain(built, namespace)
    return settings


async def examine(settings: Settings) -> list[Finding]:
    async with build_doctor(settings) as (doctor, _):
        return [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]


def told(findings: Sequence[Finding]) -> set[tuple[str, Fault, str]]:
    return {(finding.namespace, finding.fault, finding.where) for finding in findings}


@asynccontextmanager
async def surgery(settings: Settings) -> AsyncIterator[AsyncConnection]:
    """A connection that may break anything, foreign keys included; what it did is committed."""
    async with build_doctor(settings) as (doctor, _):
        engines = doctor.storage.engines
        async with engines.read.execution_options(postgresql_readonly=False).connect() as connection:
            if engines.is_sqlite:
                await connection.commit()
                await connection.exec_driver_sql("ROLLBACK")
                await connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
                await connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                await connection.execute(text("SET session_replication_role = replica"))
            yield connection
            await connection.commit()
            await connection.invalidate()


async def ada(connection: AsyncConnection) -> UUID:
    return (await connection.execute(select(namespaces.c.id).where(namespaces.c.name == "ada"))).scalar_one()


Break = Callable[[AsyncConnection, UUID], Awaitable[None]]


async def first(connection: AsyncConnection, table: Any, own: UUID, *conditions: Any, order: Any = None) -> Any:
    query = select(table).where(table.c.namespace_id == own, *conditions)
    return (await connection.execute(query.order_by(table.c.id if order is None else order).limit(1))).one()


def change(table: Any, *conditions: Callable[[], Any], **values: Any) -> Break:
    """Break the first row of a table."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        row = await first(connection, table, own, *(condition() for condition in conditions))
        await connection.execute(update(table).where(table.c.namespace_id == own, table.c.id == row.id).values(**values))

    return work


def current() -> Any:
    return statements.c.theme_id.is_not(None)


async def lose_middle_message(connection: AsyncConnection, own: UUID) -> None:
    """The open tail's only message is gone, with all that hangs on it; the counter remembers it."""
    row = await first(connection, messages, own, messages.c.episode_id.is_(None))
    for table in (embeddings, postings):
        await connection.execute(delete(table).where(table.c.namespace_id == own, table.c.item_id == row.id))
    length = len(set("still open".split()))
    await connection.execute(
        update(word_statistics)
        .where(word_statistics.c.namespace_id == own, word_statistics.c.level == "message")
        .values(documents=word_statistics.c.documents - 1, total_length=await _total(connection, own))
    )
    assert length
    await connection.execute(delete(messages).where(messages.c.namespace_id == own, messages.c.id == row.id))


async def _total(connection: AsyncConnection, own: UUID) -> int:
    query = select(func.sum(postings.c.frequency)).where(postings.c.namespace_id == own, postings.c.level == "message")
    return int((await connection.execute(query)).scalar_one())


async def lower_counter(connection: AsyncConnection, own: UUID) -> None:
    await connection.execute(update(namespaces).where(namespaces.c.id == own).values(sequence=3))


async def adopt_message(connection: AsyncConnection, own: UUID) -> None:
    """An episode's conversation is another one: its messages are foreign to it."""
    row = await first(connection, episodes, own)
    other = (
        await connection.execute(
            select(messages.c.conversation_id)
            .where(messages.c.namespace_id == own, messages.c.conversation_id != row.conversation_id)
            .limit(1)
        )
    ).scalar_one()
    await connection.execute(
        update(episodes).where(episodes.c.namespace_id == own, episodes.c.id == row.id).values(conversation_id=other)
    )


async def release_message(connection: AsyncConnection, own: UUID) -> None:
    """The first message is back in the buffer."""
    await change(messages, episode_id=None)(connection, own)


async def scatter(connection: AsyncConnection, own: UUID) -> None:
    """The first and the last message of a conversation's two first episodes change places."""
    row = await first(connection, episodes, own)
    two = (
        await connection.execute(
            select(episodes.c.id)
            .where(episodes.c.namespace_id == own, episodes.c.conversation_id == row.conversation_id)
            .order_by(episodes.c.first_sequence)
            .limit(2)
        )
    ).scalars()
    one, other = two
    inside = select(messages.c.id).where(messages.c.namespace_id == own)
    [a] = (await connection.execute(inside.where(messages.c.episode_id == one).limit(1))).scalars()
    [b] = (await connection.execute(inside.where(messages.c.episode_id == other).limit(1))).scalars()
    for id_, episode in ((a, other), (b, one)):
        await connection.execute(
            update(messages).where(messages.c.namespace_id == own, messages.c.id == id_).values(episode_id=episode)
        )


async def empty_episode(connection: AsyncConnection, own: UUID) -> None:
    """An episode that no message is in: a twin of a real one, without an index entry of its own."""
    row = (await first(connection, episodes, own))._mapping
    await connection.execute(insert(episodes).values({**row, "id": new_id(), "first_sequence": 10_000}))


def drop(table: Any, level: str) -> Break:
    """The first item of a level loses its vectors or postings."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        where = (table.c.namespace_id == own, table.c.level == level)
        item = (await connection.execute(select(func.min(table.c.item_id)).where(*where))).scalar_one_or_none()
        item = (await connection.execute(select(table.c.item_id).where(*where).order_by(table.c.item_id))).scalars().first()
        await connection.execute(delete(table).where(*where, table.c.item_id == item))

    return work


def bend(level: str, vector: Any) -> Break:
    """The first vector of a level becomes another."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        where = (embeddings.c.namespace_id == own, embeddings.c.level == level)
        item = (await connection.execute(select(embeddings.c.item_id).where(*where).order_by(embeddings.c.item_id))).scalars().first()
        await connection.execute(update(embeddings).where(*where, embeddings.c.item_id == item).values(vector=vector))

    return work


async def stray_vector(connection: AsyncConnection, own: UUID) -> None:
    vector = np.eye(1, 64, dtype=np.float32)[0]
    row = {"namespace_id": own, "level": "message", "item_id": new_id(), "part": 0, "vector": vector}
    await connection.execute(insert(embeddings).values(row))


async def stray_posting(connection: AsyncConnection, own: UUID) -> None:
    row = {"namespace_id": own, "level": "statement", "term": "x", "item_id": new_id(), "frequency": 1, "length": 1}
    await connection.execute(insert(postings).values(row))


async def miscount_words(connection: AsyncConnection, own: UUID) -> None:
    where = (word_statistics.c.namespace_id == own, word_statistics.c.level == "episode")
    await connection.execute(update(word_statistics).where(*where).values(documents=77))


async def drop_citations(connection: AsyncConnection, own: UUID) -> None:
    row = await first(connection, statements, own)
    where = (citations.c.namespace_id == own, citations.c.statement_id == row.id)
    await connection.execute(delete(citations).where(*where))


async def cite_nothing(connection: AsyncConnection, own: UUID) -> None:
    row = await first(connection, citations, own, order=citations.c.statement_id)
    where = (citations.c.namespace_id == own, citations.c.statement_id == row.statement_id)
    where = (*where, citations.c.message_id == row.message_id)
    await connection.execute(update(citations).where(*where).values(message_id=new_id()))


async def empty_theme(connection: AsyncConnection, own: UUID) -> None:
    row = (await first(connection, themes, own))._mapping
    await connection.execute(insert(themes).values({**row, "id": new_id()}))


async def leave_theme(connection: AsyncConnection, own: UUID) -> None:
    """A statement lost its theme; the theme's numbers were corrected."""
    theme = await first(connection, themes, own, themes.c.size == 1)
    where = (statements.c.namespace_id == own, statements.c.theme_id == theme.id)
    await connection.execute(update(statements).where(*where).values(theme_id=None))
    await connection.execute(delete(themes).where(themes.c.namespace_id == own, themes.c.id == theme.id))


async def silence(connection: AsyncConnection, own: UUID) -> None:
    now = utc_now()
    row = {
        "namespace_id": own, "id": new_id(), "kind": Step.MAINTAIN.value, "key": str(own), "payload": {},
        "state": JobState.RUNNING.value, "attempts": 1, "due_at": now, "created_at": now, "token": new_id(),
        "heartbeat_at": now - timedelta(minutes=5),
    }  # fmt: skip
    await connection.execute(insert(jobs).values(row))


async def retire(connection: AsyncConnection, own: UUID) -> None:
    await connection.execute(update(namespaces).where(namespaces.c.id == own).values(deleted_at=utc_now()))


async def vanish(connection: AsyncConnection, own: UUID) -> None:
    """The namespace is gone, and of its rows some themes are left."""
    for table in (citations, statements, embeddings, postings, word_statistics, messages, episodes, jobs):
        await connection.execute(delete(table).where(table.c.namespace_id == own))
    await connection.execute(text("DELETE FROM conversations WHERE namespace_id IN (SELECT id FROM namespaces WHERE name = 'ada')"))
    await connection.execute(delete(namespaces).where(namespaces.c.id == own))


async def rest_open(connection: AsyncConnection, own: UUID) -> None:
    where = (messages.c.namespace_id == own, messages.c.episode_id.is_(None))
    await connection.execute(update(messages).where(*where).values(recorded_at=utc_now() - timedelta(days=1)))


NUMBERS, ORPHANS = Fault.EPISODE_NUMBERS, Fault.ORPHANS
FLAT = np.full(64, 0.5, dtype=np.float32)
SHORT = np.eye(1, 8, dtype=np.float32)[0]
BREAKS: list[tuple[Break, set[tuple[Fault, str]]]] = [
    (lose_middle_message, {(Fault.SEQUENCE_GAP, "")}),
    (lower_counter, {(Fault.SEQUENCE_COUNTER, "")}),
    (change(messages, position=1000), {(Fault.POSITION_GAP, "")}),
    (adopt_message, {(Fault.FOREIGN_EPISODE, "")}),
    (release_message, {(Fault.BUFFER_OVERTAKEN, ""), (NUMBERS, "")}),
    (rest_open, {(Fault.BUFFER_OVERDUE, "")}),
    (scatter, {(Fault.EPISODE_SCATTERED, ""), (NUMBERS, "")}),
    (change(messages, episode_id=new_id()), {(ORPHANS, "messages.episode_id"), (NUMBERS, "")}),
    (change(episodes, message_count=7), {(NUMBERS, "")}),
    (change(episodes, tokens=1), {(NUMBERS, "")}),
    (change(episodes, last_sequence=999), {(NUMBERS, "")}),
    (change(episodes, ended_at=utc_now()), {(NUMBERS, "")}),
    (change(episodes, admitted_at=None), {(Fault.EPISODE_NOT_ADMITTED, "")}),
    (empty_episode, {(Fault.EPISODE_EMPTY, ""), (Fault.VECTORS_MISSING, "episode"), (Fault.POSTINGS_WRONG, "episode"),
                     (Fault.WORD_STATISTICS, "episode")}),
    (drop(embeddings, "message"), {(Fault.VECTORS_MISSING, "message")}),
    (drop(embeddings, "episode"), {(Fault.VECTORS_MISSING, "episode")}),
    (drop(embeddings, "statement"), {(Fault.VECTORS_MISSING, "statement")}),
    (bend("message", FLAT), {(Fault.VECTORS_WRONG, "message")}),
    (bend("episode", SHORT), {(Fault.VECTORS_WRONG, "episode")}),
    (stray_vector, {(Fault.VECTORS_STRAY, "message")}),
    (stray_posting, {(Fault.POSTINGS_STRAY, "statement")}),
    (drop(postings, "message"), {(Fault.POSTINGS_WRONG, "message")}),
    (drop(postings, "statement"), {(Fault.POSTINGS_WRONG, "statement")}),
    (miscount_words, {(Fault.WORD_STATISTICS, "episode")}),
    (drop_citations, {(Fault.STATEMENT_UNCITED, "")}),
    (change(statements, support=9), {(Fault.STATEMENT_SUPPORT, "")}),
    (cite_nothing, {(ORPHANS, "citations.message_id")}),
    (leave_theme, {(Fault.STATEMENT_WITHOUT_THEME, "")}),
    (change(statements, superseded_by=new_id(), theme_id=None), {(Fault.SUCCESSOR_LOST, "")}),
    (empty_theme, {(Fault.THEME_EMPTY, "")}),
    (change(themes, size=50), {(Fault.THEME_SIZE, "")}),
    (change(themes, vector_sum=FLAT), {(Fault.THEME_VECTORS, "")}),
    (change(themes, centroid=FLAT), {(Fault.THEME_VECTORS, "")}),
    (silence, {(Fault.JOB_SILENT, "")}),
]  # fmt: skip
