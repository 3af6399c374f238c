"""Migrations from within: the same alembic tree from a checkout and from an installed wheel."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

import app
from app.storage import bells

PACKAGE = Path(app.__file__).parent
IN_WHEEL = PACKAGE / "_migrations"
IN_CHECKOUT = PACKAGE.parent / "migrations"


def is_ours(name: str | None, kind: str, parents: object) -> bool:
    """Whether our tables describe it; the bell's belong to procrastinate."""
    del parents
    return kind != "table" or not (name or "").startswith(bells.PREFIX)


def config(url: str) -> Config:
    """Alembic's configuration for a database URL."""
    made = Config()
    made.set_main_option("script_location", str(IN_WHEEL if IN_WHEEL.exists() else IN_CHECKOUT).replace("%", "%%"))
    made.set_main_option("sqlalchemy.url", url.replace("%", "%%"))
    return made


def upgrade(url: str, revision: str = "head") -> None:
    """Bring the schema up to `revision`. Blocking."""
    command.upgrade(config(url), revision)


def downgrade(url: str, revision: str) -> None:
    """Take the schema down to `revision`. Blocking."""
    command.downgrade(config(url), revision)


def newest(url: str) -> str | None:
    """The revision that this code needs."""
    return ScriptDirectory.from_config(config(url)).get_current_head()


async def current(engine: AsyncEngine) -> str | None:
    """The revision that the database has; None if it was never migrated."""

    def read(connection: Connection) -> str | None:
        return MigrationContext.configure(connection).get_current_revision()

    async with engine.connect() as connection:
        return await connection.run_sync(read)
