"""Namespaces, jobs, flush, health."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from app.api.schemas.common import Name, PageQuery, Request, Response, StageUsage, Typed
from app.api.schemas.retention import RetentionDays
from app.domain.expansion import Measure
from app.domain.jobs import Job, JobState
from app.domain.modes import AdmitMode
from app.services.flush import Flushed
from app.services.namespaces import Status

PROFILE_LENGTH = 200  # characters of an embedding profile
WAIT_SECONDS = 300  # longest a request may wait for background work


class NamespaceOut(Response):
    """A namespace."""

    id: UUID
    name: str
    created_at: datetime
    sequence: int = Field(description="Of its newest message.")
    revision: int = Field(description="Grows with every write.")
    embedding_profile: str = Field(description="Model, revision and dimension of the vectors it is read by.")
    embedding_profile_next: str | None = Field(
        validation_alias="next_profile", description="That vectors are being made ready for, if they are."
    )
    retention_days: RetentionDays
    importing: bool = Field(description="Nothing of it is read, and nothing added, before its import is done.")


class ReembedIn(Request):
    """Which vectors a namespace is to have."""

    profile: str | None = Field(
        None,
        max_length=PROFILE_LENGTH,
        description="One of the two that /version names; the one of new namespaces if missing.",
        examples=["all-MiniLM-L6-v2@53aa5117/384"],
    )


class ReembedOut(Response):
    """What became of a request to re-embed a namespace."""

    namespace: str
    embedding_profile: str = Field(description="Of its vectors now.")
    profile: str = Field(description="Of its vectors when the job is done.")
    job: UUID | None = Field(description="Its `result` tells how far it is; null if there is nothing to do.")


class StatusOut(Response):
    """A namespace in numbers, and how far its background work is."""

    messages: int
    buffered: int = Field(description="Messages that belong to no episode yet.")
    episodes: int
    statements: int
    themes: int
    pending_jobs: int
    failed_jobs: int
    degraded: int = Field(description="Texts that stand in until a model writes better ones.")
    sequence: int
    settled_sequence: int = Field(description="No queued or running job covers a message up to this one.")
    revision: int
    usage: dict[str, StageUsage] = Field(
        description="What its jobs used of models, and its answers of a language model, by stage.",
        examples=[StageUsage.EXAMPLE],
    )

    @classmethod
    def of(cls, status: Status) -> "StatusOut":
        """From the service's result."""
        return cls(
            messages=status.messages,
            buffered=status.buffered,
            episodes=status.episodes,
            statements=status.statements,
            themes=status.themes,
            pending_jobs=status.jobs.pending,
            failed_jobs=status.jobs.of(JobState.FAILED),
            degraded=status.degraded,
            sequence=status.namespace.sequence,
            settled_sequence=status.settled_sequence,
            revision=status.namespace.revision,
            usage=StageUsage.each(status.usage),
        )


class ReceiptOut(Response):
    """Follows an erasure, also after its namespace is gone."""

    id: UUID
    namespace: str
    what: str = Field(description="message, conversation, statement, namespace, or expired: by its retention")
    state: str = Field(description="pending; done: nothing of it is left in the database")
    requested_at: datetime
    finished_at: datetime | None
    erased: dict[str, int] | None = Field(description="Rows removed so far, by table.")


class CauseOut(Response):
    """Why an attempt failed: codes and places, no secrets and no memory text."""

    code: str = Field(examples=["provider_unavailable"])
    detail: str = Field(examples=["the embedding model does not answer"])
    where: str = Field(description="Function and line, for whoever reads the code.", examples=["embed:42"])


class JobOut(Response):
    """A unit of background work."""

    id: UUID
    kind: str = Field(
        description="segment, admit, narrate, maintain, label, rebuild, forget, reembed; later versions may have more."
    )
    key: str
    state: str = Field(description="queued, running, succeeded, failed, cancelled")
    attempts: int = Field(description="Since it was queued, or retried by hand.")
    error: CauseOut | None = Field(description="Why the last attempt failed, if it did.")
    result: dict[str, Any] | None = Field(description="What it did, in numbers.")
    created_at: datetime
    due_at: datetime
    started_at: datetime | None = Field(description="Of the last attempt.")
    finished_at: datetime | None
    usage: dict[str, StageUsage] | None = Field(
        description="What all attempts used of models, by stage; null if none was asked.",
        examples=[StageUsage.EXAMPLE],
    )

    @classmethod
    def of(cls, job: Job) -> "JobOut":
        """From the domain's form."""
        return cls.model_validate(job)


class JobsQuery(PageQuery):
    """Which jobs."""

    state: JobState | None = None


class FlushIn(Request):
    """What to flush and how long to wait."""

    conversation: Name | None = Field(None, description="Only this one; all if missing.")
    wait_seconds: Annotated[float, Typed] = Field(
        0, ge=0, le=WAIT_SECONDS, description="Wait so long for the work to settle.", examples=[60]
    )


class FlushJobs(Response):
    """The namespace's jobs by how they ended; re-embedding apart, which changes nothing of what is remembered."""

    succeeded: int
    failed: int
    pending: int


class FlushOut(Response):
    """How far the work is. Settled: nothing queued, running or in the buffer; failed jobs are counted."""

    settled: bool
    sequence: int
    jobs: FlushJobs

    @classmethod
    def of(cls, flushed: Flushed) -> "FlushOut":
        """From the service's result."""
        jobs = flushed.jobs
        return cls(
            settled=flushed.settled,
            sequence=flushed.sequence,
            jobs=FlushJobs(
                succeeded=jobs.of(JobState.SUCCEEDED), failed=jobs.of(JobState.FAILED), pending=jobs.pending
            ),
        )


class Live(Response):
    """The process answers."""

    status: str = Field("ok", examples=["ok"])


class Ready(Response):
    """Whether requests can be served, and what was looked at."""

    status: str = Field(examples=["ok", "failing"])
    checks: dict[str, str] = Field(examples=[{"database": "ok", "schema": "ok", "embedder": "ok"}])


class ResultSettings(Response):
    """The settings that results depend on, by their names; `XMEMORY_READ__GATE` is `read_gate`."""

    admit_mode: AdmitMode = Field(description="How statements are drawn.")
    segment_mode: Literal["model", "signals"] = Field(description="Who decides unclear borders of episodes.")
    segment_gap_seconds: float
    segment_idle_close_seconds: float
    segment_max_messages: int
    segment_max_tokens: int
    read_gate: Measure = Field(description="How items are let into a context by a request that does not say.")
    read_probes: int
    read_gate_seconds: float
    read_max_tokens: int
    constants: str = Field(
        description="Tells whether two services cut, theme, rank, select and answer by the same built-in numbers.",
        examples=["3f9a1c0b7d2e"],
    )


class Version(Response):
    """What runs here."""

    version: str
    embedding_profile: str
    embedding_profile_next: str | None = Field(description="Of new namespaces, while all are being changed to it.")
    chat: str = Field(description="extractive, or what kind of language model writes and answers.")
    chat_model: str | None = Field(description="Its name; null without one.")
    chat_revision: str | None
    database: str
    settings: ResultSettings
