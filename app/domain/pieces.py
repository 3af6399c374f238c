"""Messages as a language model is shown them: numbered from 1, long ones in parts that share their number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.messages import Message, render
from app.domain.text import count_tokens, split_long

SHORTEST = 16  # tokens of a part; what a model has no room for then, it never will


@dataclass(frozen=True, slots=True)
class Piece:
    """A message, or a part of one. `text` is `Speaker: words`; `said_at` is the message's time."""

    number: int
    text: str
    said_at: datetime


def number(messages: Sequence[Message]) -> list[Piece]:
    """One piece a message."""
    return [Piece(index, render(message), message.occurred_at) for index, message in enumerate(messages, 1)]


def split(piece: Piece, max_tokens: int) -> list[Piece]:
    """A piece in parts of at most `max_tokens`, each after the name of its speaker."""
    if count_tokens(piece.text) <= max_tokens:
        return [piece]
    who, _, words = piece.text.partition(": ")
    room = max(SHORTEST, max_tokens - count_tokens(f"{who}: "))
    return [replace(piece, text=f"{who}: {part}") for part in split_long(words, room)] or [piece]


def halves(pieces: Sequence[Piece]) -> list[Sequence[Piece]]:
    """The same in two parts; a single piece is cut in the middle. One part if there is nothing left to cut."""
    if len(pieces) > 1:
        middle = len(pieces) // 2
        return [pieces[:middle], pieces[middle:]]
    size = sum(count_tokens(piece.text) for piece in pieces)
    if size < 2 * SHORTEST:
        return [pieces]
    parts = split(pieces[0], max(SHORTEST, size // 2))
    return [parts[:1], parts[1:]] if len(parts) > 1 else [pieces]
