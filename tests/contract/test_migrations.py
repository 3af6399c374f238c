"""Migrations on both databases: up, down, up again; what they make is what app/storage/tables.py says."""

from collections.abc import Iterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text

from app.storage import migrate
from app.storage.tables import WITHOUT_MEMORY, metadata

BOOKKEEPING = {"alembic_version"}
OPTIONS = {"compare_type": True, "include_name": migrate.is_ours}


@pytest.fixture
def connection(database_url: str) -> Iterator[Connection]:
    """A plain connection to the migrated database."""
    engine = create_engine(database_url.replace("+aiosqlite", ""))
    with engine.connect() as opened:
        yield opened
    engine.dispose()


def _tables(connection: Connection) -> set[str]:
    found = {name for name in inspect(connection).get_table_names() if migrate.is_ours(name, "table", {})}
    connection.rollback()  # leaves no lock in the way of a migration
    return found


def _drift(connection: Connection) -> list[Any]:
    found = compare_metadata(MigrationContext.configure(connection, opts=OPTIONS), metadata)
    connection.rollback()
    return found


def test_up_down_and_up_again(database_url: str, connection: Connection) -> None:
    ours = set(metadata.tables)
    assert _tables(connection) == ours | BOOKKEEPING
    migrate.downgrade(database_url, "base")
    assert _tables(connection) == BOOKKEEPING
    migrate.upgrade(database_url)
    migrate.upgrade(database_url)  # again: nothing happens
    assert _tables(connection) == ours | BOOKKEEPING
    assert _drift(connection) == []


def test_every_revision_can_be_undone(database_url: str, connection: Connection) -> None:
    revisions = [script.revision for script in _scripts(database_url).walk_revisions()]
    for revision in revisions:
        migrate.downgrade(database_url, "-1")
        migrate.upgrade(database_url, revision)
        assert _tables(connection)
        migrate.downgrade(database_url, "-1")
    assert _tables(connection) == BOOKKEEPING


def test_the_migrations_make_what_the_tables_say(connection: Connection) -> None:
    assert _drift(connection) == []


def test_a_drift_would_be_seen(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE themes DROP COLUMN summary"))
    connection.execute(text("DROP INDEX ix_statements_normal"))
    found = compare_metadata(MigrationContext.configure(connection, opts=OPTIONS), metadata)
    assert {difference[0] for difference in found} == {"add_column", "add_index"}


def _scripts(url: str) -> ScriptDirectory:
    return ScriptDirectory.from_config(migrate.config(url))


def test_there_is_one_line_of_migrations() -> None:
    scripts = _scripts("sqlite+aiosqlite://")
    assert len(scripts.get_heads()) == 1
    assert len(scripts.get_bases()) == 1
    assert scripts.get_current_head() == migrate.newest("sqlite+aiosqlite://")


def test_keys_of_memory_begin_with_the_namespace(connection: Connection) -> None:
    found = inspect(connection)
    for name in set(metadata.tables) - {table.name for table in WITHOUT_MEMORY}:
        assert found.get_pk_constraint(name)["constrained_columns"][0] == "namespace_id", name
        for reference in found.get_foreign_keys(name):
            assert reference["constrained_columns"][0] == "namespace_id", (name, reference)


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_postgres_keeps_no_samples_of_texts(connection: Connection) -> None:
    """They would outlive their rows. Those of words and names are made anew when something was erased."""
    kept = connection.execute(
        text(
            "SELECT attrelid::regclass || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attstattarget = 0"
        )
    ).scalars()
    assert set(kept) == {
        *("messages.content", "messages.images", "messages.metadata", "episodes.title", "episodes.narrative"),
        *("statements.text", "themes.label", "themes.summary", "idempotency_keys.body", "import_blocks.lines"),
    }


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_postgres_keeps_vectors_in_the_row_while_they_fit(connection: Connection) -> None:
    kept = connection.execute(
        text(
            "SELECT attrelid::regclass || '.' || attname, attstorage FROM pg_attribute"
            " JOIN pg_type ON pg_type.oid = atttypid WHERE typname = 'vector' ORDER BY 1"
        )
    ).all()
    assert dict(map(tuple, kept)) == dict.fromkeys(
        ("embeddings.vector", "regions.centre", "themes.centroid", "themes.vector_sum"), "m"
    )
