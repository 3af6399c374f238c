"""The schema. Every primary key of memory begins with `namespace_id`; migrations/ must produce exactly this."""

from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    Uuid,
    text,
)

from app.storage.access_tables import audit, keys
from app.storage.dialects import Instant, JsonDocument
from app.storage.erasure_tables import receipts
from app.storage.schema import NAME_LENGTH, metadata
from app.storage.vectors import Embedding, WordBytes

EXTERNAL_ID_LENGTH = 255  # characters of a client's own message id
IDEMPOTENCY_KEY_LENGTH = 255  # characters; app/api/schemas allows no more
MODEL_LENGTH = 200  # characters of a model's name that usage is summed by
NOWHERE = UUID(int=0)  # the region of a theme that belongs to none; no key, for SQLite cannot add one to a table
WAITING = "theme_id IS NULL AND superseded_by IS NULL"  # a statement that maintenance has not placed yet
TERM_LENGTH = 64  # characters; app/domain/text.py bounds the terms it makes


def _key() -> Column[object]:
    return Column("namespace_id", Uuid, nullable=False)


def _owned(*others: str) -> PrimaryKeyConstraint:
    return PrimaryKeyConstraint("namespace_id", *others)


def _refers(column: str, table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["namespace_id", column], [f"{table}.namespace_id", f"{table}.id"])


def _in_namespace() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["namespace_id"], ["namespaces.id"])


namespaces = Table(
    "namespaces",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", String(NAME_LENGTH), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("deleted_at", Instant),  # the tombstone: the name is free again, the rows wait for `forget`
    Column("sequence", BigInteger, nullable=False),  # of the newest message
    Column("revision", BigInteger, nullable=False),  # raised by every write; caches are keyed by it
    Column("erasures", BigInteger, nullable=False),  # raised by every delete; running steps check it
    Column("embedding_profile", String(200), nullable=False),  # model, revision, dimension of its vectors
    Column("generation", Integer, nullable=False, server_default=text("0")),  # of the embeddings that are read
    Column("next_profile", String(200)),  # of the embeddings that are being made ready; null: none are
    Column("next_generation", Integer, nullable=False, server_default=text("1")),  # theirs
    Column("importing", Boolean, nullable=False, server_default=text("false")),  # nothing reads it until it is whole
    Column("retention_seconds", BigInteger),  # then a message expires, counted from its receipt; null: never
    Column("created_by", Uuid),  # the key whose first message made it; null: none of the table
    Index("ix_namespaces_created_by", "created_by"),
    Index(
        "uq_namespaces_live_name",
        "name",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

WITHOUT_MEMORY = (namespaces, receipts, keys, audit)
"""Tables of names and acts; all others hold memory, or work on it, and begin with `namespace_id`."""

conversations = Table(
    "conversations",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("name", String(NAME_LENGTH), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("retention_seconds", BigInteger),  # of its messages; null: as its namespace has it
    Column("deleted_at", Instant),  # its name is free again, its messages are being erased
    _owned("id"),
    _in_namespace(),
    Index(
        "uq_conversations_name",
        "namespace_id",
        "name",
        unique=True,
        sqlite_where=text("deleted_at IS NULL"),
        postgresql_where=text("deleted_at IS NULL"),
    ),
)

episodes = Table(
    "episodes",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("conversation_id", Uuid, nullable=False),
    Column("title", Text, nullable=False),
    Column("narrative", Text, nullable=False),
    Column("message_count", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("first_sequence", BigInteger, nullable=False),
    Column("last_sequence", BigInteger, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Column("boundary_reason", String(20), nullable=False),
    Column("degraded", Boolean, nullable=False),
    Column("made_by", JsonDocument, nullable=False),
    Column("admitted_at", Instant),  # null until its statements are in
    Column("created_at", Instant, nullable=False),
    _owned("id"),
    _refers("conversation_id", "conversations"),
    Index("uq_episodes_start", "namespace_id", "conversation_id", "first_sequence", unique=True),
)

messages = Table(
    "messages",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("conversation_id", Uuid, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),  # 1, 2, … in its conversation: finds neighbours
    Column("external_id", String(EXTERNAL_ID_LENGTH)),
    Column("role", String(10), nullable=False),
    Column("speaker", String(NAME_LENGTH)),
    Column("content", Text, nullable=False),
    Column("images", JsonDocument, nullable=False),
    Column("metadata", JsonDocument, nullable=False),
    Column("digest", String(64), nullable=False),  # SHA-256 of what the client sent: tells a retry from a clash
    Column("occurred_at", Instant, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("episode_id", Uuid),  # null: still in the buffer
    Column("withheld", Boolean, nullable=False, server_default=text("false")),  # no more is drawn from it: see Editing
    _owned("id"),
    _refers("conversation_id", "conversations"),
    _refers("episode_id", "episodes"),
    Index("uq_messages_sequence", "namespace_id", "sequence", unique=True),
    Index("uq_messages_external_id", "namespace_id", "conversation_id", "external_id", unique=True),
    Index("ix_messages_conversation", "namespace_id", "conversation_id", "sequence"),
    Index("uq_messages_position", "namespace_id", "conversation_id", "position", unique=True),
    Index("ix_messages_episode", "namespace_id", "episode_id", "sequence"),
    Index("ix_messages_speaker", "namespace_id", "speaker"),
    Index("ix_messages_occurred_at", "namespace_id", "occurred_at"),
    Index("ix_messages_recorded_at", "namespace_id", "recorded_at"),
    Index(
        "ix_messages_buffer",
        "namespace_id",
        "conversation_id",
        "sequence",
        sqlite_where=text("episode_id IS NULL"),
        postgresql_where=text("episode_id IS NULL"),
    ),
)

themes = Table(
    "themes",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("label", Text, nullable=False),
    Column("summary", Text),
    Column("size", Integer, nullable=False),
    Column("vector_sum", Embedding, nullable=False),
    Column("centroid", Embedding, nullable=False),  # vector_sum scaled to length 1
    Column("version", Integer, nullable=False),
    Column("lineage", JsonDocument, nullable=False),
    Column("degraded", Boolean, nullable=False),
    Column("made_by", JsonDocument, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("dirty", Boolean, nullable=False, server_default=text("false")),  # statements left it: look at it again
    Column("made_from", JsonDocument, nullable=False, server_default=text("'[]'")),  # statements told by its name
    Column(
        "region_id", Uuid, nullable=False, server_default=text(f"'{NOWHERE.hex}'")
    ),  # where maintenance looks for it
    _owned("id"),
    _in_namespace(),
    Index("ix_themes_region", "namespace_id", "region_id"),
    Index("ix_themes_dirty", "namespace_id", "id", sqlite_where=text("dirty = 1"), postgresql_where=text("dirty")),
    Index(
        "ix_themes_degraded",
        "namespace_id",
        "updated_at",
        "id",
        sqlite_where=text("degraded = 1"),
        postgresql_where=text("degraded"),
    ),
)

regions = Table(
    "regions",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("centre", Embedding, nullable=False),  # length 1; themes near it are kept together
    _owned("id"),
    _in_namespace(),
)

ended_themes = Table(
    "ended_themes",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("into_id", Uuid, nullable=False),  # the theme that took its statements; it may have ended since
    _owned("id"),
    _in_namespace(),
)

statements = Table(
    "statements",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("theme_id", Uuid),  # null: waits for maintenance, and is read like the rest
    Column("text", Text, nullable=False),
    Column("normal", String(64), nullable=False),  # SHA-256 of its essence: finds what says the same
    Column("topic", String(64)),  # SHA-256 of what it is about: finds what it may supersede; null: nothing
    Column("kind", String(20), nullable=False),
    Column("origin", String(20), nullable=False),
    Column("support", Integer, nullable=False),  # messages that carry it
    Column("occurred_at", Instant, nullable=False),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("superseded_by", Uuid),
    Column("made_by", JsonDocument, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    _owned("id"),
    _in_namespace(),
    _refers("theme_id", "themes"),
    Index("ix_statements_theme", "namespace_id", "theme_id"),
    Index("ix_statements_normal", "namespace_id", "normal"),
    Index("ix_statements_topic", "namespace_id", "topic"),
    Index("ix_statements_superseded_by", "namespace_id", "superseded_by"),
    Index("ix_statements_waiting", "namespace_id", "id", sqlite_where=text(WAITING), postgresql_where=text(WAITING)),
)

citations = Table(
    "citations",
    metadata,
    _key(),
    Column("statement_id", Uuid, nullable=False),
    Column("message_id", Uuid, nullable=False),
    _owned("statement_id", "message_id"),
    _refers("statement_id", "statements"),
    _refers("message_id", "messages"),
    Index("ix_citations_message", "namespace_id", "message_id"),
)

embeddings = Table(
    "embeddings",
    metadata,
    _key(),
    Column("generation", Integer, nullable=False, server_default=text("0")),  # all of one are of one profile
    Column("level", String(10), nullable=False),
    Column("item_id", Uuid, nullable=False),
    Column("part", Integer, nullable=False),  # long texts have several
    Column("vector", Embedding, nullable=False),  # length 1
    Column("word_vectors", WordBytes),  # of its content words; null: none were made
    _owned("generation", "level", "item_id", "part"),
    _in_namespace(),
    sqlite_with_rowid=False,
)

postings = Table(
    "postings",
    metadata,
    _key(),
    Column("level", String(10), nullable=False),
    Column("term", String(TERM_LENGTH), nullable=False),
    Column("item_id", Uuid, nullable=False),
    Column("frequency", Integer, nullable=False),  # of the term in the item
    Column("length", Integer, nullable=False),  # terms in the item
    _owned("level", "term", "item_id"),
    _in_namespace(),
    Index("ix_postings_item", "namespace_id", "level", "item_id"),
    sqlite_with_rowid=False,
)

word_statistics = Table(
    "word_statistics",
    metadata,
    _key(),
    Column("level", String(10), nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("total_length", BigInteger, nullable=False),  # terms of all of them together
    _owned("level"),
    _in_namespace(),
)

jobs = Table(
    "jobs",
    metadata,
    _key(),
    Column("id", Uuid, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("key", String(40), nullable=False),  # what it works on: an id, never memory text
    Column("payload", JsonDocument, nullable=False),
    Column("first_sequence", BigInteger),  # lowest message it covers; null covers none
    Column("state", String(10), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failures", Integer, nullable=False, server_default=text("0")),  # attempts that ended in an error
    Column("due_at", Instant, nullable=False),
    Column("token", Uuid),  # of the running attempt; a paused worker that wakes late no longer holds it
    Column("heartbeat_at", Instant),
    Column("error", JsonDocument),
    Column("result", JsonDocument),
    Column("usage", JsonDocument),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    _owned("id"),
    _in_namespace(),
    Index("ix_jobs_state", "namespace_id", "state", "id"),
    Index("ix_jobs_due", "state", "due_at"),
)

usage = Table(
    "usage",
    metadata,
    _key(),
    Column("stage", String(20), nullable=False),  # domain.chat.Stage, or `embedder`
    Column("model", String(MODEL_LENGTH), nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("texts", BigInteger, nullable=False),  # that got a vector
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
    _owned("stage", "model"),
    _in_namespace(),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _key(),
    Column("key", String(IDEMPOTENCY_KEY_LENGTH), nullable=False),
    Column("digest", String(64), nullable=False),  # SHA-256 of method, path and body: tells a retry from a clash
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),  # of the first answer, byte by byte
    Column("created_at", Instant, nullable=False),
    _owned("key"),
    _in_namespace(),
    Index("ix_idempotency_keys_created_at", "created_at"),
)

import_blocks = Table(
    "import_blocks",
    metadata,
    _key(),
    Column("job_id", Uuid, nullable=False),  # that works them through
    Column("number", BigInteger, nullable=False),  # 1, 2, … in the order of the file
    Column("lines", Text, nullable=False),  # of it, whole ones
    _owned("job_id", "number"),
    _in_namespace(),
)
