"""The parts of the service's replies that the tools read. Other fields are ignored, missing ones an error."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.domain.messages import Draft


class Reply(BaseModel):
    """A reply, or a part of one."""

    model_config = ConfigDict(frozen=True)


class Appended(Reply):
    """What became of a POST of messages."""

    accepted: int
    duplicates: int


class Jobs(Reply):
    """A namespace's jobs by how they ended."""

    succeeded: int
    failed: int
    pending: int


class Flushed(Reply):
    """How far the background work is."""

    settled: bool
    jobs: Jobs


class Status(Reply):
    """A namespace in numbers."""

    messages: int
    buffered: int
    episodes: int
    statements: int
    themes: int
    pending_jobs: int
    failed_jobs: int
    sequence: int
    usage: dict[str, dict[str, Any]]


class Version(Reply):
    """What runs at the other end."""

    version: str
    embedding_profile: str
    embedding_profile_next: str | None
    chat: str
    chat_model: str | None
    chat_revision: str | None
    database: str
    settings: dict[str, Any] = {}  # an older service does not tell


class Job(Reply):
    """A unit of background work."""

    id: str
    kind: str
    state: str
    error: dict[str, Any] | None
    result: dict[str, Any] | None


class Imported(Reply):
    """A file that was taken, and the job that works on it."""

    mode: str
    job: str


class Namespace(Reply):
    """A namespace, and by which vectors it is read; the second profile is that which others are made for."""

    name: str
    embedding_profile: str
    embedding_profile_next: str | None


class Key(Reply):
    """A key, without what opens anything."""

    id: str
    name: str
    scopes: list[str]
    namespaces: list[str]
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class CreatedKey(Reply):
    """A new key, for the one time that it can be seen."""

    id: str
    key: str


class Ordered(Reply):
    """What became of a request to re-embed a namespace; without a job there is nothing to do."""

    job: str | None


class Reference(Reply):
    """A message that something rests on."""

    external_id: str | None
    sequence: int


class Message(Reply):
    """A stored message."""

    external_id: str | None
    sequence: int
    speaker: str | None
    role: str
    content: str
    occurred_at: datetime


class Episode(Reply):
    """A closed run of messages."""

    title: str
    message_count: int
    started_at: datetime
    ended_at: datetime


class Statement(Reply):
    """One fact with its citations."""

    text: str
    kind: str
    occurred_at: datetime
    messages: list[Reference]


class Decided(Reply):
    """What became of a statement that was posted: new, reinforced, or refused for a reason."""

    outcome: str
    reason: str | None


class Theme(Reply):
    """A group of statements."""

    label: str
    size: int


class Item(Reply):
    """A piece of evidence."""

    level: str
    text: str
    score: float
    tokens: int
    messages: list[Reference]


class Gate(Reply):
    """By which measure items were opened, and how many were tested."""

    measure: str
    probes: int


class Found(Reply):
    """The evidence for a question."""

    items: list[Item]
    context: str
    tokens: int
    tokenizer: str
    gate: Gate
    trace: dict[str, Any] | None = None


class Citation(Reply):
    """Where an answer comes from."""

    external_id: str | None
    occurred_at: datetime
    quote: str


class StageUsage(Reply):
    """What was used of a model for one kind of call."""

    calls: int
    tokens_in: int
    tokens_out: int
    texts: int = 0


class Usage(Reply):
    """What was used of models."""

    stages: dict[str, StageUsage]


class Answer(Found):
    """An answer with its evidence, or an abstention with its reason."""

    answer: str | None
    abstained: bool
    reason: str | None
    confidence: float = Field(ge=0, le=1)
    citations: list[Citation]
    usage: Usage


def message_body(draft: Draft) -> dict[str, Any]:
    """A message as the API takes it."""
    return {
        "role": draft.role.value,
        "content": draft.content,
        "external_id": draft.external_id,
        "speaker": draft.speaker,
        "occurred_at": None if draft.occurred_at is None else draft.occurred_at.isoformat(),
        "images": [{"caption": image.caption, "query": image.query, "url": image.url} for image in draft.images],
    }
