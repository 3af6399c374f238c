"""Engines: how a connection to SQLite or Postgres is set up."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.storage.dialects import POSTGRES, sqlite_json_contains
from app.storage.vectors import sqlite_inner_product

SQLITE_PRAGMAS = (
    "journal_mode=WAL",  # readers never wait for the writer
    "synchronous=FULL",  # accepted means durable, also when the power fails
    "foreign_keys=ON",
    "secure_delete=ON",  # forgetting is real: freed pages are overwritten
)


@dataclass(frozen=True, slots=True)
class EnginePolicy:
    """How many connections, and how long to wait: then StoreUnavailable, for a clear 503 is better than no answer."""

    pool_size: int = 10  # connections kept, and as many more under load; no model call ever holds one
    connection_seconds: float = 10.0  # to open a connection, or to get a free one
    lock_seconds: float = 15.0  # for a row (Postgres) or the file (SQLite) that somebody else writes


@dataclass(frozen=True, slots=True)
class Engines:
    """One pool seen twice: `write` begins a write transaction, `read` one that never blocks or is blocked."""

    read: AsyncEngine
    write: AsyncEngine
    is_sqlite: bool
    lock_seconds: float

    async def dispose(self) -> None:
        """Close all connections."""
        await self.write.dispose()


def create_engines(url: str, policy: EnginePolicy | None = None) -> Engines:
    """Engines for `sqlite+aiosqlite:///…` or `postgresql+psycopg://…`."""
    policy = policy or EnginePolicy()
    pool = {
        "pool_size": policy.pool_size,
        "max_overflow": policy.pool_size,
        "pool_timeout": policy.connection_seconds,
    }
    if make_url(url).get_backend_name() == POSTGRES:
        return _postgres(url, policy, pool)
    return _sqlite(url, policy, pool)


def _sqlite(url: str, policy: EnginePolicy, pool: Mapping[str, Any]) -> Engines:
    # `timeout` is how long SQLite waits for a writer of another process.
    engine = create_async_engine(url, connect_args={"timeout": policy.lock_seconds}, **pool)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return Engines(engine, engine.execution_options(writes=True), is_sqlite=True, lock_seconds=policy.lock_seconds)


def _prepare_sqlite(connection: DBAPIConnection, record: object) -> None:
    del record
    adapted: Any = connection  # the asyncio wrapper of sqlite3.Connection
    adapted.isolation_level = None  # we say BEGIN ourselves
    try:
        for pragma in SQLITE_PRAGMAS:
            connection.cursor().execute(f"PRAGMA {pragma}")
    except sqlite3.Error:
        connection.close()  # the pool will not: it never got the connection
        raise
    adapted.create_function("inner_product", 2, sqlite_inner_product, deterministic=True)
    adapted.create_function("json_contains", 2, sqlite_json_contains, deterministic=True)


def _begin_sqlite(connection: Connection) -> None:
    # A write transaction takes the file's lock at once: it can never fail later with a lost upgrade race.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


async def rewrite_file(engines: Engines) -> None:
    """SQLite: write the whole file anew.

    `secure_delete` overwrites rows where they lie. When a page is split, copies of rows stay behind in its free part:
    only writing it anew removes those. Takes as long as copying the file, and as much room for a while.
    """
    async with engines.write.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await (await driver.execute("VACUUM")).close()  # not inside a transaction


async def empty_log(engines: Engines, seconds: float) -> bool:
    """SQLite: empty the write-ahead log. False if readers still hold it after `seconds`, in which nobody can write."""
    async with engines.write.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await _set_patience(driver, seconds)
        try:
            cursor = await driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # not inside a transaction
            busy, _, _ = await cursor.fetchone()
            await cursor.close()
        finally:
            await _set_patience(driver, engines.lock_seconds)
    return not busy


async def _set_patience(driver: Any, seconds: float) -> None:  # noqa: ANN401  (aiosqlite's connection)
    await (await driver.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")).close()


async def renew_samples(engines: Engines) -> None:
    """Postgres: let its planner's statistics tell of the rows that there are now; they hold words and names."""
    async with engines.write.connect() as connection:
        await connection.execute(text("ANALYZE postings (term), messages (speaker, external_id), conversations (name)"))
        await connection.commit()


def _postgres(url: str, policy: EnginePolicy, pool: Mapping[str, Any]) -> Engines:
    engine = create_async_engine(
        url,
        pool_pre_ping=True,  # after a restart of the server no request meets a dead connection
        connect_args={
            "connect_timeout": max(2, round(policy.connection_seconds)),  # libpq takes whole seconds, 2 or more
            "options": f"-c timezone=UTC -c lock_timeout={round(policy.lock_seconds * 1000)}",
        },
        **pool,
    )
    read = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return Engines(read, engine, is_sqlite=False, lock_seconds=policy.lock_seconds)


def sqlite_path(url: str) -> str | None:
    """The database file of an SQLite URL; None for Postgres and for memory."""
    parsed = make_url(url)
    return None if parsed.get_backend_name() == POSTGRES else parsed.database
