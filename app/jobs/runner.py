"""The runner: claim → handler → settle. It knows no kind of job, and not who calls it (app/jobs/doorbells).

One step at a time for each namespace, several namespaces side by side, each for a bounded while, so that no
backlog starves another namespace. A job's result is written by its service; the runner only settles it.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from app.domain.errors import AppError, Discarded, NotFound, StoreUnavailable
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind
from app.services.progress import Progress
from app.services.upkeep import Upkeep
from app.storage.unit_of_work import Clock, Storage, WriteUnit
from app.telemetry.metrics import Metrics
from app.telemetry.usage import Meter, metering

log = logging.getLogger(__name__)

DISCARDED_REST = timedelta(seconds=1)  # so that a step does not chase after many deletions, one by one


@dataclass(frozen=True, slots=True)
class RunnerPolicy:
    """How a process that runs jobs shares its time."""

    side_by_side: int = 4  # namespaces worked on at once; more would only queue for the same two cores
    turn_seconds: float = 2.0  # then a namespace goes to the back of the line
    look_seconds: float = 1.0  # longest wait for a bell: retries fall due without one
    heartbeat_seconds: float = 10.0
    stale_seconds: float = 60.0  # silent for so long, a worker is taken for dead
    upkeep_seconds: float = 15.0  # between looks for conversations at rest and for work that lost its job
    stop_seconds: float = 10.0  # a stopping process waits so long for its steps, then hands them back


class Worker(Protocol):
    """Whoever listens to a bell and gives namespaces their turns."""

    async def run(self) -> None:
        """Work until stopped."""
        ...

    def stop(self) -> None:
        """Take no more jobs; `run` returns when those in hand are done or handed back."""
        ...

    def hurry(self) -> None:
        """Stop, and hand back at once what is still running."""
        ...


class Runner:
    """Gives namespaces their turns."""

    def __init__(
        self,
        storage: Storage,
        kinds: Mapping[Step, JobKind],
        progress: Progress,
        clock: Clock,
        policy: RunnerPolicy,
        upkeep: Upkeep | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.policy = policy
        self.stopping = False
        self._storage = storage
        self._kinds = kinds
        self._progress = progress
        self._clock = clock
        self._upkeep = upkeep
        self._metrics = metrics

    def stop(self) -> None:
        """Claim no more jobs."""
        self.stopping = True

    async def turn(self, namespace: NamespaceId) -> bool:
        """Run a namespace's due jobs, one by one, for a bounded while. True if some may be left. Never raises."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.policy.turn_seconds
        try:
            while loop.time() < end and not self.stopping:
                attempt = await self._claim(namespace)
                if attempt is None:
                    return False
                await self._attempt(attempt)
                self._progress.notify(namespace)
        except NotFound:
            return False  # the namespace was erased, and its jobs with it
        except Exception as error:  # noqa: BLE001  (one of the two places: whatever happened must be shown)
            level = logging.WARNING if isinstance(error, AppError) else logging.ERROR
            log.log(level, "a turn broke", extra={"namespace_id": str(namespace), **describe(error)})
            await asyncio.sleep(self.policy.look_seconds)  # tried again in a moment rather than at once
        return True

    async def waiting(self) -> Sequence[NamespaceId]:
        """Namespaces with work for the taking, longest due first. Raises StoreUnavailable."""
        async with self._storage.directory() as directory:
            return await directory.with_due_jobs(self._clock(), self._stale_before())

    async def unheard(self, seconds: float | None) -> Sequence[NamespaceId]:
        """Postgres: those of them for whom no bell rings, of the last `seconds`. Raises StoreUnavailable."""
        now = self._clock()
        since = None if seconds is None else now - timedelta(seconds=seconds)
        async with self._storage.directory() as directory:
            return await directory.with_unheard_jobs(now, self._stale_before(), since)

    async def keep_up(self) -> None:
        """Queue, every so often, what no job knows of. Until cancelled."""
        while self._upkeep is not None:
            await self.guarded("look for work without a job", self._upkeep.run())
            await asyncio.sleep(self.policy.upkeep_seconds)

    async def guarded(self, what: str, work: Awaitable[object]) -> None:
        """Await what a loop does again and again: if it fails, that is shown, and the loop goes on."""
        try:
            await work
        except Exception as error:  # noqa: BLE001  (as above)
            log.warning("cannot %s", what, extra=describe(error))

    async def _claim(self, namespace: NamespaceId) -> Attempt | None:
        async with self._storage.write(namespace, also_deleted=True) as unit:
            attempt = await unit.jobs.claim(self._clock(), self._stale_before(), unit.namespace)
            await unit.commit(revises_memory=False)
        return attempt

    async def _attempt(self, attempt: Attempt) -> None:
        begun, outcome = time.monotonic(), "unsettled"
        try:
            with metering(attempt.job.usage) as meter:
                outcome = await self._work(attempt, meter)
        finally:
            if self._metrics is not None:
                self._metrics.job(attempt.job.kind.value, outcome, time.monotonic() - begun)

    async def _work(self, attempt: Attempt, meter: Meter) -> str:
        """Run the handler and settle the job. Returns how the attempt ended, in a word."""
        work = asyncio.ensure_future(self._kinds[attempt.job.kind].run(attempt))
        heart = asyncio.create_task(self._beat(attempt, work))
        try:
            result = await work
        except asyncio.CancelledError:
            turn = asyncio.current_task()
            if turn is not None and not turn.cancelling():
                await self._settle(attempt, meter, _overtaken)  # the heart stopped it
                return "discarded"
            await asyncio.shield(self._hand_back(attempt, meter))
            raise
        except Exception as error:  # noqa: BLE001  (whatever happened must be shown)
            return await self._settle_error(attempt, error, meter)
        else:
            return await self._settle_success(attempt, result, meter)
        finally:
            heart.cancel()

    async def _settle_success(self, attempt: Attempt, result: Mapping[str, Any] | Unfinished, meter: Meter) -> str:
        used = meter.total
        if isinstance(result, Unfinished):
            far, rest = result, timedelta(seconds=result.rest)
            held = await self._settle(
                attempt, meter, lambda unit: unit.jobs.step_back(attempt, far, self._clock() + rest, used)
            )
            return "unfinished" if held else "discarded"
        held = await self._settle(attempt, meter, lambda unit: unit.jobs.succeed(attempt, result, self._clock(), used))
        return "succeeded" if held else "discarded"

    async def _settle_error(self, attempt: Attempt, error: Exception, meter: Meter) -> str:
        if isinstance(error, Discarded):
            return await self._settle_discarded(attempt, meter)
        cause = describe(error)
        delay = self._kinds[attempt.job.kind].retry.delay(error, attempt.job.failures + 1)
        log.warning(
            "job %s %s",
            attempt.job.kind.value,
            "failed" if delay is None else "will be tried again",
            extra={"job": str(attempt.job.id), "code": cause["code"], "where": cause["where"]},
        )
        used = meter.total
        if delay is None:
            held = await self._settle(attempt, meter, lambda unit: unit.jobs.fail(attempt, cause, self._clock(), used))
            return "failed" if held else "discarded"
        due = self._clock() + delay
        held = await self._settle(attempt, meter, lambda unit: unit.jobs.postpone(attempt, cause, due, used))
        return "retried" if held else "discarded"

    async def _settle_discarded(self, attempt: Attempt, meter: Meter) -> str:
        """What the step had read was erased meanwhile. That is no failure, however often: soon it runs again."""
        far, soon = Unfinished(attempt.job.result or {}), self._clock() + DISCARDED_REST
        await self._settle(attempt, meter, lambda unit: unit.jobs.step_back(attempt, far, soon, meter.total))
        return "discarded"

    async def _settle(self, attempt: Attempt, meter: Meter, write: Callable[[WriteUnit], Awaitable[bool]]) -> bool:
        """Write how an attempt ended, and what it used of the models.

        While the database is away it is tried again, until the job is taken for stale. False if the attempt no
        longer held the job. A namespace that is gone was erased by this very attempt.
        """
        end, first = time.monotonic() + self.policy.stale_seconds, True
        while True:
            try:
                async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
                    held = await write(unit)
                    if held or first:  # else a commit whose end was not seen may have counted it
                        await unit.usage.add(meter.added)
                    await unit.commit(revises_memory=False)
            except NotFound:
                return True
            except StoreUnavailable:
                if self.stopping or time.monotonic() > end:
                    raise
                first = False
                await asyncio.sleep(self.policy.look_seconds)
            else:
                return held

    async def _hand_back(self, attempt: Attempt, meter: Meter) -> None:
        async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
            # It keeps its place in the line.
            if await unit.jobs.postpone(attempt, None, attempt.job.due_at, meter.total):
                await unit.usage.add(meter.added)
            await unit.commit(revises_memory=False)

    async def _beat(self, attempt: Attempt, work: asyncio.Future[Any]) -> None:
        """Show that the attempt is alive; end it once it was cancelled or taken over, also if it hangs."""
        held = True
        while held:
            await asyncio.sleep(self.policy.heartbeat_seconds)
            with suppress(AppError):  # a missed beat is no failure; the next one comes soon
                async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
                    held = await unit.jobs.beat(attempt, self._clock())
                    await unit.commit(revises_memory=False)
        work.cancel()

    def _stale_before(self) -> datetime:
        return self._clock() - timedelta(seconds=self.policy.stale_seconds)


async def _overtaken(_: WriteUnit) -> bool:
    """Nothing to write: somebody else has settled the job."""
    return False


def describe(error: BaseException) -> dict[str, str]:
    """A failure's cause for the job's row and the log: codes and places, no secrets and no memory text.

    Only our own errors have messages that are safe to show; of others the type and the place must do.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown"
    if isinstance(error, AppError):
        return {"code": error.code, "detail": str(error), "where": where}
    return {"code": "internal", "detail": type(error).__name__, "where": where}
