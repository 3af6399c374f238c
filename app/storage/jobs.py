"""The jobs table: the only truth about background work."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.errors import Conflict, Discarded, NotFound
from app.domain.ids import JobId, NamespaceId
from app.domain.jobs import OPEN_STATES, Attempt, Job, JobCounts, JobState, Step, Unfinished
from app.domain.namespaces import Namespace
from app.storage.repository import IN_LIMIT, Repository, new_id
from app.storage.tables import jobs
from app.telemetry.usage import Usage


def to_job(row: Row[Any]) -> Job:
    """A job row as a value."""
    return Job(
        id=JobId(row.id),
        kind=Step(row.kind),
        key=row.key,
        payload=row.payload,
        state=JobState(row.state),
        attempts=row.attempts,
        failures=row.failures,
        due_at=row.due_at,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        first_sequence=row.first_sequence,
        error=row.error,
        result=row.result,
        usage=row.usage,
    )


FORGIVEN = 4  # jobs for one thing that an outage may cost before somebody must look
MOST_ATTEMPTS = 50  # a job whose worker ended so often probably ends it: shown as failed rather than tried for ever
ABANDONED = {"code": "abandoned", "detail": f"its worker ended {MOST_ATTEMPTS} times", "where": "claim"}


class JobRepository(Repository):
    """Jobs of one namespace. Writers hold the lock on the namespace's row."""

    def __init__(self, connection: AsyncConnection, namespace: NamespaceId) -> None:
        super().__init__(connection, namespace)
        self.queued = False  # whether this unit queued something: then its commit rings the bell

    async def enqueue(
        self,
        kind: Step,
        key: str,
        payload: Mapping[str, Any],
        now: datetime,
        *,
        first_sequence: int | None = None,
    ) -> JobId:
        """Queue a job, or let the twin that already waits absorb it (the highest of each number wins)."""
        self.queued = True
        query = self._select().where(jobs.c.kind == kind, jobs.c.key == key, jobs.c.state == JobState.QUEUED)
        row = (await self._connection.execute(query.order_by(jobs.c.id).limit(1))).one_or_none()
        if row is not None:
            twin = to_job(row)
            covers = [n for n in (twin.first_sequence, first_sequence) if n is not None]
            await self._set(
                twin.id,
                payload=_merged(twin.payload, payload),
                first_sequence=min(covers, default=None),
                due_at=min(twin.due_at, now),  # it keeps its place in the line
            )
            return twin.id
        made = new_id()
        values = self._row(
            id=made, kind=kind.value, key=key, payload=dict(payload), first_sequence=first_sequence,
            state=JobState.QUEUED.value, attempts=0, due_at=now, created_at=now,
        )  # fmt: skip
        await self._connection.execute(insert(jobs).values(values))
        return JobId(made)

    async def claim(self, now: datetime, stale_before: datetime, namespace: Namespace) -> Attempt | None:
        """Take the first due job, unless one of `namespace` runs. A silent worker's job is queued again."""
        running = (await self._connection.execute(self._select().where(jobs.c.state == JobState.RUNNING))).all()
        if any(row.heartbeat_at >= stale_before for row in running):
            return None
        for row in running:
            await self._set(JobId(row.id), state=JobState.QUEUED.value, token=None)
        first = await self._first_due(now)
        while first is not None and first.attempts >= MOST_ATTEMPTS:
            await self._set(first.id, state=JobState.FAILED.value, error=ABANDONED, finished_at=now)
            first = await self._first_due(now)
        if first is None:
            return None
        token = new_id()
        job = replace(first, state=JobState.RUNNING, attempts=first.attempts + 1, started_at=now)
        await self._set(
            job.id,
            state=job.state.value,
            attempts=job.attempts,
            started_at=now,
            heartbeat_at=now,
            token=token,
        )
        return Attempt(self._namespace, job, token, namespace.erasures, namespace.embedding_profile)

    async def beat(self, attempt: Attempt, now: datetime) -> bool:
        """Show that the attempt is alive. False if it no longer holds the job."""
        return await self._settle(attempt, heartbeat_at=now)

    async def report(self, attempt: Attempt, result: Mapping[str, Any]) -> None:
        """Show how far a long attempt is. Raises Discarded if it no longer holds the job."""
        if not await self._settle(attempt, result=dict(result)):
            raise Discarded("the step was overtaken")

    async def check(self, attempt: Attempt, erasures: int) -> None:
        """Before a step's final write. Raises Discarded if it was overtaken by an erasure or another attempt."""
        query = select(jobs.c.id).where(self._own(jobs), jobs.c.id == attempt.job.id, jobs.c.token == attempt.token)
        held = (await self._connection.execute(query)).one_or_none()
        if held is None or erasures != attempt.erasures:
            raise Discarded("the step was overtaken")

    async def succeed(
        self, attempt: Attempt, result: Mapping[str, Any], now: datetime, usage: Usage | None = None
    ) -> bool:
        """Settle as succeeded. False if the attempt no longer holds the job."""
        return await self._settle(
            attempt,
            state=JobState.SUCCEEDED.value,
            result=dict(result),
            error=None,
            token=None,
            finished_at=now,
            usage=usage or None,
        )

    async def fail(self, attempt: Attempt, error: Mapping[str, Any], now: datetime, usage: Usage | None = None) -> bool:
        """Settle as failed, with its cause."""
        return await self._settle(
            attempt, state=JobState.FAILED.value, error=dict(error), token=None, finished_at=now, usage=usage or None
        )

    async def postpone(
        self, attempt: Attempt, error: Mapping[str, Any] | None, due_at: datetime, usage: Usage | None = None
    ) -> bool:
        """Queue again for later; what follows it in the queue need not wait."""
        self.queued = True
        return await self._settle(
            attempt, state=JobState.QUEUED.value, error=None if error is None else dict(error), token=None,
            due_at=due_at, usage=usage or None, failures=jobs.c.failures + int(error is not None),
        )  # fmt: skip

    async def step_back(self, attempt: Attempt, far: Unfinished, now: datetime, usage: Usage | None = None) -> bool:
        """Queue again what is not done yet, behind those that wait now; it got further, so its tries count anew."""
        self.queued = True
        covered = attempt.job.first_sequence if far.first_sequence is None else far.first_sequence
        return await self._settle(
            attempt, state=JobState.QUEUED.value, result=dict(far.result), error=None, token=None, due_at=now,
            attempts=0, failures=0, first_sequence=covered, usage=usage or None,
        )  # fmt: skip

    async def find_open(self, kind: Step) -> Job | None:
        """The first job of this kind that waits or runs."""
        query = self._select().where(jobs.c.kind == kind, jobs.c.state.in_(OPEN_STATES))
        row = (await self._connection.execute(query.order_by(jobs.c.id).limit(1))).one_or_none()
        return None if row is None else to_job(row)

    async def newest(self, kind: Step) -> Job | None:
        """The job of this kind that was queued last."""
        query = self._select().where(jobs.c.kind == kind).order_by(jobs.c.id.desc()).limit(1)
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else to_job(row)

    async def get(self, job: JobId) -> Job:
        """One job. Raises NotFound."""
        row = (await self._connection.execute(self._select().where(jobs.c.id == job))).one_or_none()
        if row is None:
            raise NotFound("no such job")
        return to_job(row)

    async def page(self, state: JobState | None, after: UUID | None, limit: int) -> Sequence[Job]:
        """Jobs, newest first, before `after` if given."""
        query = self._select()
        if state is not None:
            query = query.where(jobs.c.state == state)
        if after is not None:
            query = query.where(jobs.c.id < after)
        rows = await self._connection.execute(query.order_by(jobs.c.id.desc()).limit(limit))
        return [to_job(row) for row in rows]

    async def retry(self, job: JobId, now: datetime) -> Job:
        """Queue a failed or cancelled job again, its tries counted anew. Raises Conflict otherwise."""
        found = await self.get(job)
        if found.state not in (JobState.FAILED, JobState.CANCELLED):
            raise Conflict(f"a {found.state} job cannot be retried")
        self.queued = True
        await self._set(
            job, state=JobState.QUEUED.value, attempts=0, failures=0, due_at=now, error=None, finished_at=None
        )
        return await self.get(job)

    async def cancel(self, job: JobId, now: datetime) -> Job:
        """Cancel an open job; a running attempt loses its token, so its result is discarded."""
        found = await self.get(job)
        if found.state not in OPEN_STATES:
            raise Conflict(f"a {found.state} job cannot be cancelled")
        await self._set(job, state=JobState.CANCELLED.value, token=None, finished_at=now)
        return await self.get(job)

    async def cancel_all(self, now: datetime) -> None:
        """Cancel whatever is open: what it works on is about to be erased."""
        await self._connection.execute(
            update(jobs)
            .where(self._own(jobs), jobs.c.state.in_(OPEN_STATES))
            .values(state=JobState.CANCELLED.value, token=None, finished_at=now)
        )

    async def remove(self, keys: Sequence[str]) -> None:
        """Forget all jobs for these keys, whatever their state: what they work on is erased."""
        for start in range(0, len(keys), IN_LIMIT):
            query = delete(jobs).where(self._own(jobs), jobs.c.key.in_(keys[start : start + IN_LIMIT]))
            await self._connection.execute(query)

    async def counts(self, kinds: Collection[Step] = tuple(Step)) -> JobCounts:
        """Jobs of these kinds, by state."""
        query = select(jobs.c.state, func.count()).where(self._own(jobs), jobs.c.kind.in_(kinds))
        rows = await self._connection.execute(query.group_by(jobs.c.state))
        return JobCounts({JobState(row[0]): row[1] for row in rows})

    async def pending(self, kinds: Collection[Step] = tuple(Step)) -> int:
        """How many jobs of these kinds wait or run."""
        query = select(func.count()).where(self._own(jobs), jobs.c.state.in_(OPEN_STATES), jobs.c.kind.in_(kinds))
        return (await self._connection.execute(query)).scalar_one()

    async def known_keys(self, kind: Step, forgiven: str | None = None) -> set[str]:
        """Keys whose newest job of this kind waits, runs or was given up: only new work or a retry helps those.

        Those that were given up with the error code `forgiven` do not count, until it was so `FORGIVEN` times.
        """
        newest_first = func.row_number().over(partition_by=jobs.c.key, order_by=jobs.c.id.desc())
        tries = func.count().over(partition_by=jobs.c.key).label("tries")
        ranked = select(jobs.c.key, jobs.c.state, jobs.c.error, newest_first.label("rank"), tries).where(
            self._own(jobs), jobs.c.kind == kind
        )
        newest = ranked.subquery()
        query = select(newest).where(newest.c.rank == 1, newest.c.state != JobState.SUCCEEDED)
        rows = await self._connection.execute(query)
        return {row.key for row in rows if not _is_forgiven(row, forgiven)}

    async def first_pending_sequence(self) -> int | None:
        """Lowest message sequence that a queued or running job covers."""
        query = select(func.min(jobs.c.first_sequence)).where(self._own(jobs), jobs.c.state.in_(OPEN_STATES))
        found: int | None = (await self._connection.execute(query)).scalar_one()
        return found

    async def _first_due(self, now: datetime) -> Job | None:
        due = self._select().where(jobs.c.state == JobState.QUEUED, jobs.c.due_at <= now)
        row = (await self._connection.execute(due.order_by(jobs.c.due_at, jobs.c.id).limit(1))).one_or_none()
        return None if row is None else to_job(row)

    async def _settle(self, attempt: Attempt, **values: Any) -> bool:  # noqa: ANN401
        changed = await self._connection.execute(
            update(jobs)
            .where(self._own(jobs), jobs.c.id == attempt.job.id, jobs.c.token == attempt.token)
            .values(**values)
        )
        return changed.rowcount == 1

    async def _set(self, job: JobId, **values: Any) -> None:  # noqa: ANN401
        await self._connection.execute(update(jobs).where(self._own(jobs), jobs.c.id == job).values(**values))

    def _select(self) -> Any:  # noqa: ANN401
        return select(jobs).where(self._own(jobs))


def _is_forgiven(row: Row[Any], code: str | None) -> bool:
    given_up = row.state == JobState.FAILED and code is not None
    return given_up and row.tries < FORGIVEN and (row.error or {}).get("code") == code


def _merged(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    both = {**left, **right}
    for key in left.keys() & right.keys():
        numbers = [side[key] for side in (left, right) if side[key] is not None]
        both[key] = max(numbers) if numbers else None
    return both
