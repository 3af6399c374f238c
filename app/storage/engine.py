"""Engines: how a connection to SQLite or Postgres is set up."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.storage.dialects import POSTGRES, sqlite_json_contains
from app.storage.vectors import sqlite_inner_product

BUSY_SECONDS = 30  # SQLite: how long a writer waits for a writer of another process
POOL_SIZE = 10  # connections kept; no model call ever holds one, so a few serve many requests
POOL_OVERFLOW = 10  # more under load, closed afterwards
POOL_WAIT_SECONDS = 15  # then StoreUnavailable: better a clear 503 than an endless wait
LOCK_WAIT_MS = 15_000  # Postgres: longest wait for a row lock

SQLITE_PRAGMAS = (
    "journal_mode=WAL",  # readers never wait for the writer
    "synchronous=FULL",  # accepted means durable, also when the power fails
    "foreign_keys=ON",
    "secure_delete=ON",  # forgetting is real: freed pages are overwritten
    f"busy_timeout={BUSY_SECONDS * 1000}",
)


@dataclass(frozen=True, slots=True)
class Engines:
    """One pool seen twice: `write` begins a write transaction, `read` one that never blocks or is blocked."""

    read: AsyncEngine
    write: AsyncEngine
    is_sqlite: bool

    async def dispose(self) -> None:
        """Close all connections."""
        await self.write.dispose()


def create_engines(url: str) -> Engines:
    """Engines for `sqlite+aiosqlite:///…` or `postgresql+psycopg://…`."""
    if make_url(url).get_backend_name() == POSTGRES:
        return _postgres(url)
    return _sqlite(url)


def _sqlite(url: str) -> Engines:
    engine = create_async_engine(url, pool_size=POOL_SIZE, max_overflow=POOL_OVERFLOW, pool_timeout=POOL_WAIT_SECONDS)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return Engines(engine, engine.execution_options(writes=True), is_sqlite=True)


def _prepare_sqlite(connection: DBAPIConnection, record: object) -> None:
    del record
    adapted: Any = connection  # the asyncio wrapper of sqlite3.Connection
    adapted.isolation_level = None  # we say BEGIN ourselves
    for pragma in SQLITE_PRAGMAS:
        connection.cursor().execute(f"PRAGMA {pragma}")
    adapted.create_function("inner_product", 2, sqlite_inner_product, deterministic=True)
    adapted.create_function("json_contains", 2, sqlite_json_contains, deterministic=True)


def _begin_sqlite(connection: Connection) -> None:
    # A write transaction takes the file's lock at once: it can never fail later with a lost upgrade race.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(url: str) -> Engines:
    engine = create_async_engine(
        url,
        pool_size=POOL_SIZE,
        max_overflow=POOL_OVERFLOW,
        pool_timeout=POOL_WAIT_SECONDS,
        pool_pre_ping=True,
        connect_args={"options": f"-c timezone=UTC -c lock_timeout={LOCK_WAIT_MS}"},
    )
    read = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Engines(read, engine, is_sqlite=False)


def sqlite_path(url: str) -> str | None:
    """The database file of an SQLite URL; None for Postgres and for memory."""
    parsed = make_url(url)
    return None if parsed.get_backend_name() == POSTGRES else parsed.database


SQLITE_VERSION = sqlite3.sqlite_version
