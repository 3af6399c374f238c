"""Jobs as users see them: list, look at, retry, cancel."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.ids import JobId
from app.domain.jobs import Job, JobState
from app.storage.unit_of_work import Clock, Storage, WriteUnit


@dataclass(frozen=True, slots=True)
class Work:
    """The jobs of a namespace."""

    storage: Storage
    clock: Clock

    async def page(self, namespace: str, state: JobState | None, after: UUID | None, limit: int) -> Sequence[Job]:
        """Jobs, newest first."""
        async with self.storage.read(namespace, also_importing=True) as unit:
            return await unit.jobs.page(state, after, limit)

    async def get(self, namespace: str, job: JobId) -> Job:
        """One job. Raises NotFound."""
        async with self.storage.read(namespace, also_importing=True) as unit:
            return await unit.jobs.get(job)

    async def retry(self, namespace: str, job: JobId) -> Job:
        """Queue a failed or cancelled job again. Raises NotFound, Conflict."""
        return await self._change(namespace, lambda unit: unit.jobs.retry(job, self.clock()))

    async def cancel(self, namespace: str, job: JobId) -> Job:
        """Cancel a queued or running job. Raises NotFound, Conflict."""
        return await self._change(namespace, lambda unit: unit.jobs.cancel(job, self.clock()))

    async def _change(self, namespace: str, change: Callable[[WriteUnit], Awaitable[Job]]) -> Job:
        async with self.storage.write(namespace, also_importing=True) as unit:
            job = await change(unit)
            await unit.commit(revises_memory=False)
        return job
