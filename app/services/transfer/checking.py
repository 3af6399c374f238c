"""Checks a file line by line: each by its own form, and against the lines before it. What passes can be imported.

Lines come in the order of an export, so that little must be remembered: ids of what is named later, not texts.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from uuid import UUID

from pydantic import ValidationError

from app.domain.errors import FieldError, InvalidInput
from app.domain.late import WORD_LEVELS
from app.domain.levels import Level
from app.services.transfer.lines import (
    LINE,
    AnyLine,
    ConversationLine,
    End,
    EndedThemeLine,
    EpisodeLine,
    Header,
    Line,
    MessageLine,
    StatementLine,
    ThemeLine,
    TombstoneLine,
    VectorLine,
)

LEVELS = (Level.MESSAGE, Level.EPISODE, Level.STATEMENT)
"""Whose items have vectors, in the order in which those are written."""
FIELDS = 3  # wrong fields of a line that are named


@dataclass(slots=True)
class _Run:
    """An episode, and how many of its messages are still to come."""

    conversation: UUID
    first: int
    last: int
    left: int


@dataclass(slots=True)
class Checker:
    """Knows which lines may come next. `number` counts those that were read."""

    number: int = 0
    header: Header | None = None
    ended: bool = False
    _sum: Any = field(default_factory=hashlib.sha256)
    _counts: Counter[str] = field(default_factory=Counter)
    _order: int = -1
    _key: Any = None
    _conversations: dict[UUID, int] = field(default_factory=dict)  # and the position of the last message
    _names: set[str] = field(default_factory=set)
    _episodes: dict[UUID, _Run] = field(default_factory=dict)
    _starts: set[tuple[UUID, int]] = field(default_factory=set)
    _messages: set[UUID] = field(default_factory=set)
    _external: set[int] = field(default_factory=set)  # hashes: of conversation and id
    _themes: dict[UUID, int] = field(default_factory=dict)  # and how many members are still to come
    _statements: set[UUID] = field(default_factory=set)
    _successors: dict[UUID, int] = field(default_factory=dict)  # and the line that names one first
    _parts: dict[UUID, int] = field(default_factory=dict)  # of the item whose vectors come, the last part

    def feed(self, raw: bytes) -> AnyLine:
        """Read the next line, without its end. Raises InvalidInput, which names the line and the field."""
        self.number += 1
        if self.ended:
            self._refuse("line", "nothing may follow the end")
        line = self._parsed(raw)
        if isinstance(line, Header) != (self.header is None):
            self._refuse("line", "the first line, and no other, must be the header")
        if isinstance(line, Header):
            self.header, self._order = line, line.ORDER
            return line
        if self._order > line.ORDER:
            self._refuse("line", "comes too late: the order of kinds is that of an export")
        if self._order < line.ORDER:
            self._order, self._key = line.ORDER, None
        if isinstance(line, End):
            self._end(line)
            return line
        self._sum.update(raw + b"\n")
        self._counts[line.line] += 1
        _CHECKS[type(line)](self, line)
        return line

    def finish(self) -> Header:
        """All lines are read. Raises InvalidInput if the end is missing: the file is cut."""
        if self.header is None or not self.ended:
            self.number += 1
            self._refuse("line", "the file is cut: its end is missing")
        return self.header

    def _parsed(self, raw: bytes) -> AnyLine:
        try:
            return LINE.validate_json(raw)
        except ValidationError as error:
            wrong = [self._field(one) for one in error.errors(include_input=False, include_url=False)[:FIELDS]]
            detail = "; ".join(f"{one.pointer}: {one.detail}" for one in wrong)
            raise InvalidInput(detail, wrong) from None

    def _field(self, error: Mapping[str, Any]) -> FieldError:
        kind, place = error["type"], "/".join(str(part)[:100] for part in error["loc"][1:])
        if kind == "json_invalid":
            return FieldError(f"line/{self.number}", f"is no JSON: {error['ctx']['error']}")
        if kind.startswith(("union_tag", "model_type", "dict_type", "model_attributes")):
            return FieldError(f"line/{self.number}/line", "must be an object whose `line` names a kind of this version")
        where = f"line/{self.number}/{place}" if place else f"line/{self.number}"
        return FieldError(where, error["msg"].removeprefix("Value error, "))

    def _refuse(self, name: str, detail: str) -> NoReturn:
        pointer = f"line/{self.number}/{name}"
        raise InvalidInput(f"{pointer}: {detail}", [FieldError(pointer, detail)])

    def _ascending(self, name: str, key: Any) -> None:  # noqa: ANN401  (what orders a kind)
        if self._key is not None and key <= self._key:
            self._refuse(name, "must be greater than that of the line before")
        self._key = key

    @property
    def _head(self) -> Header:
        assert self.header is not None
        return self.header

    def _conversation(self, line: ConversationLine) -> None:
        self._ascending("id", line.id)
        if line.name in self._names:
            self._refuse("name", "is that of another conversation")
        self._names.add(line.name)
        self._conversations[line.id] = 0

    def _in_conversation(self, id_: UUID) -> None:
        if id_ not in self._conversations:
            self._refuse("conversation_id", "is no conversation of this file")

    def _episode(self, line: EpisodeLine) -> None:
        self._ascending("id", line.id)
        self._in_conversation(line.conversation_id)
        if not line.first_sequence <= line.last_sequence <= self._head.sequence:
            self._refuse("last_sequence", "must lie between first_sequence and the header's sequence")
        if line.ended_at < line.started_at:
            self._refuse("ended_at", "must not be before started_at")
        if (start := (line.conversation_id, line.first_sequence)) in self._starts:
            self._refuse("first_sequence", "is that of another episode")
        self._starts.add(start)
        run = _Run(line.conversation_id, line.first_sequence, line.last_sequence, line.message_count)
        self._episodes[line.id] = run

    def _message(self, line: MessageLine) -> None:
        self._ascending("sequence", line.sequence)
        if line.sequence > self._head.sequence:
            self._refuse("sequence", "must not be greater than the header's")
        self._in_conversation(line.conversation_id)
        if line.position <= self._conversations[line.conversation_id]:
            self._refuse("position", "must be greater than that of the message before in its conversation")
        self._conversations[line.conversation_id] = line.position
        if line.id in self._messages:
            self._refuse("id", "is that of another message")
        self._messages.add(line.id)
        if not line.content.strip() and not line.images:
            self._refuse("content", "must not be blank in a message without an image")
        if line.external_id is not None:
            if (name := hash((line.conversation_id, line.external_id))) in self._external:
                self._refuse("external_id", "is that of another message of its conversation")
            self._external.add(name)
        if line.episode_id is not None:
            self._inside(line, self._episodes.get(line.episode_id))

    def _inside(self, line: MessageLine, run: _Run | None) -> None:
        if run is None or run.conversation != line.conversation_id:
            self._refuse("episode_id", "is no episode of its conversation")
        if not run.first <= line.sequence <= run.last or run.left == 0:
            self._refuse("episode_id", "is an episode that does not reach to this message")
        run.left -= 1

    def _tombstone(self, line: TombstoneLine) -> None:
        self._ascending("id", line.id)
        if line.id in self._messages:
            self._refuse("id", "is that of a message")
        if line.sequence > self._head.sequence:
            self._refuse("sequence", "must not be greater than the header's")

    def _theme(self, line: ThemeLine) -> None:
        self._ascending("id", line.id)
        self._themes[line.id] = line.size
        if (line.vector_sum is not None) != self._head.vectors:
            self._refuse("vector_sum", "must stand in files with vectors, and in no others")
        if line.vector_sum is not None and len(line.vector_sum) != self._head.dimension:
            self._refuse("vector_sum", "must have as many numbers as the header's profile says")

    def _ended_theme(self, line: EndedThemeLine) -> None:
        self._ascending("id", line.id)
        if line.id in self._themes:
            self._refuse("id", "is that of a theme")

    def _statement(self, line: StatementLine) -> None:
        self._ascending("id", line.id)
        self._statements.add(line.id)
        if line.theme_id is not None:
            self._member(line, line.theme_id)
        if not self._messages.issuperset(line.messages):
            self._refuse("messages", "must be messages of this file")
        if line.support != len(set(line.messages)) or len(set(line.messages)) != len(line.messages):
            self._refuse("support", "must be how many messages it cites, each once")
        if line.superseded_by == line.id:
            self._refuse("superseded_by", "must be another statement")
        if line.superseded_by is not None:
            self._successors.setdefault(line.superseded_by, self.number)

    def _member(self, line: StatementLine, theme: UUID) -> None:
        if theme not in self._themes:
            self._refuse("theme_id", "is no theme of this file")
        if line.superseded_by is not None:
            self._refuse("theme_id", "must be null in a statement that was superseded")
        self._themes[theme] -= 1

    def _vector(self, line: VectorLine) -> None:
        if not self._head.vectors:
            self._refuse("line", "the header says that there are no vectors")
        self._ascending("item_id", (LEVELS.index(line.level), line.item_id, line.part))
        items = {Level.MESSAGE: self._messages, Level.EPISODE: self._episodes, Level.STATEMENT: self._statements}
        if line.item_id not in items[line.level]:
            self._refuse("item_id", "is no item of this level in this file")
        if line.part != self._parts.get(line.item_id, -1) + 1:
            self._refuse("part", "must count 0, 1, … in its item")
        self._parts = {line.item_id: line.part}
        if len(line.vector) != self._head.dimension:
            self._refuse("vector", "must have as many numbers as the header's profile says")
        if line.words is not None and line.level not in WORD_LEVELS:
            self._refuse("words", "must be null on this level")

    def _end(self, line: End) -> None:
        lost = [number for successor, number in self._successors.items() if successor not in self._statements]
        if lost:
            self.number = lost[0]
            self._refuse("superseded_by", "is no statement of this file")
        if any(run.left for run in self._episodes.values()):
            self._refuse("line", "an episode has fewer messages than it says")
        if any(self._themes.values()):
            self._refuse("line", "a theme has more or fewer statements than it says")
        if dict(self._counts) != {kind: count for kind, count in self._head.counts.model_dump().items() if count}:
            self._refuse("line", "there are more or fewer lines of a kind than the header counts")
        if line.lines != self.number - 1:
            self._refuse("lines", "must be how many lines stand before this one")
        if line.sha256 != self._sum.hexdigest():
            self._refuse("sha256", "is another: something was changed or lost on the way")
        self.ended = True


_CHECKS: Mapping[type[Line], Callable[[Checker, Any], None]] = {
    ConversationLine: Checker._conversation,
    EpisodeLine: Checker._episode,
    MessageLine: Checker._message,
    TombstoneLine: Checker._tombstone,
    ThemeLine: Checker._theme,
    EndedThemeLine: Checker._ended_theme,
    StatementLine: Checker._statement,
    VectorLine: Checker._vector,
}
