"""Posting and reading messages."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from app.api.schemas.common import NAME_LENGTH, Cleaned, Request, Response, Time
from app.api.schemas.retention import RetentionDays
from app.domain.messages import Draft, Image, Message, Role
from app.domain.metadata import checked
from app.services.ingest import Ingested

MESSAGES_AT_ONCE = 1000
CONTENT_LENGTH = 1_000_000  # characters
EXTERNAL_ID_LENGTH = 255  # characters
IMAGES = 20  # of one message
IMAGE_TEXT = 10_000  # characters of a caption or a query

EXAMPLE = {
    "role": "user",
    "speaker": "Ada",
    "content": "I moved to Lisbon last week.",
    "occurred_at": "2026-03-02T09:30:00Z",
    "external_id": "m1",
}


def _metadata(value: dict[str, Any]) -> dict[str, Any]:
    try:
        return checked(value)
    except ValueError as error:
        raise PydanticCustomError("metadata", str(error)) from error


Metadata = Annotated[dict[str, Any], AfterValidator(_metadata)]
"""Any JSON object up to 16 KiB and 8 levels; comes back as it was sent."""


class ImageIn(Request):
    """A picture shared in a message, by its words."""

    caption: Cleaned = Field(min_length=1, max_length=IMAGE_TEXT, description="What the picture shows.")
    query: Cleaned | None = Field(None, max_length=IMAGE_TEXT, description="What it was searched by, if it was.")
    url: Cleaned | None = Field(None, max_length=IMAGE_TEXT)


class MessageIn(Request):
    """One message to remember."""

    role: Role
    content: Cleaned = Field(max_length=CONTENT_LENGTH, description="May be blank only beside an image.")
    external_id: Cleaned | None = Field(
        None,
        min_length=1,
        max_length=EXTERNAL_ID_LENGTH,
        description="Your own id, unique in the conversation: sending it again changes nothing.",
    )
    speaker: Cleaned | None = Field(None, min_length=1, max_length=NAME_LENGTH, description="Who speaks, by name.")
    occurred_at: Time | None = Field(None, description="When it was said; the time of receipt if missing.")
    images: list[ImageIn] = Field(default_factory=list, max_length=IMAGES)
    metadata: Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something(self) -> "MessageIn":
        if not self.content.strip() and not self.images:
            raise PydanticCustomError("blank_content", "content must not be blank in a message without an image")
        return self

    def to_draft(self) -> Draft:
        """The domain's form."""
        return Draft(
            role=self.role,
            content=self.content,
            external_id=self.external_id,
            speaker=self.speaker,
            occurred_at=self.occurred_at,
            images=tuple(Image(image.caption, image.query, image.url) for image in self.images),
            metadata=self.metadata,
        )


class AppendMessages(Request):
    """Messages of one conversation, in order."""

    messages: list[MessageIn] = Field(min_length=1, max_length=MESSAGES_AT_ONCE, examples=[[EXAMPLE]])


class AppendedOut(Response):
    """What became of one message."""

    id: UUID
    external_id: str | None
    sequence: int
    status: str = Field(description="accepted; duplicate: it was here already; deleted: it was, and was erased.")


class IngestedOut(Response):
    """What became of a POST. Everything accepted is durable; the work on it goes on in the background."""

    namespace: str
    conversation: str
    accepted: int
    duplicates: int
    messages: list[AppendedOut]
    sequence: int = Field(description="Of the newest message in the namespace.")
    job: UUID | None = Field(description="The job that works on the new messages; null if none was new.")

    @classmethod
    def of(cls, namespace: str, conversation: str, ingested: Ingested) -> "IngestedOut":
        """From the service's result."""
        return cls(
            namespace=namespace,
            conversation=conversation,
            accepted=ingested.count("accepted"),
            duplicates=ingested.count("duplicate"),
            messages=[AppendedOut.model_validate(message) for message in ingested.messages],
            sequence=ingested.sequence,
            job=ingested.job,
        )


class ImageOut(Response):
    """A picture shared in a message."""

    caption: str
    query: str | None
    url: str | None


class MessageOut(Response):
    """A stored message."""

    id: UUID
    external_id: str | None
    conversation: str
    sequence: int
    role: Role
    speaker: str | None
    content: str
    occurred_at: datetime
    recorded_at: datetime
    images: list[ImageOut]
    metadata: dict[str, Any]
    episode: UUID | None = Field(description="The episode it belongs to; null while it is in the buffer.")

    @classmethod
    def of(cls, message: Message, conversation: str) -> "MessageOut":
        """From the domain's form."""
        return cls(
            id=message.id,
            external_id=message.external_id,
            conversation=conversation,
            sequence=message.sequence,
            role=message.role,
            speaker=message.speaker,
            content=message.content,
            occurred_at=message.occurred_at,
            recorded_at=message.recorded_at,
            images=[ImageOut.model_validate(image) for image in message.images],
            metadata=dict(message.metadata),
            episode=message.episode,
        )


class ConversationOut(Response):
    """A conversation in numbers."""

    id: UUID
    name: str
    created_at: datetime
    message_count: int
    last_occurred_at: datetime | None
    retention_days: RetentionDays
