"""Memory text inside a prompt: between tags that no text can close, a line a piece.

A chat template's own markers lose their effect too: some endpoints read them wherever they stand.
"""

import re
from collections.abc import Iterable
from enum import StrEnum


class Block(StrEnum):
    """What stands between a pair of tags."""

    MESSAGES = "messages"
    KNOWN = "known"  # statements that are stored already
    PREDICTED = "predicted"  # what was expected of the messages
    THEMES = "themes"
    CONTEXT = "context"  # the evidence for a question
    QUESTION = "question"
    ANSWER = "answer"  # that was given to it


_TURNS = r"\||</?SYS>|/?s>|/?(?:start|end)_of_turn|/?(?:bos|eos|pad|think)>"
_OPENING = re.compile(rf"<(?=\W{{0,8}}(?:{'|'.join(Block)})|{_TURNS})|\[(?=/?INST\])", re.IGNORECASE)
_HARMLESS = {"<": "\u2039", "[": "\u2045"}  # they look like the brackets, and open nothing
_NUMBERED = re.compile(r"([a-z]?\d+) (.*)")


def fence(block: Block, lines: Iterable[str]) -> str:
    """The lines between `<block>` and `</block>`. A text's own line breaks and tags lose their effect."""
    inside = (_OPENING.sub(lambda found: _HARMLESS[found[0]], " ".join(line.split())) for line in lines)
    return "\n".join([f"<{block}>", *inside, f"</{block}>"])


def numbered(number: int | str, text: str) -> str:
    """A line that a reply can refer to."""
    return f"{number} {text}"


def unfence(text: str, block: Block) -> list[str]:
    """The lines that `fence` put into a prompt; none if it has no such block."""
    opening, closing = f"<{block}>\n", f"\n</{block}>"
    _, found, rest = text.partition(opening)
    inside, ended, _ = rest.partition(closing)
    return inside.split("\n") if found and ended else []


def read_numbered(line: str) -> tuple[str, str] | None:
    """Number and text of a line that `numbered` wrote; None for any other, such as a heading."""
    found = _NUMBERED.fullmatch(line)
    return None if found is None else (found[1], found[2])
