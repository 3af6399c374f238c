"""Keys, the audit log, and who made a namespace"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.storage.dialects import Instant, JsonDocument

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply. Namespaces from before were made by nobody known."""
    op.create_table(
        "keys",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", JsonDocument, nullable=False),
        sa.Column("namespaces", JsonDocument, nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=True),
        sa.Column("revoked_at", Instant(), nullable=True),
        sa.Column("last_used_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_keys")),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", Instant(), nullable=False),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("act", sa.String(length=40), nullable=False),
        sa.Column("namespace", sa.String(length=200), nullable=True),
        sa.Column("object_id", sa.Uuid(), nullable=True),
        sa.Column("outcome", sa.String(length=10), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_namespace_id", "audit", ["namespace", "id"])
    op.add_column("namespaces", sa.Column("created_by", sa.Uuid(), nullable=True))
    op.create_index("ix_namespaces_created_by", "namespaces", ["created_by"])


def downgrade() -> None:
    """Undo."""
    op.drop_index("ix_namespaces_created_by", table_name="namespaces")
    op.execute("ALTER TABLE namespaces DROP COLUMN created_by")
    op.drop_table("audit")
    op.drop_table("keys")
