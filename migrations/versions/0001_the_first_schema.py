"""The first schema"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from app.storage.dialects import Instant, JsonDocument
from app.storage.vectors import Embedding

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None


def upgrade() -> None:
    """Apply."""
    on_postgres = op.get_bind().dialect.name == "postgresql"
    if on_postgres:
        op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    op.create_table(
        "namespaces",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("deleted_at", Instant(), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("erasures", sa.BigInteger(), nullable=False),
        sa.Column("embedding_profile", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_namespaces")),
    )
    op.create_index(
        "uq_namespaces_live_name",
        "namespaces",
        ["name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )

    op.create_table(
        "receipts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("namespace", sa.String(length=200), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("requested_at", Instant(), nullable=False),
        sa.Column("finished_at", Instant(), nullable=True),
        sa.Column("erased", JsonDocument, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receipts")),
    )
    op.create_table(
        "conversations",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespaces.id"], name=op.f("fk_conversations_namespace_id")
        ),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_conversations")),
    )
    op.create_index("uq_conversations_name", "conversations", ["namespace_id", "name"], unique=True)

    op.create_table(
        "embeddings",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        sa.Column("vector", Embedding(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_embeddings_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "level", "item_id", "part", name=op.f("pk_embeddings")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "jobs",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("payload", JsonDocument, nullable=False),
        sa.Column("first_sequence", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("token", sa.Uuid(), nullable=True),
        sa.Column("heartbeat_at", Instant(), nullable=True),
        sa.Column("error", JsonDocument, nullable=True),
        sa.Column("result", JsonDocument, nullable=True),
        sa.Column("usage", JsonDocument, nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("started_at", Instant(), nullable=True),
        sa.Column("finished_at", Instant(), nullable=True),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_jobs_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_jobs")),
    )
    op.create_index("ix_jobs_due", "jobs", ["state", "due_at"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["namespace_id", "state", "id"], unique=False)

    op.create_table(
        "postings",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("term", sa.String(length=64), nullable=False),
        sa.Column("item_id", sa.Uuid(), nullable=False),
        sa.Column("frequency", sa.Integer(), nullable=False),
        sa.Column("length", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_postings_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "level", "term", "item_id", name=op.f("pk_postings")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_postings_item", "postings", ["namespace_id", "level", "item_id"], unique=False)

    op.create_table(
        "themes",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("vector_sum", Embedding(), nullable=False),
        sa.Column("centroid", Embedding(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("lineage", JsonDocument, nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("made_by", JsonDocument, nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_themes_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_themes")),
    )
    op.create_table(
        "word_statistics",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("level", sa.String(length=10), nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("total_length", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id"], ["namespaces.id"], name=op.f("fk_word_statistics_namespace_id")
        ),
        sa.PrimaryKeyConstraint("namespace_id", "level", name=op.f("pk_word_statistics")),
    )
    op.create_table(
        "episodes",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("narrative", sa.Text(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("first_sequence", sa.BigInteger(), nullable=False),
        sa.Column("last_sequence", sa.BigInteger(), nullable=False),
        sa.Column("started_at", Instant(), nullable=False),
        sa.Column("ended_at", Instant(), nullable=False),
        sa.Column("boundary_reason", sa.String(length=20), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("made_by", JsonDocument, nullable=False),
        sa.Column("admitted_at", Instant(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "conversation_id"],
            ["conversations.namespace_id", "conversations.id"],
            name=op.f("fk_episodes_namespace_id_conversation_id"),
        ),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_episodes")),
    )
    op.create_index(
        "uq_episodes_start", "episodes", ["namespace_id", "conversation_id", "first_sequence"], unique=True
    )

    op.create_table(
        "statements",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("theme_id", sa.Uuid(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("normal", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("origin", sa.String(length=20), nullable=False),
        sa.Column("support", sa.Integer(), nullable=False),
        sa.Column("occurred_at", Instant(), nullable=False),
        sa.Column("valid_from", Instant(), nullable=True),
        sa.Column("valid_to", Instant(), nullable=True),
        sa.Column("superseded_by", sa.Uuid(), nullable=True),
        sa.Column("made_by", JsonDocument, nullable=False),
        sa.Column("recorded_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "theme_id"],
            ["themes.namespace_id", "themes.id"],
            name=op.f("fk_statements_namespace_id_theme_id"),
        ),
        sa.ForeignKeyConstraint(["namespace_id"], ["namespaces.id"], name=op.f("fk_statements_namespace_id")),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_statements")),
    )
    op.create_index("ix_statements_normal", "statements", ["namespace_id", "normal"], unique=False)
    op.create_index("ix_statements_theme", "statements", ["namespace_id", "theme_id"], unique=False)

    op.create_table(
        "messages",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("conversation_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(length=255), nullable=True),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("speaker", sa.String(length=200), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("images", JsonDocument, nullable=False),
        sa.Column("metadata", JsonDocument, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("occurred_at", Instant(), nullable=False),
        sa.Column("recorded_at", Instant(), nullable=False),
        sa.Column("episode_id", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["namespace_id", "conversation_id"],
            ["conversations.namespace_id", "conversations.id"],
            name=op.f("fk_messages_namespace_id_conversation_id"),
        ),
        sa.ForeignKeyConstraint(
            ["namespace_id", "episode_id"],
            ["episodes.namespace_id", "episodes.id"],
            name=op.f("fk_messages_namespace_id_episode_id"),
        ),
        sa.PrimaryKeyConstraint("namespace_id", "id", name=op.f("pk_messages")),
    )
    op.create_index(
        "ix_messages_buffer",
        "messages",
        ["namespace_id", "conversation_id", "sequence"],
        unique=False,
        sqlite_where=sa.text("episode_id IS NULL"),
        postgresql_where=sa.text("episode_id IS NULL"),
    )
    op.create_index(
        "ix_messages_conversation", "messages", ["namespace_id", "conversation_id", "sequence"], unique=False
    )
    op.create_index(
        "ix_messages_episode", "messages", ["namespace_id", "episode_id", "sequence"], unique=False
    )
    op.create_index("ix_messages_occurred_at", "messages", ["namespace_id", "occurred_at"], unique=False)
    op.create_index("ix_messages_speaker", "messages", ["namespace_id", "speaker"], unique=False)
    op.create_index(
        "uq_messages_external_id", "messages", ["namespace_id", "conversation_id", "external_id"], unique=True
    )
    op.create_index(
        "uq_messages_position", "messages", ["namespace_id", "conversation_id", "position"], unique=True
    )
    op.create_index("uq_messages_sequence", "messages", ["namespace_id", "sequence"], unique=True)

    op.create_table(
        "citations",
        sa.Column("namespace_id", sa.Uuid(), nullable=False),
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("message_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["namespace_id", "message_id"],
            ["messages.namespace_id", "messages.id"],
            name=op.f("fk_citations_namespace_id_message_id"),
        ),
        sa.ForeignKeyConstraint(
            ["namespace_id", "statement_id"],
            ["statements.namespace_id", "statements.id"],
            name=op.f("fk_citations_namespace_id_statement_id"),
        ),
        sa.PrimaryKeyConstraint("namespace_id", "statement_id", "message_id", name=op.f("pk_citations")),
    )
    op.create_index("ix_citations_message", "citations", ["namespace_id", "message_id"], unique=False)
    if on_postgres:
        # Vectors do not compress: keep them in the row while they fit (docs/decisions/0004).
        for table, column in (("embeddings", "vector"), ("themes", "vector_sum"), ("themes", "centroid")):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE MAIN")


def downgrade() -> None:
    """Undo."""
    op.drop_index("ix_citations_message", table_name="citations")

    op.drop_table("citations")
    op.drop_index("uq_messages_sequence", table_name="messages")
    op.drop_index("uq_messages_position", table_name="messages")
    op.drop_index("uq_messages_external_id", table_name="messages")
    op.drop_index("ix_messages_speaker", table_name="messages")
    op.drop_index("ix_messages_occurred_at", table_name="messages")
    op.drop_index("ix_messages_episode", table_name="messages")
    op.drop_index("ix_messages_conversation", table_name="messages")
    op.drop_index(
        "ix_messages_buffer",
        table_name="messages",
        sqlite_where=sa.text("episode_id IS NULL"),
        postgresql_where=sa.text("episode_id IS NULL"),
    )

    op.drop_table("messages")
    op.drop_index("ix_statements_theme", table_name="statements")
    op.drop_index("ix_statements_normal", table_name="statements")

    op.drop_table("statements")
    op.drop_index("uq_episodes_start", table_name="episodes")

    op.drop_table("episodes")
    op.drop_table("word_statistics")
    op.drop_table("themes")
    op.drop_index("ix_postings_item", table_name="postings")

    op.drop_table("postings")
    op.drop_index("ix_jobs_state", table_name="jobs")
    op.drop_index("ix_jobs_due", table_name="jobs")

    op.drop_table("jobs")
    op.drop_table("embeddings")
    op.drop_index("uq_conversations_name", table_name="conversations")

    op.drop_table("conversations")
    op.drop_table("receipts")
    op.drop_index(
        "uq_namespaces_live_name",
        table_name="namespaces",
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )

    op.drop_table("namespaces")
