"""Where a conversation's buffer is cut into episodes: hard signals first, then drops in similarity, or a model.

A run is decided from its own messages and the few that follow it, so the cuts do not depend on how the
stream was batched: message by message or all at once, the runs are the same (a flush or an idle close,
which end a run early, excepted). For the same reason a model is asked about a run only once its hard end is
known: then every question closes a run, and none is asked again when the next message comes.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.episodes import BoundaryReason
from app.domain.messages import Message, Role
from app.domain.vectors import Matrix, unit

NOISE = 0.05  # length; a unit vector that differs from the mean by less says nothing about its topic
QUESTION_MARKS = ("?", "？", "؟")
CAPS = (BoundaryReason.MAX_MESSAGES, BoundaryReason.MAX_TOKENS)


@dataclass(frozen=True, slots=True)
class SegmentPolicy:
    """When a run closes. `depth` and `cap_depth` are drops of similarity, in [0, 4] (see `_depth`).

    The soft constants were chosen on five long conversations joined without their gaps, by how the cuts
    agree with the borders of the sittings: 27 % precision within one message, twice chance.
    """

    gap_seconds: float = 1800  # of event time between neighbours, in either direction
    max_messages: int = 25
    max_tokens: int = 2048  # of rendered messages
    idle_close_seconds: float = 1800  # of record time: then nothing stays open; the caller has the clock
    window: int = 4  # messages compared on each side of a border
    reach: int = 3  # borders on each side that a valley is measured against
    min_messages: int = 4  # on each side of a topic cut
    depth: float = 0.45  # what a topic cut needs
    cap_depth: float = 0.2  # what is enough when the cap forces a cut anyway
    question: float = 0.1  # similarity a border gains when it stands between a question and its answer
    asked: int = 20  # messages that a model is shown at once
    asked_from: int = 12  # messages of a run, at least: a shorter one is of one topic more often than not
    unclear: float = 0.2  # depth of a valley from which a model is asked whether it is a border

    def __post_init__(self) -> None:
        """Raise ValueError where a limit could never be met."""
        if min(self.max_messages, self.max_tokens, self.window, self.reach, self.min_messages) < 1:
            raise ValueError("limits and sizes of a segment policy must be at least 1")


@dataclass(frozen=True, slots=True)
class Run:
    """The messages `[start, stop)` of the given buffer, to become one episode, and why it closed."""

    start: int
    stop: int
    reason: BoundaryReason


@dataclass(frozen=True, slots=True)
class Window:
    """The messages `[start, stop)` of a run whose signals are unclear: a model may say where topics begin."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """The closed runs at the front of a buffer, and the window that must be cleared up before the next one."""

    runs: tuple[Run, ...]
    unclear: Window | None


def cut(
    messages: Sequence[Message],
    vectors: Matrix,
    tokens: Sequence[int],
    policy: SegmentPolicy,
    *,
    close_through: int | None = None,
    idle: bool = False,
) -> list[Run]:
    """The closed runs at the front of a buffer; what follows the last one stays open.

    Args:
        messages: one conversation's buffer, in sequence order.
        vectors: shape (n, dimension), of the rendered messages.
        tokens: n counts, of the rendered messages.
        policy: limits and soft constants.
        close_through: a flush: every message with this sequence or a lower one ends in a run.
        idle: the conversation has rested long enough: nothing stays open.

    Returns:
        Contiguous runs from index 0. Each holds at most `max_messages` messages, and at most `max_tokens`
        tokens unless it is one message that is longer by itself.

    Raises:
        ValueError: the three sequences differ in length.
    """
    buffer = _Buffer.of(messages, vectors, tokens, policy, close_through, idle=idle)
    runs: list[Run] = []
    start = 0
    while start < len(messages) and (run := buffer.next_run(start)):
        runs.append(run)
        start = run.stop
    return runs


def cut_with_model(
    messages: Sequence[Message],
    vectors: Matrix,
    tokens: Sequence[int],
    policy: SegmentPolicy,
    said: Mapping[int, Collection[int] | None],
    *,
    close_through: int | None = None,
    idle: bool = False,
) -> Cuts:
    """The same, with a model to clear up what the signals leave unclear; called again with each answer.

    Args:
        messages: as for `cut`; so are `vectors`, `tokens`, `policy`, `close_through` and `idle`.
        said: answers by the start of their window: the messages that begin a topic; None where the model
            gave none, then the signals decide alone.
    """
    buffer = _Buffer.of(messages, vectors, tokens, policy, close_through, idle=idle)
    runs: list[Run] = []
    start = 0
    while start < len(messages) and (hard := buffer.hard_end(start)):
        window = buffer.unclear(hard)
        if window is not None and start not in said:
            return Cuts(tuple(runs), window)
        runs += buffer.by_topic(hard, said[start] if window else ())
        start = runs[-1].stop
    return Cuts(tuple(runs), None)


def _closing(messages: Sequence[Message], close_through: int | None, *, idle: bool) -> dict[int, BoundaryReason]:
    """Borders that are closed by request: index of the message after each → reason."""
    closing = {len(messages): BoundaryReason.IDLE} if idle else {}
    if close_through is not None:
        closing[sum(message.sequence <= close_through for message in messages)] = BoundaryReason.FLUSH
    return closing


@dataclass(frozen=True, slots=True)
class _Buffer:
    messages: Sequence[Message]
    vectors: Matrix  # unit rows
    tokens: Sequence[int]
    policy: SegmentPolicy
    closing: dict[int, BoundaryReason]

    @classmethod
    def of(
        cls,
        messages: Sequence[Message],
        vectors: Matrix,
        tokens: Sequence[int],
        policy: SegmentPolicy,
        close_through: int | None,
        *,
        idle: bool,
    ) -> "_Buffer":
        if not len(messages) == len(vectors) == len(tokens):
            raise ValueError("messages, vectors and tokens must have one entry a message")
        return cls(messages, unit(vectors), tokens, policy, _closing(messages, close_through, idle=idle))

    def next_run(self, start: int) -> Run | None:
        """The run that begins at `start`, or None while it is still open."""
        hard = self.hard_end(start)
        known = hard.stop if hard else len(self.messages)
        depths = self._depths(start, known, ended=hard is not None)
        topic = next((border for border, depth in depths.items() if depth >= self.policy.depth), None)
        if topic is not None:
            return Run(start, topic, BoundaryReason.TOPIC)
        if hard and hard.reason in CAPS:
            return Run(start, self._best_before_cap(start, hard.stop, depths), hard.reason)
        return hard

    def unclear(self, hard: Run) -> Window | None:
        """The window to ask a model about before the run is closed; None if there is nothing to ask."""
        stop = min(hard.start + self.policy.asked, hard.stop)
        if stop - hard.start < self.policy.asked_from:
            return None
        depths = self._depths(hard.start, hard.stop, ended=True)
        valleys = (border for border, depth in depths.items() if depth >= self.policy.unclear and border < stop)
        return None if next(valleys, None) is None else Window(hard.start, stop)

    def by_topic(self, hard: Run, begins: Collection[int] | None) -> list[Run]:
        """The run cut before the messages that begin a topic; what is left of a full one stays open."""
        if begins is None:
            return [self.next_run(hard.start) or hard]
        runs: list[Run] = []
        start = hard.start
        for border in sorted(begins):
            if self._may_begin(border, start, hard.stop):
                runs.append(Run(start, border, BoundaryReason.TOPIC))
                start = border
        if not runs and hard.reason in CAPS:
            depths = self._depths(hard.start, hard.stop, ended=True)
            return [Run(start, self._best_before_cap(start, hard.stop, depths), hard.reason)]
        return runs if hard.reason in CAPS else [*runs, Run(start, hard.stop, hard.reason)]

    def _may_begin(self, border: int, start: int, stop: int) -> bool:
        """Whether a topic may begin there: far enough from both ends, and not with an answer."""
        least = self.policy.min_messages
        fits = start + least <= border <= stop - least
        return fits and not _answers(self.messages[border - 1], self.messages[border])

    def hard_end(self, start: int) -> Run | None:
        """The run from `start` to the first border that no similarity can move."""
        if self.tokens[start] > self.policy.max_tokens:
            return Run(start, start + 1, BoundaryReason.LONG_MESSAGE)
        total = self.tokens[start]
        for border in range(start + 1, len(self.messages) + 1):
            if reason := self._hard_reason(start, border, total):
                return Run(start, border, reason)
            if border < len(self.messages):
                total += self.tokens[border]
        return None

    def _hard_reason(self, start: int, border: int, total: int) -> BoundaryReason | None:
        """Why the run `[start, border)` of `total` tokens must end, if it must."""
        # The cap comes first: it is reached before the next message is known, in a stream.
        if border - start >= self.policy.max_messages:
            return BoundaryReason.MAX_MESSAGES
        if border < len(self.messages):
            before, after = self.messages[border - 1], self.messages[border]
            seconds = (after.occurred_at - before.occurred_at).total_seconds()
            if abs(seconds) >= self.policy.gap_seconds:  # backwards: a message told late, of another time
                return BoundaryReason.GAP
            if total + self.tokens[border] > self.policy.max_tokens:
                return BoundaryReason.MAX_TOKENS
        return self.closing.get(border)

    def _depths(self, start: int, stop: int, *, ended: bool) -> dict[int, float]:
        """How deep similarity drops at each border of `[start, stop)` that may be a topic's end, in order.

        While the run has no end yet, a border counts only once all messages its depth rests on are there.
        """
        policy = self.policy
        ahead = policy.window + policy.reach
        last = stop - (policy.min_messages if ended else max(ahead, policy.min_messages))
        return {
            border: self._depth(start, border, min(border + ahead, stop))
            for border in range(start + policy.min_messages, last + 1)
            if not _answers(self.messages[border - 1], self.messages[border])
        }

    def _depth(self, start: int, border: int, stop: int) -> float:
        """The valley at `border` against the best border near it on each side; 0 if it is no valley."""
        rows = self.vectors[start:stop]
        # What all messages share, such as the speakers' names, hides the topic: compare what is left.
        apart = rows - rows.mean(axis=0)
        apart = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), NOISE)
        at = border - start
        first, end = max(1, at - self.policy.reach), min(at + self.policy.reach + 1, len(rows))
        links = {index: self._link(apart, start, index) for index in range(first, end)}
        here = links.pop(at)
        before = max((link for index, link in links.items() if index < at), default=here)
        after = max((link for index, link in links.items() if index > at), default=here)
        is_valley = all(here <= link for link in links.values())
        return before + after - 2 * here if is_valley else 0.0

    def _link(self, apart: Matrix, start: int, at: int) -> float:
        """How well the messages on one side of a border find a match on the other, in about [-1, 1]."""
        window = self.policy.window
        pairs = apart[max(0, at - window) : at] @ apart[at : at + window].T
        best = float(np.concatenate([pairs.max(axis=0), pairs.max(axis=1)]).mean())
        asked = self.messages[start + at - 1].content.rstrip().endswith(QUESTION_MARKS)
        return best + self.policy.question * asked

    def _best_before_cap(self, start: int, stop: int, depths: dict[int, float]) -> int:
        """The deepest border in the last third of a full run; the cap itself where none is deep enough."""
        late = {border: depth for border, depth in depths.items() if border - start > (stop - start) * 2 // 3}
        best = max(late, key=late.__getitem__, default=stop)
        return best if late.get(best, 0.0) >= self.policy.cap_depth else stop


def _answers(before: Message, after: Message) -> bool:
    """Whether `after` is a reply by its role: an answer is never cut from its question by topic."""
    return after.role is Role.TOOL or (after.role is Role.ASSISTANT and before.role is not Role.ASSISTANT)
