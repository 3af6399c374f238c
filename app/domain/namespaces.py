"""Namespaces, conversations and receipts as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.ids import ConversationId, NamespaceId


@dataclass(frozen=True, slots=True)
class Namespace:
    """A unit of isolation. `sequence` is that of its newest message; `revision` grows with every write."""

    id: NamespaceId
    name: str
    created_at: datetime
    sequence: int
    revision: int
    erasures: int
    embedding_profile: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """One ordered stream of messages, named by the client."""

    id: ConversationId
    name: str
    created_at: datetime
    message_count: int
    last_occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Follows an erasure, also after its namespace is gone. `erased` counts rows by table."""

    id: UUID
    namespace: str
    what: str
    state: str
    requested_at: datetime
    finished_at: datetime | None
    erased: Mapping[str, int] | None
