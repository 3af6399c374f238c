"""The JSON object in a model's reply, whatever stands around it.

Small models think aloud, fence their JSON, talk around it, put commas before brackets and forget to escape. All of
that is read past. What could hide a loss is a fault instead: an object that never ends, two objects, a key twice.
"""

import json
import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import json_repair

from app.domain.errors import UnusableReply
from app.domain.text import clean

LONGEST = 200_000  # characters of a reply that are looked at; some fifty times what is asked for
DEEPEST = 64  # brackets within brackets; our schemas have five
MOST_OPEN = 30  # brackets of thoughts that never close before the reply is given up: keeps reading linear
KEPT = 0.9  # share of letters and digits that must outlive mending: a mender that guesses may also drop

# An opening bracket that can begin a value: what prose puts into brackets does not look like this.
_OPENING = re.compile(r"""\{\s*(?:["'“}]|\w+\s*:)|\[\s*\{""")
_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]|,(?=\s*[}\]])', re.DOTALL)
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>")


class _KeyTwice(ValueError):
    """Which of two values was meant is anybody's guess."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A bracketed part of a reply. `value` is None if it is no JSON; without `closed` it runs to the end."""

    start: int
    end: int
    text: str
    value: Any = None
    closed: bool = True
    key_twice: bool = False


def read_object(text: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The one JSON object of a reply, its strings as every store can keep them. Linear in the text.

    Raises UnusableReply, which says what is wrong in words that also a model understands.
    """
    if not text.strip():
        raise UnusableReply("it is empty")
    if len(text) > LONGEST:
        raise UnusableReply("it is far longer than asked for")
    pieces = _after_thoughts(text, list(_pieces(text)))
    if any(not piece.closed for piece in pieces):
        raise UnusableReply("it ends before its JSON object does")
    found: dict[str, Any] = _clean(_chosen(pieces, schema or {}))
    return found


def _pieces(text: str) -> Iterator[_Piece]:
    at, never_closed = 0, 0
    while (opening := _OPENING.search(text, at)) is not None:
        piece = _piece(text, opening.start())
        never_closed += not piece.closed
        if never_closed > MOST_OPEN:
            raise UnusableReply("its JSON is broken")
        # What never closes holds all that follows, unless it was part of a thought.
        thought = None if piece.closed else _THOUGHT_END.search(text, opening.start())
        if thought is None:
            yield piece
        at = piece.end if thought is None else thought.end()


def _piece(text: str, start: int) -> _Piece:
    """What the bracket at `start` holds, decoded without the commas that close a list."""
    depth, at, kept = 0, start, []
    for mark in _MARK.finditer(text, start):
        sign = mark[0]
        if sign == ",":
            kept.append(text[at : mark.start()])
            at = mark.end()
        depth += (sign in "{[") - (sign in "}]")
        if sign == '"' or depth > DEEPEST:
            break
        if depth == 0:
            return _decoded(start, mark.end(), "".join([*kept, text[at : mark.end()]]))
    return _Piece(start, len(text), text[start:], closed=False)


def _decoded(start: int, end: int, text: str) -> _Piece:
    try:
        return _Piece(start, end, text, json.loads(text, strict=False, object_pairs_hook=_once, parse_constant=_refuse))
    except _KeyTwice:
        return _Piece(start, end, text, key_twice=True)
    except ValueError:
        return _Piece(start, end, text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _KeyTwice
    return made


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and infinities are no JSON


def _after_thoughts(text: str, pieces: list[_Piece]) -> list[_Piece]:
    """The pieces after the last end of a thought; inside a piece such a tag is only a string's content."""
    starts = [piece.start for piece in pieces]

    def is_content(place: int) -> bool:
        before = bisect(starts, place)
        return before > 0 and place < pieces[before - 1].end

    ends = (mark.end() for mark in _THOUGHT_END.finditer(text) if not is_content(mark.start()))
    begin = max(ends, default=0)
    return [piece for piece in pieces if piece.start >= begin]


def _chosen(pieces: list[_Piece], schema: Mapping[str, Any]) -> dict[str, Any]:
    known = schema.get("properties", {})
    objects = [piece.value for piece in pieces if isinstance(piece.value, dict)]
    answers = [found for found in objects if not _is_schema(found, known)]
    fitting = [found for found in answers if found.keys() & known.keys()] or answers
    if not fitting:
        return _mended(pieces, echoed=bool(objects))
    if any(found != fitting[0] for found in fitting):
        raise UnusableReply("it holds several JSON objects")
    return fitting[0]


def _is_schema(found: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    return "properties" in found and "properties" not in known and not found.keys().isdisjoint({"type", "$defs"})


def _mended(pieces: list[_Piece], *, echoed: bool) -> dict[str, Any]:
    """The last resort, for a single piece with brackets in balance and quotes or commas out of order."""
    if any(piece.key_twice for piece in pieces):
        raise UnusableReply("one of its JSON objects has the same key twice")
    if any(isinstance(piece.value, list) for piece in pieces):
        raise UnusableReply("it is a list instead of a JSON object")
    broken = [piece.text for piece in pieces if piece.value is None]
    if not broken:
        raise UnusableReply("it repeats the schema instead of filling it" if echoed else "it holds no JSON object")
    try:
        mended = json_repair.loads(broken[0], skip_json_loads=True, strict=True) if len(broken) == 1 else None
    except ValueError:
        mended = None
    if (
        not isinstance(mended, dict)
        or not mended
        or _weight(json.dumps(mended, ensure_ascii=False)) < KEPT * _weight(broken[0])
    ):
        raise UnusableReply("its JSON is broken")
    return mended


def _weight(text: str) -> int:
    return sum(map(str.isalnum, text))


def _clean(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {clean(key): _clean(item) for key, item in value.items()} if isinstance(value, dict) else value
