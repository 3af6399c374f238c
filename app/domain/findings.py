"""What the doctor may find: faults as values, without any memory text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

SHOWN = 5  # ids of a finding that are printed; all are kept, for the repair


class Fault(StrEnum):
    """What can be wrong. Its value is printed; `MEANING` says it in a sentence."""

    SEQUENCE_GAP = "sequence_gap"
    SEQUENCE_COUNTER = "sequence_counter"
    POSITION_GAP = "position_gap"
    FOREIGN_EPISODE = "foreign_episode"
    BUFFER_OVERTAKEN = "buffer_overtaken"
    BUFFER_OVERDUE = "buffer_overdue"
    EPISODE_EMPTY = "episode_empty"
    EPISODE_NUMBERS = "episode_numbers"
    EPISODE_SCATTERED = "episode_scattered"
    EPISODE_OVER_CAPS = "episode_over_caps"
    EPISODE_NOT_ADMITTED = "episode_not_admitted"
    VECTORS_MISSING = "vectors_missing"
    VECTORS_WRONG = "vectors_wrong"
    VECTORS_STRAY = "vectors_stray"
    VECTORS_UNREAD = "vectors_unread"
    POSTINGS_WRONG = "postings_wrong"
    POSTINGS_STRAY = "postings_stray"
    WORD_STATISTICS = "word_statistics"
    STATEMENT_UNCITED = "statement_uncited"
    STATEMENT_SUPPORT = "statement_support"
    STATEMENT_WITHOUT_THEME = "statement_without_theme"
    SUCCESSOR_LOST = "successor_lost"
    THEME_EMPTY = "theme_empty"
    THEME_SIZE = "theme_size"
    THEME_VECTORS = "theme_vectors"
    JOB_SILENT = "job_silent"
    ERASURE_STUCK = "erasure_stuck"
    ORPHANS = "orphans"
    ROWS_OF_NOBODY = "rows_of_nobody"


MEANING: Mapping[Fault, str] = {
    Fault.SEQUENCE_GAP: "message numbers are missing from 1..n that were not erased",
    Fault.SEQUENCE_COUNTER: "the namespace's counter is behind its newest message",
    Fault.POSITION_GAP: "a conversation's positions, with those erased, are not 1..n in the order of its messages",
    Fault.FOREIGN_EPISODE: "messages are in an episode of another conversation",
    Fault.BUFFER_OVERTAKEN: "messages are in the buffer behind messages that are in an episode",
    Fault.BUFFER_OVERDUE: "conversations at rest are still open, and no job knows of them",
    Fault.EPISODE_EMPTY: "episodes have no message",
    Fault.EPISODE_NUMBERS: "an episode's count, tokens, range or times are not those of its messages",
    Fault.EPISODE_SCATTERED: "an episode is no contiguous run of its conversation",
    Fault.EPISODE_OVER_CAPS: "episodes are over the caps that are configured",
    Fault.EPISODE_NOT_ADMITTED: "episodes have no statements yet, and no job knows of them",
    Fault.VECTORS_MISSING: "items have no vectors, or not all parts, and no open job covers them",
    Fault.VECTORS_WRONG: "vectors are not of length 1, or not of the profile's dimension, or those of words are torn",
    Fault.VECTORS_STRAY: "vectors belong to no item",
    Fault.VECTORS_UNREAD: "vectors are of a profile that is not read, and no job is at work on them",
    Fault.POSTINGS_WRONG: "an item's postings are not the terms of its text",
    Fault.POSTINGS_STRAY: "postings belong to no item",
    Fault.WORD_STATISTICS: "a level's documents or total length are not those of its items",
    Fault.STATEMENT_UNCITED: "statements cite no message",
    Fault.STATEMENT_SUPPORT: "a statement's support is not the number of messages that it cites",
    Fault.STATEMENT_WITHOUT_THEME: "current statements have no theme, and no job knows of them",
    Fault.SUCCESSOR_LOST: "statements were superseded by one that does not exist",
    Fault.THEME_EMPTY: "themes have no current statement",
    Fault.THEME_SIZE: "a theme's size is not the number of its current statements",
    Fault.THEME_VECTORS: "a theme's sum or centroid is not that of its statements",
    Fault.JOB_SILENT: "jobs are running whose worker has gone silent",
    Fault.ERASURE_STUCK: "something was deleted in these namespaces, and no job erases it",
    Fault.ORPHANS: "rows refer to rows that do not exist",
    Fault.ROWS_OF_NOBODY: "rows belong to a namespace that does not exist",
}

REPAIRABLE = frozenset(
    {
        Fault.SEQUENCE_COUNTER,
        Fault.BUFFER_OVERDUE,
        Fault.EPISODE_NUMBERS,
        Fault.EPISODE_NOT_ADMITTED,
        Fault.VECTORS_MISSING,
        Fault.VECTORS_WRONG,
        Fault.VECTORS_STRAY,
        Fault.VECTORS_UNREAD,
        Fault.POSTINGS_WRONG,
        Fault.POSTINGS_STRAY,
        Fault.WORD_STATISTICS,
        Fault.STATEMENT_SUPPORT,
        Fault.STATEMENT_WITHOUT_THEME,
        Fault.THEME_EMPTY,
        Fault.THEME_SIZE,
        Fault.THEME_VECTORS,
        Fault.JOB_SILENT,
    }
)
"""Rebuilt from the messages and statements that are there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault in one namespace. `where` is a level, a table or a reference; `ids` are what is affected.

    `count` may exceed the ids: a missing number has none.
    """

    namespace: str
    fault: Fault
    where: str
    count: int
    ids: tuple[UUID, ...] = ()

    @property
    def repairable(self) -> bool:
        """Whether a repair can mend it."""
        return self.fault in REPAIRABLE


@dataclass(slots=True)
class Notes:
    """Collects faults of one namespace while it is looked over."""

    namespace: str
    _ids: dict[tuple[Fault, str], dict[UUID, None]] = field(default_factory=dict)
    _counts: dict[tuple[Fault, str], int] = field(default_factory=dict)

    def add(self, fault: Fault, ids: Iterable[UUID], where: str = "") -> None:
        """Note items that have this fault; each once."""
        for id_ in ids:
            self._ids.setdefault((fault, where), {})[id_] = None

    def count(self, fault: Fault, count: int, where: str = "") -> None:
        """Note a fault of things without an id."""
        if count:
            self._counts[(fault, where)] = self._counts.get((fault, where), 0) + count

    def findings(self) -> list[Finding]:
        """All that was noted, in the order of `Fault`."""
        order = list(Fault)
        keys = sorted({*self._ids, *self._counts}, key=lambda key: (order.index(key[0]), key[1]))
        return [
            Finding(
                self.namespace,
                *key,
                self._counts.get(key, 0) + len(self._ids.get(key, {})),
                tuple(self._ids.get(key, ())),
            )
            for key in keys
        ]
