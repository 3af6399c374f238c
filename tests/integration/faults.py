"""Real faults of a real database, for as long as a block lasts."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DisconnectionError

from app.container import Container
from app.settings import Settings
from app.storage.engine import sqlite_path


@contextmanager
def administrator(settings: Settings) -> Iterator[psycopg.Connection]:
    """A connection to Postgres, but not to the database under test."""
    url = settings.database_url.replace("+psycopg", "")
    with psycopg.connect(url, dbname="postgres", autocommit=True) as connection:
        yield connection


def terminate_all(settings: Settings) -> int:
    """End every connection to the database under test, as a restart does. Returns how many there were."""
    name = make_url(settings.database_url).database
    with administrator(settings) as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s", [name]
        ).fetchone()
    return ended[0] if ended else 0


@asynccontextmanager
async def no_database(built: Container, settings: Settings) -> AsyncIterator[None]:
    """The file is not there, or the server lets nobody in."""
    path = sqlite_path(settings.database_url)
    if path is None:
        name = make_url(settings.database_url).database
        with administrator(settings) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            terminate_all(settings)
            try:
                yield
            finally:
                connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        return
    pool = built.storage.engines.write.sync_engine.pool
    event.listen(pool, "checkout", _open_anew)  # an open file outlives its name
    folder = Path(path).parent
    away = shutil.move(folder, f"{folder}.away")
    try:
        yield
    finally:
        shutil.move(away, folder)
        event.remove(pool, "checkout", _open_anew)


def _open_anew(*rest: object) -> None:
    raise DisconnectionError


@asynccontextmanager
async def pragma(built: Container, name: str, value: int, before: int) -> AsyncIterator[None]:
    """SQLite: every connection has this pragma, while it is in use."""
    pool = built.storage.engines.write.sync_engine.pool

    def apply(connection: DBAPIConnection, *rest: object) -> None:
        connection.cursor().execute(f"PRAGMA {name} = {value}")

    def undo(connection: DBAPIConnection, *rest: object) -> None:
        connection.cursor().execute(f"PRAGMA {name} = {before}")

    event.listen(pool, "checkout", apply)
    event.listen(pool, "checkin", undo)
    try:
        yield
    finally:
        event.remove(pool, "checkout", apply)
        event.listen(pool, "checkout", undo)


@asynccontextmanager
async def read_only(built: Container, settings: Settings) -> AsyncIterator[None]:
    """The database can be read and not be written."""
    if built.storage.engines.is_sqlite:
        async with pragma(built, "query_only", 1, 0):
            yield
        return
    name = make_url(settings.database_url).database
    with administrator(settings) as connection:
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        terminate_all(settings)  # it holds for new connections
        try:
            yield
        finally:
            connection.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
            terminate_all(settings)


@asynccontextmanager
async def locked(settings: Settings, table: str = "namespaces") -> AsyncIterator[None]:
    """Somebody else holds the lock that every writer needs."""
    path = sqlite_path(settings.database_url)
    if path is not None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.close()
        return
    with psycopg.connect(settings.database_url.replace("+psycopg", "")) as other_:
        other_.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
        other_.rollback()
