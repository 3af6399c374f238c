"""Vectors of words beside those of texts"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply. Texts from before have none and are found without: `xmemory reembed` makes them."""
    op.add_column("embeddings", sa.Column("word_vectors", sa.LargeBinary(), nullable=True))
    if op.get_bind().dialect.name == "postgresql":
        # They do not compress, and belong beside the rows that exact search reads, not in them.
        op.execute("ALTER TABLE embeddings ALTER COLUMN word_vectors SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Undo."""
    op.execute("ALTER TABLE embeddings DROP COLUMN word_vectors")
