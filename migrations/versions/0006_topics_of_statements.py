"""Topics of statements: what a later statement may take the place of"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply. Statements from before have no topic: they are found by their likeness only."""
    op.add_column("statements", sa.Column("topic", sa.String(length=64), nullable=True))
    op.create_index("ix_statements_topic", "statements", ["namespace_id", "topic"])
    op.create_index("ix_statements_superseded_by", "statements", ["namespace_id", "superseded_by"])


def downgrade() -> None:
    """Undo."""
    op.drop_index("ix_statements_superseded_by", table_name="statements")
    op.drop_index("ix_statements_topic", table_name="statements")
    op.drop_column("statements", "topic")
