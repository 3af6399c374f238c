"""Forgetting: what stays of erased messages, retention, conversations that are being erased, receipts by namespace"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.storage.dialects import Instant

revision: str = "0010"
down_revision: str | None = "0009"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

TEXTS = {
    "messages": ("content", "images", "metadata"),
    "episodes": ("title", "narrative"),
    "statements": ("text",),
    "themes": ("label", "summary"),
    "idempotency_keys": ("body",),
}  # no query is planned by them, and Postgres' samples of them would outlive their rows
OF_WHOM = """UPDATE receipts SET namespace_id = (
    SELECT jobs.namespace_id FROM jobs
    WHERE jobs.kind = 'forget' AND REPLACE(jobs.key, '-', '') = REPLACE(CAST(receipts.id AS VARCHAR(36)), '-', '')
)"""  # of an erasure that is under way while we migrate; SQLite keeps ids without dashes


def upgrade() -> None:
    """Apply. Nothing expires until a retention is set."""
    op.create_table(
        "tombstones",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("external_key", sa.String(length=64), nullable=True),
        sa.Column("erased_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_tombstones_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_tombstones")),
    )
    op.create_index("ix_tombstones_external_key", "tombstones", ["namespace_id", "external_key"])
    op.create_index("ix_tombstones_conversation", "tombstones", ["namespace_id", "conversation_id", "position"])
    op.add_column("namespaces", sa.Column("retention_seconds", sa.BigInteger(), nullable=True))
    op.add_column("conversations", sa.Column("retention_seconds", sa.BigInteger(), nullable=True))
    op.add_column("conversations", sa.Column("deleted_at", Instant(), nullable=True))
    op.execute("ALTER TABLE messages ADD COLUMN withheld BOOLEAN NOT NULL DEFAULT false")
    op.add_column("receipts", sa.Column("namespace_id", sa.Uuid(), nullable=True))
    op.execute(OF_WHOM)
    op.create_index("ix_messages_recorded_at", "messages", ["namespace_id", "recorded_at"])
    op.drop_index("uq_conversations_name", table_name="conversations")
    _name_is_unique("deleted_at IS NULL")
    _sample(0)


def downgrade() -> None:
    """Undo."""
    _sample(-1)
    op.drop_index("uq_conversations_name", table_name="conversations")
    _name_is_unique(None)
    op.drop_index("ix_messages_recorded_at", table_name="messages")
    op.execute("ALTER TABLE receipts DROP COLUMN namespace_id")
    op.execute("ALTER TABLE messages DROP COLUMN withheld")
    op.execute("ALTER TABLE conversations DROP COLUMN deleted_at")
    op.execute("ALTER TABLE conversations DROP COLUMN retention_seconds")
    op.execute("ALTER TABLE namespaces DROP COLUMN retention_seconds")
    op.drop_table("tombstones")


def _name_is_unique(among: str | None) -> None:
    where = None if among is None else sa.text(among)
    columns = ["namespace_id", "name"]
    op.create_index(
        "uq_conversations_name", "conversations", columns, unique=True, sqlite_where=where, postgresql_where=where
    )


def _sample(size: int) -> None:
    """How many values of the columns of text Postgres keeps for its planner; -1: as many as of others."""
    if op.get_bind().dialect.name == "postgresql":
        for table, columns in TEXTS.items():
            for column in columns:
                op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS {size}")
