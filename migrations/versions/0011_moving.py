"""Namespaces that are being imported, and what came in for them"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "import_blocks",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("lines", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_import_blocks_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "job_id", "number", name=op.f("pk_import_blocks")),
    )
    op.execute("ALTER TABLE namespaces ADD COLUMN importing BOOLEAN NOT NULL DEFAULT false")


def downgrade() -> None:
    """Undo."""
    op.execute("ALTER TABLE namespaces DROP COLUMN importing")
    op.drop_table("import_blocks")
