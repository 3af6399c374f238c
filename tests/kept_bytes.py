"""What the bytes of a database hold, rows and what is left of earlier ones alike."""

from collections.abc import Iterator
from pathlib import Path

import psycopg

from app.settings import Settings
from app.storage.engine import sqlite_path


def everything(settings: Settings) -> bytes:
    """All that the database shows: the bytes of an SQLite file and its log, or a logical dump of Postgres."""
    path = sqlite_path(settings.database_url)
    if path is not None:
        kept = [Path(f"{path}{end}") for end in ("", "-wal", "-shm")]
        return b"".join(file.read_bytes() for file in kept if file.exists())
    with psycopg.connect(_plain(settings)) as connection:
        tables = connection.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
        copies = [f"COPY {name} TO STDOUT" for (name,) in tables.fetchall()]
        samples = "COPY (SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE schemaname = 'public') TO STDOUT"
        return b"".join(bytes(piece) for copy in [*copies, samples] for piece in _copied(connection, copy))


def uncompressed(settings: Settings) -> None:
    """Postgres: keep texts as they are, so that their bytes can be looked for in its files."""
    with psycopg.connect(_plain(settings), autocommit=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' "
            "AND data_type IN ('text', 'character varying', 'jsonb', 'bytea') AND table_name NOT LIKE 'procrastinate%'"
        )
        for table, column in columns.fetchall():
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")  # type: ignore[call-overload]


def files(settings: Settings, *, rewritten: bool) -> bytes | None:
    """Postgres: the bytes of all files of the database, after a checkpoint, and VACUUM FULL if they are to be
    `rewritten`. None if they are not on this machine.
    """
    with psycopg.connect(_plain(settings), autocommit=True) as connection:
        if rewritten:
            connection.execute("VACUUM FULL")
        connection.execute("CHECKPOINT")
        [where, oid] = connection.execute(
            "SELECT current_setting('data_directory'), (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchone() or ("", 0)
    folder = Path(where) / "base" / str(oid)
    return b"".join(file.read_bytes() for file in folder.iterdir()) if folder.is_dir() else None


def _copied(connection: psycopg.Connection, copy: str) -> Iterator[memoryview | bytes]:
    with connection.cursor().copy(copy) as pieces:
        yield from pieces


def _plain(settings: Settings) -> str:
    return settings.database_url.replace("+psycopg", "")
