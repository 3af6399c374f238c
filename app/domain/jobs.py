"""Jobs as values: persisted units of background work with a visible state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.domain.ids import JobId, NamespaceId


class Step(StrEnum):
    """What a job does; `jobs[].kind` in the API."""

    SEGMENT = "segment"  # key: a conversation
    ADMIT = "admit"  # key: an episode
    MAINTAIN = "maintain"  # key: the namespace
    NARRATE = "narrate"  # key: an episode
    LABEL = "label"  # key: the namespace
    REBUILD = "rebuild"  # key: the namespace
    FORGET = "forget"  # key: a receipt
    REEMBED = "reembed"  # key: the namespace
    IMPORT = "import"  # key: the namespace


REMEMBERING = tuple(step for step in Step if step is not Step.REEMBED)
"""Steps that change what memory says: other vectors change no word of it, and may take hours beside all this."""


class JobState(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Job:
    """A stored job. `payload`, `error` and `result` hold ids, counts and codes, never memory text.

    `failures` counts the attempts that ended in an error, not those that a killed process left behind.
    """

    id: JobId
    kind: Step
    key: str
    payload: Mapping[str, Any]
    state: JobState
    attempts: int
    failures: int
    due_at: datetime
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    first_sequence: int | None = None
    error: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claimed try at a job. Its final write is refused unless `token` and `erasures` still hold.

    `embedding_profile` is the namespace's: only a job changes it, and while this one runs no other does.
    """

    namespace: NamespaceId
    job: Job
    token: UUID
    erasures: int
    embedding_profile: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What an attempt did that stopped before its job was done: the job runs again, behind those that wait now.

    `first_sequence` is of the messages that are left, where the job covers some. It need not run for `rest` seconds.
    """

    result: Mapping[str, Any]
    first_sequence: int | None = None
    rest: float = 0


@dataclass(frozen=True, slots=True)
class JobCounts:
    """How many jobs of a namespace are in which state."""

    by_state: Mapping[JobState, int] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        """Queued and running."""
        return sum(self.by_state.get(state, 0) for state in OPEN_STATES)

    def of(self, state: JobState) -> int:
        """Jobs in one state."""
        return self.by_state.get(state, 0)
