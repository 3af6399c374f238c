"""Themes, and the graph of what hangs together."""

from datetime import datetime
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import MadeBy, Request, Response
from app.domain.levels import Level
from app.services.themes import ThemeView

DECIMALS = 4  # of cosines


class ThemeStatement(Response):
    """A statement of a theme."""

    id: UUID
    text: str
    occurred_at: datetime
    similarity: float | None = Field(description="Of its vector to the theme's centroid, in -1–1; null without one.")


class ThemeNeighbour(Response):
    """A theme near another; similarity of their centroids, in -1–1."""

    id: UUID
    label: str
    similarity: float


class Span(Response):
    """First and last event time."""

    start: datetime = Field(serialization_alias="from")
    end: datetime = Field(serialization_alias="to")


class ThemeChange(Response):
    """A decision that changed a theme, and why."""

    at: datetime
    action: str = Field(description="open, attach, move, split, merge, shrink, rebuild; later versions may have more.")
    size: int = Field(description="Statements of the theme after it.")
    gain: float = Field(description="Of the objective, a mean over the statements concerned.")
    similarity: float | None = Field(description="The cosine that was looked at, if one was.")
    threshold: float | None = Field(description="What it was held against.")
    themes: list[UUID] = Field(description="The other themes concerned: merged in, or cut out.")


class Lineage(Response):
    """Where a theme comes from and why it is as it is."""

    split_from: UUID | None = Field(None, description="The theme that it was cut out of.")
    merged_from: list[UUID] = Field(default_factory=list, description="Themes that ended in it, newest last.")
    history: list[ThemeChange] = Field(default_factory=list, description="Its latest changes, newest last.")


class ThemeOut(Response):
    """A group of current statements."""

    id: UUID
    label: str
    summary: str | None = Field(description="Written by a language model, where there is one.")
    size: int = Field(description="Current statements in it.")
    span: Span | None = Field(description="Of its statements.")
    statements: list[ThemeStatement] = Field(
        description="Closest to its centroid first: in a list the first few, of one theme all."
    )
    neighbours: list[ThemeNeighbour] = Field(description="The themes nearest to it.")
    lineage: Lineage
    degraded: bool = Field(description="Label and summary stand in until a model writes better ones.")
    made_by: MadeBy
    made_from: list[UUID] = Field(description="The statements that label and summary were made from.")
    version: int = Field(description="Raised whenever its statements change.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, view: ThemeView) -> "ThemeOut":
        """From the service's result."""
        theme = view.theme
        return cls(
            id=theme.id,
            label=theme.label,
            summary=theme.summary,
            size=theme.size,
            span=None if view.span is None else Span(start=view.span[0], end=view.span[1]),
            statements=[
                ThemeStatement(
                    id=one.id, text=one.text, occurred_at=one.occurred_at, similarity=_rounded(one.similarity)
                )
                for one in view.statements
            ],
            neighbours=[
                ThemeNeighbour(id=id_, label=label, similarity=round(cosine, DECIMALS))
                for id_, label, cosine in view.neighbours
            ],
            lineage=Lineage.model_validate(theme.lineage),
            degraded=theme.degraded,
            made_by=MadeBy.model_validate(theme.made_by),
            made_from=list(theme.made_from),
            version=theme.version,
            created_at=theme.created_at,
            updated_at=theme.updated_at,
        )


class GraphQuery(Request):
    """What a graph shows."""

    levels: list[Level] = Field(
        default_factory=lambda: [Level.THEME, Level.STATEMENT, Level.EPISODE],
        min_length=1,
        max_length=len(Level),
        description="Levels whose items are nodes; theme, statement and episode if missing.",
    )


def _rounded(cosine: float | None) -> float | None:
    return None if cosine is None else round(cosine, DECIMALS)
