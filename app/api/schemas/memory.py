"""Episodes, and the messages that things rest on."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import MadeBy, Response
from app.domain.episodes import Episode


class MessageRefOut(Response):
    """A message that something rests on."""

    id: UUID
    external_id: str | None
    conversation: str
    sequence: int


class EpisodeOut(Response):
    """A closed, contiguous run of a conversation's messages."""

    id: UUID
    conversation: str
    title: str
    narrative: str
    message_count: int
    first_sequence: int
    last_sequence: int
    started_at: datetime
    ended_at: datetime
    boundary_reason: str = Field(description="Why it closed: gap, topic, max_messages, flush, …")
    degraded: bool = Field(description="Title and narrative stand in until a model writes better ones.")
    made_by: MadeBy

    @classmethod
    def of(cls, episode: Episode, conversation: str) -> "EpisodeOut":
        """From the domain's form."""
        return cls(
            id=episode.id,
            conversation=conversation,
            title=episode.title,
            narrative=episode.narrative,
            message_count=episode.message_count,
            first_sequence=episode.first_sequence,
            last_sequence=episode.last_sequence,
            started_at=episode.started_at,
            ended_at=episode.ended_at,
            boundary_reason=episode.boundary_reason,
            degraded=episode.degraded,
            made_by=MadeBy.model_validate(episode.made_by),
        )
