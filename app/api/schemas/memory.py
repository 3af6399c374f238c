"""Episodes, statements and themes."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import MadeBy, Response
from app.domain.episodes import Episode
from app.services.memory import ThemeView


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


class ThemeStatement(Response):
    """A statement of a theme."""

    id: UUID
    text: str


class ThemeNeighbour(Response):
    """A theme near another; similarity of their centroids, in -1–1."""

    id: UUID
    label: str
    similarity: float


class Span(Response):
    """First and last event time."""

    start: datetime
    end: datetime


class ThemeOut(Response):
    """A group of current statements."""

    id: UUID
    label: str
    summary: str | None = Field(description="Written by a language model, where there is one.")
    size: int = Field(description="Current statements in it.")
    span: Span | None
    statements: list[ThemeStatement]
    neighbours: list[ThemeNeighbour]
    lineage: dict[str, Any] = Field(description="Which themes it came from, and what that gained.")
    degraded: bool = Field(description="Label and summary stand in until a model writes better ones.")
    made_by: MadeBy

    @classmethod
    def of(cls, view: ThemeView) -> "ThemeOut":
        """From the service's result."""
        return cls(
            id=view.theme.id,
            label=view.theme.label,
            summary=view.theme.summary,
            size=view.theme.size,
            span=None if view.span is None else Span(start=view.span[0], end=view.span[1]),
            statements=[ThemeStatement(id=id_, text=text) for id_, text in view.statements],
            neighbours=[
                ThemeNeighbour(id=id_, label=label, similarity=round(closeness, 4))
                for id_, label, closeness in view.neighbours
            ],
            lineage=dict(view.theme.lineage),
            degraded=view.theme.degraded,
            made_by=MadeBy.model_validate(view.theme.made_by),
        )
