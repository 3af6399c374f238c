"""Namespaces, conversations and receipts as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from app.domain.ids import ConversationId, NamespaceId

NAME_PATTERN = r"^[^\s/\\.\x00-\x1f\x7f-\x9f\uFFFD][^\s/\\\x00-\x1f\x7f-\x9f\uFFFD]*$"
"""Of namespaces and conversations: no spaces, slashes or control characters, no dot at the beginning, and no U+FFFD.

That is what bytes become that are no UTF-8: two names that differ in them would be one. Names are compared as they are,
never normalised.
"""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A unit of isolation. `sequence` is that of its newest message; `revision` grows with every write.

    Reads see the vectors of one `generation`, all made by `embedding_profile`. Those of `next_generation` are being
    made ready for `next_profile`, if that is set; the numbers only grow. While it is `importing` nothing reads it.
    Messages are kept for `retention_seconds` after their receipt, where that is set.
    """

    id: NamespaceId
    name: str
    created_at: datetime
    sequence: int
    revision: int
    erasures: int
    embedding_profile: str
    generation: int
    next_profile: str | None
    next_generation: int
    importing: bool = False
    retention_seconds: int | None = None

    @property
    def retention(self) -> timedelta | None:
        """How long messages are kept after their receipt, if their conversation has no time of its own."""
        return None if self.retention_seconds is None else timedelta(seconds=self.retention_seconds)

    @property
    def dimension(self) -> int:
        """Numbers in each of its vectors."""
        return int(self.embedding_profile.rpartition("/")[2])


@dataclass(frozen=True, slots=True)
class Conversation:
    """One ordered stream of messages, named by the client. `retention` is its own; None: as its namespace has it."""

    id: ConversationId
    name: str
    created_at: datetime
    message_count: int
    last_occurred_at: datetime | None
    retention: timedelta | None = None


class What(StrEnum):
    """What a receipt is about."""

    MESSAGE = "message"
    CONVERSATION = "conversation"
    STATEMENT = "statement"
    NAMESPACE = "namespace"
    EXPIRED = "expired"  # messages whose time was over when it was opened


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


def model_of(profile: str) -> str:
    """The model of an embedding profile, `model@revision/dimension`."""
    return profile.rpartition("@")[0]
