"""The runner: claim → handler → settle. It knows no kind of job.

One step at a time for each namespace, several namespaces side by side, each for a bounded while, so that no
backlog starves another namespace. A job's result is written by its service; the runner only settles it.
"""

import asyncio
import logging
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.domain.errors import AppError, NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, Step
from app.jobs.doorbells.in_process import InProcessDoorbell
from app.jobs.registry import JobKind
from app.services.progress import Progress
from app.services.upkeep import Upkeep
from app.storage.unit_of_work import Clock, Storage

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunnerPolicy:
    """How the runner shares its time."""

    side_by_side: int = 4  # namespaces worked on at once; more would only queue for the same two cores
    turn_seconds: float = 10.0  # then a namespace goes to the back of the line
    look_seconds: float = 1.0  # longest wait for a bell: retries fall due without one
    heartbeat_seconds: float = 10.0
    stale_seconds: float = 60.0  # silent for so long, a worker is taken for dead
    upkeep_seconds: float = 15.0  # between looks for conversations at rest and for work that lost its job
    stop_seconds: float = 10.0  # a stopping process waits so long for its steps, then hands them back


class Runner:
    """Runs the jobs of all namespaces until told to stop."""

    def __init__(
        self,
        storage: Storage,
        kinds: Mapping[Step, JobKind],
        doorbell: InProcessDoorbell,
        progress: Progress,
        clock: Clock,
        policy: RunnerPolicy,
        upkeep: Upkeep | None = None,
    ) -> None:
        self._storage = storage
        self._kinds = kinds
        self._doorbell = doorbell
        self._progress = progress
        self._clock = clock
        self._policy = policy
        self._upkeep = upkeep
        self._turns: dict[NamespaceId, asyncio.Task[None]] = {}
        self._served: dict[NamespaceId, float] = {}  # end of each waiting namespace's last turn, loop time
        self._stopping = False

    def stop(self) -> None:
        """Take no more jobs; `run` returns when those in hand are done or handed back."""
        self._stopping = True
        self._doorbell.ring()

    async def run(self) -> None:
        """Look for due jobs whenever the bell rings or a moment has passed, until stopped."""
        keeper = asyncio.create_task(self._keep_up())
        try:
            while not self._stopping:
                try:
                    await self._start_turns()
                except AppError as error:
                    log.warning("cannot look for jobs: %s", error.code)
                await self._doorbell.wait(self._policy.look_seconds)
            await self._finish()
        finally:
            keeper.cancel()

    async def _keep_up(self) -> None:
        while self._upkeep is not None:
            try:
                await self._upkeep.run()
            except AppError as error:
                log.warning("upkeep was cut short: %s", error.code)
            await asyncio.sleep(self._policy.upkeep_seconds)

    async def _start_turns(self) -> None:
        async with self._storage.directory() as directory:
            waiting = await directory.with_due_jobs(self._clock(), self._stale_before())
        # Least recently served first: a backlog, however old, goes to the back of the line after its turn.
        self._served = {namespace: self._served.get(namespace, 0.0) for namespace in waiting}
        for namespace in sorted(waiting, key=self._served.__getitem__):
            if len(self._turns) >= self._policy.side_by_side:
                return
            if namespace not in self._turns:
                task = asyncio.create_task(self._turn(namespace))
                self._turns[namespace] = task
                task.add_done_callback(partial(self._end_turn, namespace))

    def _end_turn(self, namespace: NamespaceId, turn: asyncio.Task[None]) -> None:
        del self._turns[namespace]
        self._served[namespace] = asyncio.get_running_loop().time()
        error = None if turn.cancelled() else turn.exception()
        if error is None:
            self._doorbell.ring()  # somebody else may be waiting for the free place
        else:  # a fault of ours outside any job: shown, and tried again in a moment rather than at once
            log.error("a turn broke", extra={"namespace_id": str(namespace), **describe(error)})

    async def _turn(self, namespace: NamespaceId) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + self._policy.turn_seconds
        try:
            while loop.time() < end and not self._stopping:
                attempt = await self._claim(namespace)
                if attempt is None:
                    return
                await self._attempt(attempt)
                self._progress.notify(namespace)
        except NotFound:
            return  # the namespace was erased, and its jobs with it
        except AppError as error:
            log.warning("a turn ended early: %s", error.code, extra={"namespace_id": str(namespace)})
            await asyncio.sleep(self._policy.look_seconds)

    async def _claim(self, namespace: NamespaceId) -> Attempt | None:
        async with self._storage.write(namespace, also_deleted=True) as unit:
            attempt = await unit.jobs.claim(self._clock(), self._stale_before(), unit.namespace.erasures)
            await unit.commit(revises_memory=False)
        return attempt

    async def _attempt(self, attempt: Attempt) -> None:
        heart = asyncio.create_task(self._beat(attempt))
        try:
            result = await self._kinds[attempt.job.kind].run(attempt)
        except asyncio.CancelledError:
            await asyncio.shield(self._hand_back(attempt))
            raise
        except Exception as error:  # noqa: BLE001  (one of the two places: whatever happened must be shown)
            await self._settle_error(attempt, error)
        else:
            await self._settle_success(attempt, result)
        finally:
            heart.cancel()

    async def _settle_success(self, attempt: Attempt, result: Mapping[str, Any]) -> None:
        with suppress(NotFound):  # `forget` removed the namespace, its jobs and this one
            async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
                await unit.jobs.succeed(attempt, result, self._clock())
                await unit.commit(revises_memory=False)

    async def _settle_error(self, attempt: Attempt, error: Exception) -> None:
        cause = describe(error)
        delay = self._kinds[attempt.job.kind].retry.delay(error, attempt.job.attempts)
        log.warning(
            "job %s %s",
            attempt.job.kind.value,
            "failed" if delay is None else "will be tried again",
            extra={"job": str(attempt.job.id), "code": cause["code"], "where": cause["where"]},
        )
        with suppress(NotFound):
            async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
                now = self._clock()
                if delay is None:
                    await unit.jobs.fail(attempt, cause, now)
                else:
                    await unit.jobs.postpone(attempt, cause, now + delay)
                await unit.commit(revises_memory=False)

    async def _hand_back(self, attempt: Attempt) -> None:
        async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
            await unit.jobs.postpone(attempt, None, self._clock())
            await unit.commit(revises_memory=False)

    async def _beat(self, attempt: Attempt) -> None:
        while True:
            await asyncio.sleep(self._policy.heartbeat_seconds)
            with suppress(AppError):  # a missed beat is no failure; the next one comes soon
                async with self._storage.write(attempt.namespace, also_deleted=True) as unit:
                    await unit.jobs.beat(attempt, self._clock())
                    await unit.commit(revises_memory=False)

    async def _finish(self) -> None:
        turns = list(self._turns.values())
        if not turns:
            return
        _, late = await asyncio.wait(turns, timeout=self._policy.stop_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _stale_before(self) -> datetime:
        return self._clock() - timedelta(seconds=self._policy.stale_seconds)


def describe(error: BaseException) -> dict[str, str]:
    """A failure's cause for the job's row and the log: codes and places, no secrets and no memory text.

    Only our own errors have messages that are safe to show; of others the type and the place must do.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "unknown"
    if isinstance(error, AppError):
        return {"code": error.code, "detail": str(error), "where": where}
    return {"code": "internal", "detail": type(error).__name__, "where": where}
