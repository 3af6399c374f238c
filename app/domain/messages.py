"""Messages: what was said, by whom, when; and the one way to write a message down as text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from app.domain.ids import ConversationId, EpisodeId, MessageId


class Role(StrEnum):
    """Who speaks, in the terms of chat APIs."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


SPOKEN = frozenset((Role.USER, Role.ASSISTANT))
"""Whose words are remembered as statements: instructions and what a tool returned are not said by anyone."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture shared in a message, known by its words only."""

    caption: str
    query: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as a client sends it. `occurred_at` is aware UTC; None means the time of receipt."""

    role: Role
    content: str
    external_id: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    images: tuple[Image, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message. `sequence` counts 1, 2, … in the namespace, `position` in the conversation.

    Times are aware UTC.
    """

    id: MessageId
    conversation: ConversationId
    sequence: int
    role: Role
    content: str
    occurred_at: datetime
    recorded_at: datetime
    position: int = 0
    external_id: str | None = None
    speaker: str | None = None
    images: tuple[Image, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    episode: EpisodeId | None = None

    @property
    def who(self) -> str:
        """The speaker's name; without one, the role ("User", "Assistant")."""
        return self.speaker or self.role.value.capitalize()


def body(content: str, images: tuple[Image, ...]) -> str:
    """A message's words without its speaker: the text, then each image's caption and query in brackets."""
    pictures = [f"[image: {'; '.join(filter(None, (image.caption, image.query)))}]" for image in images]
    return " ".join([content.strip(), *pictures]) if content.strip() else " ".join(pictures)


def render(message: Message) -> str:
    """`Speaker: text [image: caption; query]`: the text that is embedded, counted, shown and given to a model."""
    return f"{message.who}: {body(message.content, message.images)}"
