"""The bell on Postgres, for any number of processes on any machine: procrastinate's task `work(namespace)`.

A bell is deferred in the transaction that queues the jobs, so it rings exactly if they are durable. At most one
bell of a namespace waits (queueing lock) and one is heard at a time (lock); none is ever scheduled ahead, for it
would hold up its namespace. The jobs table stays the only truth: a bell that was lost, or rung for nothing,
costs a moment (docs/decisions/0009).
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, LiteralString
from uuid import UUID

from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import JobDeferrer, Status
from procrastinate.schema import SchemaManager

from app.domain.errors import ConfigurationError, StoreUnavailable
from app.domain.ids import NamespaceId
from app.jobs.runner import Runner, describe
from app.storage import bells
from app.storage.engine import Engines

log = logging.getLogger(__name__)

QUEUE = "xmemory"
WORK = "work"
SCHEMA_THROUGH = "03.04.00_50_post_add_retry_failed_job_procedure.sql"  # of procrastinate's migrations, in ours
LOOK_BACK_SECONDS = 10.0  # a look finds jobs that fell due so lately; older ones are found by a thorough look
LOOKS_WHILE_STALE = 10  # for bells of silent workers: so often in the time after which one is taken for dead
ABORTS_SECONDS = 300.0  # between looks for aborted bells: we abort none
POOL_WAIT_SECONDS = 15.0

Heard = Callable[..., Awaitable[None]]

# The namespace whose turn this is. What a step queues there needs no bell: the turn looks again before it ends.
_turn_of: ContextVar[NamespaceId | None] = ContextVar("turn_of", default=None)


def check_library() -> None:
    """Refuse a procrastinate that needs a newer schema than our migrations make. Raises ConfigurationError."""
    newer = [
        path.name for path in Path(SchemaManager.get_migrations_path()).glob("*.sql") if path.name > SCHEMA_THROUGH
    ]
    if newer:
        message = "the installed procrastinate needs a newer schema than this version of xMemory makes: "
        raise ConfigurationError(message + "install the one that xMemory was released with")


class _Connector(PsycopgConnector):
    """Listens to Postgres, and can be told by this process that it is time to look for bells.

    procrastinate forgets a notification that comes while it is looking: that look may have been too early, so
    here it is given again afterwards.
    """

    _heard: Heard | None = None
    _looking = 0  # queries for a bell that are under way
    _missed = False
    _nudges: ClassVar[set[asyncio.Future[None]]] = set()

    async def listen_notify(self, on_notification: Heard, channels: Iterable[str]) -> None:
        """Listen until cancelled."""

        async def heard(*, channel: str, payload: str) -> None:
            self._missed = self._looking > 0
            await on_notification(channel=channel, payload=payload)

        self._heard = heard
        await super().listen_notify(heard, channels)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        """Run a query that gives one row; the query for a bell is one."""
        self._looking += 1
        try:
            row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
            return row
        finally:
            self._looking -= 1
            if self._missed:
                self._missed = False
                self.nudge()

    def nudge(self) -> None:
        """Look for bells soon: one may have waited for its namespace to be free, and nothing rings then."""
        if self._heard is not None:
            message = json.dumps({"type": "job_inserted", "job_id": 0})
            nudge = asyncio.ensure_future(self._heard(channel=QUEUE, payload=message))
            self._nudges.add(nudge)  # the loop itself would forget it
            nudge.add_done_callback(self._nudges.discard)


def _app(connector: PsycopgConnector) -> App:
    return App(connector=connector)


def _bell(app: App, namespace: NamespaceId, connection: Any = None) -> JobDeferrer:  # noqa: ANN401
    lock = str(namespace)
    return app.configure_task(WORK, queue=QUEUE, lock=lock, queueing_lock=lock, connection=connection)


class ProcrastinateDoorbell:
    """Rings in the caller's transaction."""

    def __init__(self) -> None:
        self._app = _app(PsycopgConnector())  # never opened: it only writes to the connections that it is given

    async def before_commit(self, connection: bells.Connection, namespace: NamespaceId) -> None:
        """Ring; if a bell waits already, that one does. Raises StoreUnavailable."""
        if _turn_of.get() == namespace:
            return
        try:
            with suppress(AlreadyEnqueued):
                async with bells.savepoint(connection) as driver:
                    await _bell(self._app, namespace, driver).defer_async(namespace=str(namespace))
        except ConnectorException as error:
            if bells.is_outage(error.__cause__):
                raise StoreUnavailable("the database does not answer") from error
            raise

    def after_commit(self, namespace: NamespaceId) -> None:
        """Nothing to do: Postgres tells whoever listens."""


class ProcrastinateWorker:
    """Hears bells, gives their namespaces a turn, and rings where a bell is missing."""

    def __init__(self, runner: Runner, engines: Engines) -> None:
        self._runner = runner
        self._connector = _Connector(
            kwargs=bells.connection_arguments(engines),
            min_size=0,  # opens at once, also while the database restarts
            max_size=runner.policy.side_by_side + 2,
            timeout=POOL_WAIT_SECONDS,
        )
        self._app = _app(self._connector)
        self._app.task(name=WORK, queue=QUEUE, pass_context=True)(self._work)
        self._in_hand: dict[int, asyncio.Task[Any]] = {}  # bells heard, by their id
        self._suspects: set[int] = set()  # bells that this process seems to have dropped
        self._worker_id: int | None = None
        self._listening: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Take no more jobs; `run` returns when those in hand are done or handed back."""
        if self._runner.stopping:
            return
        self._runner.stop()
        self._stopped.set()
        if self._listening is not None:
            self._listening.cancel()  # procrastinate's way to ask for a gentle end

    def hurry(self) -> None:
        """Stop, and hand back at once what is still running."""
        self.stop()
        for task in self._in_hand.values():
            task.cancel()

    async def run(self) -> None:
        """Work until stopped; a database that goes away is waited for."""
        async with self._app.open_async():
            keepers = [asyncio.create_task(self._runner.keep_up()), asyncio.create_task(self._reconcile())]
            try:
                while not self._runner.stopping:
                    await self._runner.guarded("listen for bells", self._listen())
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._stopped.wait(), self._runner.policy.look_seconds)
            finally:
                for keeper in keepers:
                    keeper.cancel()
                await asyncio.gather(*keepers, return_exceptions=True)

    async def _listen(self) -> None:
        policy = self._runner.policy
        self._listening = asyncio.create_task(
            self._app.run_worker_async(
                queues=[QUEUE],
                concurrency=policy.side_by_side,
                fetch_job_polling_interval=policy.look_seconds,
                abort_job_polling_interval=ABORTS_SECONDS,
                shutdown_graceful_timeout=policy.stop_seconds,
                delete_jobs="always",
                install_signal_handlers=False,
                update_heartbeat_interval=policy.heartbeat_seconds,
                stalled_worker_timeout=policy.stale_seconds,
            )
        )
        try:
            await self._listening
        except asyncio.CancelledError:
            if not self._runner.stopping:  # not by `stop`
                raise

    async def _work(self, context: JobContext, namespace: str) -> None:
        """One bell: a turn for its namespace; what is left goes to the back of the line."""
        bell, hearing = context.job.id, asyncio.current_task()
        assert bell is not None and hearing is not None  # noqa: PT018
        self._in_hand[bell], self._worker_id = hearing, context.job.worker_id
        hearing.add_done_callback(partial(self._put_down, bell))
        id_ = NamespaceId(UUID(namespace))
        _turn_of.set(id_)  # of this task only
        more = True
        try:
            more = await self._runner.turn(id_)
        finally:
            if more:
                await self._runner.guarded("ring", self._ring(id_))

    def _put_down(self, bell: int, hearing: asyncio.Task[Any]) -> None:
        """The bell is gone, and its namespace free; or the database was, and `_bury` will take it away."""
        del self._in_hand[bell]
        error = None if hearing.cancelled() else hearing.exception()
        if error is not None:
            log.warning("a bell could not be put down", extra=describe(error))
        self._connector.nudge()

    async def _ring(self, namespace: NamespaceId) -> None:
        with suppress(AlreadyEnqueued):
            await _bell(self._app, namespace).defer_async(namespace=str(namespace))

    async def _reconcile(self) -> None:
        """Look for work that no bell tells of, and now and then for bells that nobody works on. Until cancelled."""
        clock, policy = asyncio.get_running_loop().time, self._runner.policy
        thorough = deaths = 0.0
        while True:
            now = clock()
            since: float | None = LOOK_BACK_SECONDS
            if now >= deaths:
                deaths = now + policy.stale_seconds / LOOKS_WHILE_STALE
                await self._runner.guarded("look for silent workers", self._bury())
            if now >= thorough:
                thorough, since = now + policy.upkeep_seconds, None
            await self._runner.guarded("look for bells", self._ring_for_unheard(since))
            await asyncio.sleep(policy.look_seconds)

    async def _ring_for_unheard(self, seconds: float | None) -> None:
        for namespace in await self._runner.unheard(seconds):
            await self._ring(namespace)

    async def _bury(self) -> None:
        for bell in await self._dead():
            # Not procrastinate's retry: it fails where another bell waits already, and the namespace stays locked.
            with suppress(ConnectorException):  # another process did it
                await self._app.job_manager.finish_job_by_id_async(bell, Status.FAILED, delete_job=True)
                log.warning("a bell of a silent worker was taken away", extra={"bell": bell})

    async def _dead(self) -> Sequence[int]:
        """Bells whose worker went silent, and bells of this process that it does not know of."""
        manager, stale = self._app.job_manager, self._runner.policy.stale_seconds
        stalled = await manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=stale)
        found = [job.id for job in stalled if job.id is not None]
        if self._worker_id is None:
            return found
        ours = await manager.list_jobs_async(queue=QUEUE, status=Status.DOING.value, worker_id=self._worker_id)
        unknown = {job.id for job in ours if job.id is not None and job.id not in self._in_hand}
        dropped = unknown & self._suspects  # seen twice: it is not just being picked up or put down
        self._suspects = unknown
        return [*found, *dropped]
