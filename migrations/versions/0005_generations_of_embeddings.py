"""Generations of embeddings: those of another profile are made ready beside the ones that are read"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.storage.vectors import Embedding

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

GENERATION = "generation INTEGER NOT NULL DEFAULT 0"
KEY = ("level", "item_id", "part")


def upgrade() -> None:
    """Apply."""
    for column in (GENERATION, "next_profile VARCHAR(200)", "next_generation INTEGER NOT NULL DEFAULT 1"):
        op.execute(f"ALTER TABLE namespaces ADD COLUMN {column}")
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE embeddings ADD COLUMN {GENERATION}")
        _exchange_key("generation", *KEY)
    else:
        generation = sa.Column("generation", sa.Integer(), server_default=sa.text("0"), nullable=False)
        _make_anew([generation], ["generation", *KEY])


def downgrade() -> None:
    """Undo; what was being made ready is thrown away."""
    read = "SELECT generation FROM namespaces WHERE namespaces.id = embeddings.namespace_id"
    op.execute(f"DELETE FROM embeddings WHERE generation <> ({read})")
    if op.get_bind().dialect.name == "postgresql":
        _exchange_key(*KEY)
        op.execute("ALTER TABLE embeddings DROP COLUMN generation")
    else:
        _make_anew([], KEY)
    for column in ("next_generation", "next_profile", "generation"):
        op.execute(f"ALTER TABLE namespaces DROP COLUMN {column}")


def _exchange_key(*columns: str) -> None:
    op.execute("ALTER TABLE embeddings DROP CONSTRAINT pk_embeddings")
    op.execute(f"ALTER TABLE embeddings ADD CONSTRAINT pk_embeddings PRIMARY KEY (namespace_id, {', '.join(columns)})")


def _make_anew(more: Sequence[sa.Column[int]], key: Sequence[str]) -> None:
    """SQLite keeps a table in the order of its key: another key is another table."""
    op.rename_table("embeddings", "embeddings_before")
    op.create_table(
        "embeddings",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        *more,
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("vector", Embedding(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_embeddings_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", *key, name=op.f("pk_embeddings")),
        sqlite_with_rowid=False,
    )
    columns = "namespace_id, level, item_id, part, vector"
    op.execute(f"INSERT INTO embeddings ({columns}) SELECT {columns} FROM embeddings_before")
    op.drop_table("embeddings_before")
