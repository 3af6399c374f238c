"""What stays of what was erased: receipts, and a row for each erased message. None of them holds memory."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, String, Table, Uuid

from app.storage.dialects import Instant, JsonDocument
from app.storage.schema import NAME_LENGTH, metadata

receipts = Table(
    "receipts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("namespace_id", Uuid),  # null: of a receipt from before this was written down
    Column("namespace", String(NAME_LENGTH), nullable=False),
    Column("what", String(20), nullable=False),
    Column("state", String(10), nullable=False),
    Column("requested_at", Instant, nullable=False),
    Column("finished_at", Instant),
    Column("erased", JsonDocument),  # rows removed, by table
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("namespace_id", Uuid, nullable=False),
    Column("id", Uuid, nullable=False),  # of the message
    Column("conversation_id", Uuid, nullable=False),  # which may be gone too
    Column("sequence", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("external_key", String(64)),  # SHA-256 of its conversation's name and its external id: stays reserved
    Column("erased_at", Instant, nullable=False),
    PrimaryKeyConstraint("namespace_id", "id"),
    ForeignKeyConstraint(["namespace_id"], ["namespaces.id"]),
    Index("ix_tombstones_external_key", "namespace_id", "external_key"),
    Index("ix_tombstones_conversation", "namespace_id", "conversation_id", "position"),
)
