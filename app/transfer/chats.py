"""What all chat logs are read as: conversations of messages, and what in them cannot be read.

One unreadable item costs that item only. External ids are the log's own or follow from its content, so that the same
file, or a later one that has more, doubles nothing.
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from app.domain.messages import Draft, Image, Role
from app.domain.text import clean

NAME_LENGTH = 200  # characters of a conversation's or a speaker's name that the service takes
ID_LENGTH = 255  # of an external id
CONTENT_LENGTH = 1_000_000
MILLISECONDS_FROM = 1e11  # a time in seconds since 1970 is lower than that for another three thousand years
FORBIDDEN = re.compile(r"[\s/\\\x00-\x1f\x7f-\x9f\ufffd]+")  # in names: see app.domain.namespaces


class Unreadable(Exception):
    """An item that is not what its format says; the message tells how, and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """An item that was left out, where it stands, and what is wrong with it."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation. `name` is one that the service takes."""

    name: str
    messages: tuple[Draft, ...]


@dataclass(slots=True)
class Log:
    """What was read. `silent` counts messages that nobody said: calls of tools, hidden instructions, thoughts."""

    chats: list[Chat] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)
    silent: int = 0

    def add(self, name: str, messages: Sequence[Draft]) -> None:
        """Keep a conversation that has messages; of one id the first counts."""
        drafts = {draft.external_id: draft for draft in reversed(messages)}
        if drafts:
            self.chats.append(Chat(named(name), tuple(reversed(drafts.values()))))


def draft(
    role: Role,
    content: str,
    external_id: str,
    occurred_at: datetime | None,
    *,
    speaker: str | None = None,
    images: Sequence[Image] = (),
) -> Draft:
    """A message. Raises Unreadable for one that the service would not take."""
    if not content.strip() and not images:
        raise Unreadable("it says nothing")
    if len(content) > CONTENT_LENGTH:
        raise Unreadable(f"it is longer than {CONTENT_LENGTH:,} characters")
    name = clean(speaker).strip()[:NAME_LENGTH] if speaker else None
    return Draft(role, clean(content), identified(external_id), name or None, occurred_at, tuple(images))


def named(text: str) -> str:
    """A name for a conversation that the service takes, the same for the same text."""
    name = FORBIDDEN.sub("-", clean(text)).strip("-").lstrip(".")
    if 0 < len(name) <= NAME_LENGTH:
        return name
    return f"{name[:100]}{'-' if name else ''}{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:16]}"


def identified(text: str) -> str:
    """An external id that the service takes, the same for the same text."""
    kept = clean(text)
    return kept if 0 < len(kept) <= ID_LENGTH else f"sha256:{hashlib.sha256(kept.encode()).hexdigest()}"


def of_kind(holder: object, key: str, kind: type) -> Any:  # noqa: ANN401  (JSON)
    """A field of this kind. Raises Unreadable."""
    value = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(value, kind):
        raise Unreadable(f"{key} is missing, or of another kind than it should be")
    return value


def text_of(holder: object, *keys: str) -> str | None:
    """The first of these fields that is a text with words in it."""
    values = (holder.get(key) for key in keys) if isinstance(holder, Mapping) else ()
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def moment(value: object) -> datetime | None:
    """A time as logs have it: RFC 3339, or seconds or milliseconds since 1970. None for what is none."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            seconds = value / 1000 if abs(value) >= MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
