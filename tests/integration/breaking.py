"""Ways to break a database by SQL, each with exactly what the doctor must say of it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import Column, ColumnElement, Row, Table, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.container import utc_now
from app.domain.findings import Fault
from app.domain.jobs import JobState, Step
from app.domain.vectors import Vector
from app.storage.repository import new_id
from app.storage.tables import (
    citations,
    conversations,
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

Break = Callable[[AsyncConnection, UUID], Awaitable[None]]


async def first(
    connection: AsyncConnection,
    table: Table,
    own: UUID,
    *conditions: ColumnElement[bool],
    order: Column[Any] | None = None,
) -> Row[Any]:
    query = select(table).where(table.c.namespace_id == own, *conditions)
    return (await connection.execute(query.order_by(table.c.id if order is None else order).limit(1))).one()


def named(work: Break, *parts: str) -> Break:
    """A name for the test's id."""
    work.__name__ = "_".join(parts)
    return work


def change(table: Table, **values: object) -> Break:
    """Break the first row of a table."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        row = await first(connection, table, own)
        await connection.execute(
            update(table).where(table.c.namespace_id == own, table.c.id == row.id).values(**values)
        )

    return named(work, "change", table.name, *values)


async def lose_message(connection: AsyncConnection, own: UUID) -> None:
    """The open tail's only message is gone, with all that hangs on it; the counter remembers it."""
    row = await first(connection, messages, own, messages.c.episode_id.is_(None))
    for table in (embeddings, postings):
        await connection.execute(delete(table).where(table.c.namespace_id == own, table.c.item_id == row.id))
    await connection.execute(delete(messages).where(messages.c.namespace_id == own, messages.c.id == row.id))
    words = select(func.sum(postings.c.frequency)).where(postings.c.namespace_id == own, postings.c.level == "message")
    await connection.execute(
        update(word_statistics)
        .where(word_statistics.c.namespace_id == own, word_statistics.c.level == "message")
        .values(documents=word_statistics.c.documents - 1, total_length=words.scalar_subquery())
    )


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


def drop(table: Table, level: str) -> Break:
    """The first item of a level loses its vectors or postings."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        where = (table.c.namespace_id == own, table.c.level == level)
        row = await first(connection, table, own, table.c.level == level, order=table.c.item_id)
        await connection.execute(delete(table).where(*where, table.c.item_id == row.item_id))

    return named(work, "drop", level, table.name)


def bend(level: str, vector: Vector) -> Break:
    """The first vector of a level becomes another."""

    async def work(connection: AsyncConnection, own: UUID) -> None:
        where = (embeddings.c.namespace_id == own, embeddings.c.level == level)
        row = await first(connection, embeddings, own, embeddings.c.level == level, order=embeddings.c.item_id)
        await connection.execute(
            update(embeddings).where(*where, embeddings.c.item_id == row.item_id).values(vector=vector)
        )

    return named(work, "bend", level)


async def stray_vector(connection: AsyncConnection, own: UUID) -> None:
    vector = np.eye(1, 64, dtype=np.float32)[0]
    row = {"namespace_id": own, "level": "message", "item_id": new_id(), "part": 0, "vector": vector}
    await connection.execute(insert(embeddings).values(row))


async def unread_vector(connection: AsyncConnection, own: UUID) -> None:
    """A vector that was made ready for another profile, and no job goes on with it."""
    row = (await first(connection, embeddings, own, order=embeddings.c.item_id))._mapping
    await connection.execute(insert(embeddings).values({**row, "generation": 1}))


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


async def lose_successor(connection: AsyncConnection, own: UUID) -> None:
    """One of a theme's statements was superseded by one that is nowhere."""
    theme = await first(connection, themes, own, themes.c.size > 1)
    row = await first(connection, statements, own, statements.c.theme_id == theme.id)
    where = (statements.c.namespace_id == own, statements.c.id == row.id)
    await connection.execute(update(statements).where(*where).values(superseded_by=new_id()))


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
    for table in (
        citations,
        statements,
        embeddings,
        postings,
        word_statistics,
        messages,
        episodes,
        conversations,
        jobs,
    ):
        await connection.execute(delete(table).where(table.c.namespace_id == own))
    await connection.execute(delete(namespaces).where(namespaces.c.id == own))


async def rest_open(connection: AsyncConnection, own: UUID) -> None:
    where = (messages.c.namespace_id == own, messages.c.episode_id.is_(None))
    await connection.execute(update(messages).where(*where).values(recorded_at=utc_now() - timedelta(days=1)))


NUMBERS, ORPHANS = Fault.EPISODE_NUMBERS, Fault.ORPHANS
FLAT = np.full(64, 0.5, dtype=np.float32)
SHORT = np.eye(1, 8, dtype=np.float32)[0]
BREAKS: list[tuple[Break, set[tuple[Fault, str]]]] = [
    (lose_message, {(Fault.SEQUENCE_GAP, "")}),
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
    (unread_vector, {(Fault.VECTORS_UNREAD, "")}),
    (stray_posting, {(Fault.POSTINGS_STRAY, "statement")}),
    (drop(postings, "message"), {(Fault.POSTINGS_WRONG, "message")}),
    (drop(postings, "statement"), {(Fault.POSTINGS_WRONG, "statement")}),
    (miscount_words, {(Fault.WORD_STATISTICS, "episode")}),
    (drop_citations, {(Fault.STATEMENT_UNCITED, "")}),
    (change(statements, support=9), {(Fault.STATEMENT_SUPPORT, "")}),
    (cite_nothing, {(ORPHANS, "citations.message_id")}),
    (leave_theme, {(Fault.STATEMENT_WITHOUT_THEME, "")}),
    (lose_successor, {(Fault.SUCCESSOR_LOST, ""), (Fault.THEME_SIZE, ""), (Fault.THEME_VECTORS, "")}),
    (empty_theme, {(Fault.THEME_EMPTY, "")}),
    (change(themes, size=50), {(Fault.THEME_SIZE, "")}),
    (change(themes, vector_sum=FLAT), {(Fault.THEME_VECTORS, "")}),
    (change(themes, centroid=FLAT), {(Fault.THEME_VECTORS, "")}),
    (silence, {(Fault.JOB_SILENT, "")}),
]  # fmt: skip
