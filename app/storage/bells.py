"""The Postgres bell's table, as far as we read it (its library, procrastinate, writes it), and how it is rung."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from sqlalchemy import Column, ColumnElement, MetaData, String, Table, Text, Uuid, cast, exists, make_url
from sqlalchemy.dialects.postgresql import ENUM
from sqlalchemy.ext.asyncio import AsyncConnection

from app.storage.engine import Engines
from app.storage.faults import POSTGRES_NOT_NOW

Connection = AsyncConnection
"""What a doorbell is given: the connection whose transaction queues the jobs."""

PREFIX = "procrastinate_"  # of everything that procrastinate owns in our database

# Not part of our schema: procrastinate's own migrations make it (migrations/versions, docs/decisions/0009).
_bells = Table(
    "procrastinate_jobs",
    MetaData(),
    Column("queueing_lock", Text),
    Column("status", ENUM("todo", "doing", name="procrastinate_job_status", create_type=False)),
)


def has_bell(namespace_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a bell of this namespace waits to be heard, or somebody who heard it is at work."""
    lock = cast(cast(namespace_id, Uuid), String)
    return exists().where(_bells.c.queueing_lock == lock, _bells.c.status.in_(("todo", "doing")))


@asynccontextmanager
async def savepoint(connection: Connection) -> AsyncIterator[Any]:
    """The driver's own connection, for another library's statement in our transaction.

    If it fails, only the statement is undone, and what was done before it stays.
    """
    async with connection.begin_nested():
        yield (await connection.get_raw_connection()).driver_connection


def connection_arguments(engines: Engines) -> dict[str, Any]:
    """The driver's arguments for connections of another library to the same database."""
    url = make_url(engines.write.url)
    _, given = engines.write.dialect.create_connect_args(url)
    given.pop("context", None)  # SQLAlchemy's own adapters
    return {**given, "options": f"-c timezone=UTC -c lock_timeout={round(engines.lock_seconds * 1000)}"}


def is_outage(error: BaseException | None) -> bool:
    """Whether the driver's error says "not now", rather than that a statement is wrong."""
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None:  # the server never spoke
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate in POSTGRES_NOT_NOW or error.sqlstate[:2] in POSTGRES_NOT_NOW
