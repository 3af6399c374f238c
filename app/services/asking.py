"""Asking a language model about messages of any length: in one call where they fit, else in parts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from app.domain.chat import Prompt
from app.domain.errors import ContextOverflow, CutOff
from app.domain.pieces import SHORTEST, Piece, halves, split
from app.domain.text import count_tokens
from app.providers.protocols import ChatModel
from app.providers.structured import ask, size_of

T = TypeVar("T")

REPLY_SHARE = 3  # a reply gets at most one part in so many of the window
MARGIN = 64  # tokens that a chat template adds, about, and one more for each line


async def fits(model: ChatModel, prompt: Prompt) -> bool:
    """Whether a prompt and its reply are within the model's window: not every server refuses what is not."""
    window = (await model.capabilities()).context_tokens
    return size_of(model, prompt) + prompt.max_tokens + MARGIN <= window


async def ask_in_parts(
    model: ChatModel,
    pieces: Sequence[Piece],
    render: Callable[[Sequence[Piece]], Prompt],
    parse: Callable[[object], T],
) -> list[T]:
    """What the model says of the pieces, of as many at once as its window holds; in order, at least one answer.

    Where a reply comes to its limit of tokens, each half of its pieces gets one of its own. Raises what
    `structured.ask` raises; ContextOverflow only where even a few words are too long.
    """
    window = (await model.capabilities()).context_tokens
    parts = await asyncio.to_thread(_fitting, model, pieces, render(()), window)

    async def of(pieces: Sequence[Piece], *, longer: bool = True) -> list[T]:
        """`longer`: two replies may say what one has no room for; a model that never ends is not asked without end."""
        parts = halves(pieces)
        longer = longer and len(parts) > 1
        try:
            return [await ask(model, _bounded(render(pieces), window), parse, divisible=longer)]
        except ContextOverflow:
            if len(parts) == 1:
                raise
        except CutOff:
            if not longer:
                raise
            longer = False
        return [answer for part in parts for answer in await of(part, longer=longer)]

    return [answer for part in parts for answer in await of(part)]


def _bounded(prompt: Prompt, window: int) -> Prompt:
    return replace(prompt, max_tokens=min(prompt.max_tokens, window // REPLY_SHARE))


def _fitting(model: ChatModel, pieces: Sequence[Piece], frame: Prompt, window: int) -> list[list[Piece]]:
    """The pieces in as few runs as fit beside the frame, a prompt without any; too long ones are split."""
    room = window - _bounded(frame, window).max_tokens - MARGIN - size_of(model, frame)
    runs: list[list[Piece]] = [[]]
    used = 0
    for piece in pieces:
        for part in _split(model, piece, max(room, SHORTEST)):
            tokens = _tokens(model, part)
            if runs[-1] and used + tokens > room:
                runs.append([])
                used = 0
            runs[-1].append(part)
            used += tokens
    return runs


def _split(model: ChatModel, piece: Piece, room: int) -> list[Piece]:
    tokens = _tokens(model, piece)
    if tokens <= room:
        return [piece]
    # Where the model counts more than we do, as many more as in all of the text.
    return split(piece, max(SHORTEST, room * count_tokens(piece.text) // tokens))


def _tokens(model: ChatModel, piece: Piece) -> int:
    """Of a piece with its number and its share of the lines that give the time."""
    return model.count_tokens(piece.text) + MARGIN // 8
