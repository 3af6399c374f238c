"""What must hold of stored memory, as rules over values: read once in the order of the messages."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain.episodes import Episode
from app.domain.findings import Fault, Notes
from app.domain.ids import ConversationId, EpisodeId, MessageId, ThemeId
from app.domain.messages import Message, body, render
from app.domain.records import Statement
from app.domain.segmentation import SegmentPolicy
from app.domain.text import count_tokens, terms
from app.domain.vectors import Vector, unit

IdT = TypeVar("IdT", bound=UUID)

TOLERANCE = 1e-3  # of vectors: sums are kept in float32, and members come and go


def message_terms(message: Message) -> list[str]:
    """The terms a message is found by."""
    return terms(f"{message.speaker or ''} {body(message.content, message.images)}")


class Told(Protocol):
    """What has a title and a narrative."""

    @property
    def title(self) -> str:
        """In some words."""
        ...

    @property
    def narrative(self) -> str:
        """In some sentences."""
        ...


def shown(episode: Told) -> str:
    """The text an episode is found by."""
    return f"{episode.title}\n{episode.narrative}"


@dataclass(slots=True)
class Tally:
    """What an episode's messages say about it."""

    conversations: set[ConversationId] = field(default_factory=set)
    count: int = 0
    tokens: int = 0
    first: int = 0
    last: int = 0
    started: datetime | None = None
    ended: datetime | None = None

    def add(self, message: Message) -> None:
        """Count one more message; they come in order."""
        self.conversations.add(message.conversation)
        self.first = self.first if self.count else message.sequence
        self.last = message.sequence
        self.count += 1
        self.tokens += count_tokens(render(message))
        self.started = min(self.started or message.occurred_at, message.occurred_at)
        self.ended = max(self.ended or message.occurred_at, message.occurred_at)


@dataclass(slots=True)
class _Stream:
    """How far a conversation was read."""

    seen: int = 0
    position: int = 0
    misplaced: bool = False
    current: EpisodeId | None = None
    left: set[EpisodeId] = field(default_factory=set)
    buffered: list[MessageId] = field(default_factory=list)


@dataclass(slots=True)
class Walk:
    """Reads all messages of a namespace in the order of their sequence, and notes what is off.

    `erased`: how many messages of each conversation were erased, and the highest position that one of them had.
    """

    notes: Notes
    erased: Mapping[ConversationId, tuple[int, int]] = field(default_factory=dict)
    seen: int = 0
    newest: int = 0
    tallies: dict[EpisodeId, Tally] = field(default_factory=dict)
    _streams: dict[ConversationId, _Stream] = field(default_factory=dict)

    def feed(self, messages: Iterable[Message]) -> None:
        """Read on."""
        for message in messages:
            self.seen += 1
            self.newest = message.sequence
            stream = self._streams.setdefault(message.conversation, _Stream())
            stream.seen += 1
            stream.misplaced |= message.position <= stream.position
            stream.position = message.position
            self._follow(stream, message)
            if message.episode is not None:
                self.tallies.setdefault(message.episode, Tally()).add(message)

    def _follow(self, stream: _Stream, message: Message) -> None:
        episode = message.episode
        if episode is None:
            stream.buffered.append(message.id)
        elif stream.buffered:
            self.notes.add(Fault.BUFFER_OVERTAKEN, stream.buffered)
            stream.buffered.clear()
        if episode == stream.current:
            return
        if stream.current is not None:
            stream.left.add(stream.current)
        if episode in stream.left:
            self.notes.add(Fault.EPISODE_SCATTERED, [episode])
        stream.current = episode

    def end(self, sequence: int) -> None:
        """All are read: what holds of them together. `sequence` is the namespace's counter."""
        highest = max(self.newest, sequence)
        erased = sum(count for count, _ in self.erased.values())
        self.notes.count(Fault.SEQUENCE_GAP, highest - self.seen - erased)
        self.notes.count(Fault.SEQUENCE_COUNTER, int(sequence < self.newest))
        misplaced = [id_ for id_, stream in self._streams.items() if stream.misplaced or self._lacks_some(id_, stream)]
        self.notes.add(Fault.POSITION_GAP, misplaced)

    def _lacks_some(self, conversation: ConversationId, stream: _Stream) -> bool:
        """Whether a conversation's positions, with those of erased messages, are not 1..n."""
        erased, last = self.erased.get(conversation, (0, 0))
        return max(stream.position, last) != stream.seen + erased

    def judge(self, episodes: Iterable[Episode], caps: SegmentPolicy) -> None:
        """Compare episodes with their messages."""
        for episode in episodes:
            tally = self.tallies.get(episode.id)
            if tally is None:
                self.notes.add(Fault.EPISODE_EMPTY, [episode.id])
                continue
            if tally.conversations != {episode.conversation}:
                self.notes.add(Fault.FOREIGN_EPISODE, [episode.id])
            elif not agrees(episode, tally):
                self.notes.add(Fault.EPISODE_NUMBERS, [episode.id])
            if tally.count > caps.max_messages or (tally.count > 1 and tally.tokens > caps.max_tokens):
                self.notes.add(Fault.EPISODE_OVER_CAPS, [episode.id])


def agrees(episode: Episode, tally: Tally) -> bool:
    """Whether an episode's numbers are those of its messages."""
    said = (episode.message_count, episode.tokens, episode.first_sequence, episode.last_sequence)
    times = (episode.started_at, episode.ended_at)
    return said == (tally.count, tally.tokens, tally.first, tally.last) and times == (tally.started, tally.ended)


Indexed = Mapping[str, tuple[int, int]]
"""An item's postings: term → (its frequency, the item's length)."""


@dataclass(slots=True)
class Words:
    """Checks a level's postings, and sums up what its statistics must be."""

    documents: int = 0
    total: int = 0

    def wrong(self, texts: Mapping[IdT, Sequence[str]], stored: Mapping[UUID, Indexed]) -> list[IdT]:
        """Items whose postings are not the terms of their texts."""
        found = []
        for item, words in texts.items():
            self.documents += 1
            self.total += len(words)
            expected = {term: (count, len(words)) for term, count in Counter(words).items()}
            if expected != stored.get(item, {}):
                found.append(item)
        return found


def badly_made(parts: Sequence[tuple[int, Vector]], dimension: int) -> bool:
    """Whether any of an item's vectors is not of length 1 and of this dimension."""
    return any(len(vector) != dimension or abs(_length(vector) - 1) > TOLERANCE for _, vector in parts)


def incomplete(parts: Sequence[tuple[int, Vector]]) -> bool:
    """Whether an item lacks vectors: it has none, or its parts are not 0, 1, 2, …"""
    return not parts or sorted(part for part, _ in parts) != list(range(len(parts)))


def _length(vector: Vector) -> float:
    return float(np.linalg.norm(vector))


@dataclass(slots=True)
class Members:
    """What a theme's current statements say about it."""

    size: int = 0
    total: NDArray[np.float64] | None = None
    complete: bool = True  # every member's vector is there to be summed

    def add(self, vector: Vector | None) -> None:
        """Count one more member."""
        self.size += 1
        if vector is None or (self.total is not None and len(vector) != len(self.total)):
            self.complete = False  # which is a finding of its own
        else:
            self.total = vector.astype(np.float64) + (0 if self.total is None else self.total)


def theme_faults(size: int, vector_sum: Vector, centroid: Vector, members: Members | None) -> list[Fault]:
    """What is wrong with a theme, given its members."""
    if members is None:
        return [Fault.THEME_EMPTY]
    faults = [Fault.THEME_SIZE] if size != members.size else []
    if members.complete and members.total is not None and not _same_sum(vector_sum, centroid, members):
        faults.append(Fault.THEME_VECTORS)
    return faults


def _same_sum(vector_sum: Vector, centroid: Vector, members: Members) -> bool:
    total = members.total
    if total is None or not len(vector_sum) == len(centroid) == len(total):
        return False
    near = np.allclose(vector_sum, total, atol=TOLERANCE * max(1, members.size))
    return near and np.allclose(centroid, unit(total.astype(np.float32)), atol=TOLERANCE * 10)


def judge_statements(statements: Iterable[Statement], notes: Notes, *, maintained: bool) -> dict[ThemeId, list[UUID]]:
    """Note what is wrong with statements; returns the current members of each theme.

    Args:
        statements: with all their citations.
        notes: where to note.
        maintained: a job knows of the statements that wait for a theme.
    """
    members: dict[ThemeId, list[UUID]] = {}
    for statement in statements:
        if not statement.messages:
            notes.add(Fault.STATEMENT_UNCITED, [statement.id])
        elif statement.support != len(statement.messages):
            notes.add(Fault.STATEMENT_SUPPORT, [statement.id])
        if statement.superseded_by is not None:
            continue
        if statement.theme is not None:
            members.setdefault(statement.theme, []).append(statement.id)
        elif not maintained:
            notes.add(Fault.STATEMENT_WITHOUT_THEME, [statement.id])
    return members
