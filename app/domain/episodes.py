"""Episodes: closed, contiguous runs of one conversation's messages."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.ids import ConversationId, EpisodeId
from app.domain.provenance import MadeBy


class BoundaryReason(StrEnum):
    """Why an episode was closed."""

    GAP = "gap"  # the next message came long after, by event time
    TOPIC = "topic"  # similarity between neighbouring windows dropped
    MAX_MESSAGES = "max_messages"
    MAX_TOKENS = "max_tokens"
    LONG_MESSAGE = "long_message"  # one message longer than the cap is an episode of its own
    FLUSH = "flush"
    IDLE = "idle"


@dataclass(frozen=True, slots=True)
class Episode:
    """A stored episode. `tokens` counts its rendered messages; times are the messages' own, aware UTC."""

    id: EpisodeId
    conversation: ConversationId
    title: str
    narrative: str
    message_count: int
    tokens: int
    first_sequence: int
    last_sequence: int
    started_at: datetime
    ended_at: datetime
    boundary_reason: BoundaryReason
    degraded: bool
    made_by: MadeBy
    admitted: bool
