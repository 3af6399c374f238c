"""Themes that change: a mark for a new look, regions to find neighbours in, what names are made from, what ended where"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.storage.dialects import JsonDocument
from app.storage.vectors import Embedding

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

NOWHERE = "0" * 32  # the region of a theme that belongs to none
WAITING = "theme_id IS NULL AND superseded_by IS NULL"


def upgrade() -> None:
    """Apply. Themes from before belong to no region: maintenance finds one for them."""
    op.create_table(
        "regions",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("centre", Embedding(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_regions_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_regions")),
    )
    op.create_table(
        "ended_themes",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("into_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_ended_themes_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_ended_themes")),
    )
    op.execute("ALTER TABLE themes ADD COLUMN dirty BOOLEAN NOT NULL DEFAULT false")
    op.add_column("themes", sa.Column("region_id", sa.Uuid(), server_default=sa.text(f"'{NOWHERE}'"), nullable=False))
    op.add_column("themes", sa.Column("made_from", JsonDocument, server_default=sa.text("'[]'"), nullable=False))
    _index("ix_themes_region", "themes", ["namespace_id", "region_id"])
    is_true = "" if op.get_bind().dialect.name == "postgresql" else " = 1"  # as a query says it there
    _index("ix_themes_dirty", "themes", ["namespace_id", "id"], f"dirty{is_true}")
    _index("ix_themes_degraded", "themes", ["namespace_id", "updated_at", "id"], f"degraded{is_true}")
    _index("ix_statements_waiting", "statements", ["namespace_id", "id"], WAITING)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE regions ALTER COLUMN centre SET STORAGE MAIN")


def downgrade() -> None:
    """Undo."""
    op.drop_index("ix_statements_waiting", table_name="statements")
    for name in ("degraded", "dirty", "region"):
        op.drop_index(f"ix_themes_{name}", table_name="themes")
    for column in ("made_from", "region_id", "dirty"):
        op.execute(f"ALTER TABLE themes DROP COLUMN {column}")
    op.drop_table("ended_themes")
    op.drop_table("regions")


def _index(name: str, table: str, columns: list[str], only: str | None = None) -> None:
    where = None if only is None else sa.text(only)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
