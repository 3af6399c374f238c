"""Keys and the audit log: tables that name namespaces and hold no memory."""

from sqlalchemy import Column, Index, String, Table, Uuid

from app.storage.dialects import Instant, JsonDocument
from app.storage.schema import NAME_LENGTH, metadata

DIGEST_LENGTH = 64  # hexadecimal digits of SHA-256
ACT_LENGTH = 40  # characters of an act's name
OUTCOME_LENGTH = 10

keys = Table(
    "keys",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", String(NAME_LENGTH), nullable=False),
    Column("digest", String(DIGEST_LENGTH), nullable=False),  # SHA-256 of the secret, which is kept nowhere
    Column("scopes", JsonDocument, nullable=False),
    Column("namespaces", JsonDocument, nullable=False),  # names, or prefixes that end in *
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("last_used_at", Instant),  # to the minute
)

audit = Table(
    "audit",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("key_id", Uuid),  # null: no key of the table
    Column("actor", String(NAME_LENGTH), nullable=False),  # the key's name, which outlives it
    Column("act", String(ACT_LENGTH), nullable=False),
    Column("namespace", String(NAME_LENGTH)),  # its name, which outlives it
    Column("object_id", Uuid),
    Column("outcome", String(OUTCOME_LENGTH), nullable=False),
    Column("request_id", Uuid),  # null: the service acted by itself
    Index("ix_audit_namespace_id", "namespace", "id"),
)
