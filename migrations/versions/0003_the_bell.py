"""The bell: procrastinate's tables (Postgres only)"""

from collections.abc import Sequence
from pathlib import Path

from alembic import op
from procrastinate.schema import SchemaManager

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# procrastinate ships its schema as a row of migrations that it never changes. We apply them, from the installed
# package, up to the one named here: the same schema whichever version is installed. A release that adds others
# needs a revision of ours that applies those (docs/decisions/0009).
THROUGH = "03.04.00_50_post_add_retry_failed_job_procedure.sql"


def upgrade() -> None:
    """Apply."""
    if op.get_bind().dialect.name != "postgresql":
        return
    cursor = op.get_bind().connection.cursor()  # the driver's: several statements at once, no parameters
    for path in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql")):
        if path.name <= THROUGH:
            cursor.execute(path.read_text(encoding="utf-8"))
    cursor.close()


def downgrade() -> None:
    """Undo."""
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(
        r"""
        DO $$
        DECLARE thing text;
        BEGIN
            FOR thing IN
                SELECT format('TABLE %s', oid::regclass) FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                AND relname LIKE 'procrastinate\_%'
            LOOP EXECUTE 'DROP ' || thing || ' CASCADE'; END LOOP;
            FOR thing IN
                SELECT format('FUNCTION %s', oid::regprocedure) FROM pg_proc
                WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'procrastinate\_%'
            LOOP EXECUTE 'DROP ' || thing || ' CASCADE'; END LOOP;
            FOR thing IN
                SELECT format('TYPE %s', oid::regtype) FROM pg_type
                WHERE typnamespace = current_schema()::regnamespace AND typname LIKE 'procrastinate\_%'
                AND (typtype = 'e' OR typtype = 'c')
            LOOP EXECUTE 'DROP ' || thing || ' CASCADE'; END LOOP;
        END $$
        """
    )
