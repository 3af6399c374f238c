"""Postgres keeps no samples of what is imported"""

from collections.abc import Sequence

from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply. No query is planned by these texts, and samples of them would outlive their rows."""
    _sample(0)


def downgrade() -> None:
    """Undo."""
    _sample(-1)


def _sample(size: int) -> None:
    """How many of its values Postgres keeps for its planner; -1: as many as of other columns."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE import_blocks ALTER COLUMN lines SET STATISTICS {size}")
