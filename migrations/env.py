"""How migrations run: one tree for SQLite and Postgres, one transaction for each upgrade."""

from alembic import context
from sqlalchemy import create_engine, make_url, text

from app.storage.migrate import is_ours
from app.storage.tables import metadata

LOCK_WAIT_MS = 15_000  # Postgres: give up rather than block the service behind a long lock
ADVISORY_LOCK = 7_283_401  # Postgres: two `xmemory migrate` at once run one after the other


def _sync_url() -> str:
    url = make_url(context.config.get_main_option("sqlalchemy.url") or "")
    driver = {"sqlite+aiosqlite": "sqlite"}.get(url.drivername, url.drivername)
    return url.set(drivername=driver).render_as_string(hide_password=False)


def run() -> None:
    """Bring the database to the wanted revision."""
    engine = create_engine(_sync_url())
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SET lock_timeout = {LOCK_WAIT_MS}"))
            connection.execute(text(f"SELECT pg_advisory_lock({ADVISORY_LOCK})"))
            connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            render_as_batch=True,
            compare_type=True,
            include_name=is_ours,
        )
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


run()
