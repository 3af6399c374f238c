"""The lines of an exported namespace: what docs/moving.md promises, as models.

A file is a header, then conversations, episodes, messages, tombstones, themes, ended themes, statements and vectors,
each kind in a fixed order, then the end. Fields are called as the columns that they are kept in.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from app.domain.episodes import BoundaryReason
from app.domain.levels import Level
from app.domain.messages import Role
from app.domain.metadata import canonical
from app.domain.records import Origin
from app.services.transfer.fields import (
    BIGINT,
    CITED,
    IMAGES,
    Code,
    Count,
    Digest,
    Document,
    ExternalId,
    ImageText,
    Moment,
    Name,
    Retention,
    Said,
    Sequence,
    Speaker,
    Text,
    Vector,
    Version,
    Words,
)

FORMAT: Literal["xmemory-namespace"] = "xmemory-namespace"
VERSION: Version = 1
PROFILE = r"^.{1,189}/[1-9][0-9]{0,4}$"  # model@revision/dimension


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", strict=True, use_enum_values=True, arbitrary_types_allowed=True, frozen=True
    )


class Line(_Part):
    """What all lines share."""

    ORDER: ClassVar[int]

    def encode(self) -> bytes:
        """The line, with its end."""
        return self.model_dump_json().encode() + b"\n"


class Counts(_Part):
    """How many lines of each kind a file has."""

    conversation: Count = 0
    episode: Count = 0
    message: Count = 0
    tombstone: Count = 0
    theme: Count = 0
    ended_theme: Count = 0
    statement: Count = 0
    vector: Count = 0

    def total(self) -> int:
        """All of them."""
        return sum(self.model_dump().values())


class Header(Line):
    """The first line. `sequence` is the namespace's newest, `revision` what the file was read at."""

    ORDER: ClassVar[int] = 0
    line: Literal["header"] = "header"
    format: Literal["xmemory-namespace"] = FORMAT
    version: Version = VERSION
    namespace: Name
    revision: Annotated[int, Field(ge=0, le=BIGINT)]
    sequence: Annotated[int, Field(ge=0, le=BIGINT)]
    embedding_profile: Annotated[str, Field(pattern=PROFILE)]
    vectors: bool
    retention_seconds: Retention | None
    counts: Counts

    @property
    def dimension(self) -> int:
        """Numbers in each vector."""
        return int(self.embedding_profile.rpartition("/")[2])


class ConversationLine(Line):
    """A conversation."""

    ORDER: ClassVar[int] = 1
    line: Literal["conversation"] = "conversation"
    id: UUID
    name: Name
    created_at: Moment
    retention_seconds: Retention | None


class MadeByPart(_Part):
    """What wrote a text."""

    model: Code
    revision: Code
    prompt: Code | None = None


class EpisodeLine(Line):
    """An episode; its messages name it."""

    ORDER: ClassVar[int] = 2
    line: Literal["episode"] = "episode"
    id: UUID
    conversation_id: UUID
    title: Text
    narrative: Text
    message_count: Count
    tokens: Count
    first_sequence: Sequence
    last_sequence: Sequence
    started_at: Moment
    ended_at: Moment
    boundary_reason: BoundaryReason
    degraded: bool
    made_by: MadeByPart
    admitted_at: Moment | None
    created_at: Moment


class ImagePart(_Part):
    """A picture, by its words."""

    caption: ImageText
    query: ImageText | None = None
    url: ImageText | None = None


class MessageLine(Line):
    """A message as it was sent, and where it stands. `digest` tells a client's retry from a clash."""

    ORDER: ClassVar[int] = 3
    line: Literal["message"] = "message"
    id: UUID
    conversation_id: UUID
    sequence: Sequence
    position: Sequence
    external_id: ExternalId | None
    role: Role
    speaker: Speaker | None
    content: Text
    images: Annotated[tuple[ImagePart, ...], Field(max_length=IMAGES, strict=False)]
    metadata: Document
    digest: Digest
    occurred_at: Moment
    recorded_at: Moment
    episode_id: UUID | None
    withheld: bool


class TombstoneLine(Line):
    """What stays of an erased message. `external_key` keeps a client's retry from bringing it back."""

    ORDER: ClassVar[int] = 4
    line: Literal["tombstone"] = "tombstone"
    id: UUID
    conversation_id: UUID
    sequence: Sequence
    position: Sequence
    external_key: Digest | None
    erased_at: Moment


class ChangePart(BaseModel):
    """A change in a theme's lineage, as far as it is read."""

    at: datetime
    action: str
    size: int
    gain: float
    similarity: float | None
    threshold: float | None
    themes: list[UUID]


class LineagePart(BaseModel):
    """A theme's lineage, as far as it is read."""

    split_from: UUID | None = None
    merged_from: Annotated[list[UUID], Field(max_length=CITED)] = []
    history: Annotated[list[ChangePart], Field(max_length=CITED)] = []


def _lineage(value: dict[str, Any]) -> dict[str, Any]:
    LineagePart.model_validate(value)
    kept: dict[str, Any] = canonical(value)
    return kept


class ThemeLine(Line):
    """A theme; its statements name it. With vectors, also the sum of theirs."""

    ORDER: ClassVar[int] = 5
    line: Literal["theme"] = "theme"
    id: UUID
    label: Text
    summary: Text | None
    size: Count
    version: Count
    lineage: Annotated[dict[str, Any], AfterValidator(_lineage)]
    degraded: bool
    made_by: MadeByPart
    made_from: Annotated[tuple[UUID, ...], Field(max_length=CITED, strict=False)]
    dirty: bool
    created_at: Moment
    updated_at: Moment
    vector_sum: Vector | None = None


class EndedThemeLine(Line):
    """A theme that ended, and the one that took its statements."""

    ORDER: ClassVar[int] = 6
    line: Literal["ended_theme"] = "ended_theme"
    id: UUID
    into_id: UUID


class StatementLine(Line):
    """A statement, current or superseded, with the messages that it cites."""

    ORDER: ClassVar[int] = 7
    line: Literal["statement"] = "statement"
    id: UUID
    theme_id: UUID | None
    text: Said
    normal: Digest
    topic: Digest | None
    kind: Annotated[str, Field(pattern=r"^[a-z_]{1,20}$")]
    origin: Origin
    support: Count
    occurred_at: Moment
    valid_from: Moment | None
    valid_to: Moment | None
    superseded_by: UUID | None
    made_by: MadeByPart
    recorded_at: Moment
    messages: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=CITED, strict=False)]


class VectorLine(Line):
    """A vector of an item, or of one part of a long one; `words` are those of its content words."""

    ORDER: ClassVar[int] = 8
    line: Literal["vector"] = "vector"
    level: Literal[Level.MESSAGE, Level.EPISODE, Level.STATEMENT]
    item_id: UUID
    part: Count
    vector: Vector
    words: Words | None


class End(Line):
    """The last line: without it a file is cut. SHA-256 over all lines between the header and this one."""

    ORDER: ClassVar[int] = 9
    line: Literal["end"] = "end"
    lines: Annotated[int, Field(ge=1)]
    sha256: Digest


AnyLine = (
    Header
    | ConversationLine
    | EpisodeLine
    | MessageLine
    | TombstoneLine
    | ThemeLine
    | EndedThemeLine
    | StatementLine
    | VectorLine
    | End
)

LINE: TypeAdapter[AnyLine] = TypeAdapter(Annotated[AnyLine, Field(discriminator="line")])
KINDS: Mapping[str, type[Line]] = {
    kind.model_fields["line"].default: kind
    for kind in (
        Header,
        ConversationLine,
        EpisodeLine,
        MessageLine,
        TombstoneLine,
        ThemeLine,
        EndedThemeLine,
        StatementLine,
        VectorLine,
        End,
    )
}
