"""The only builder of objects: from settings to a service that is ready to serve."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from app import __version__
from app.api.dependencies import Services
from app.domain.errors import ConfigurationError
from app.domain.segmentation import SegmentPolicy
from app.domain.themes import policy_for
from app.jobs import handlers
from app.jobs.doorbells.in_process import InProcessDoorbell, InProcessWorker
from app.jobs.runner import Runner, RunnerPolicy, Worker
from app.providers.observed import ObservedEmbedder
from app.providers.protocols import Embedder
from app.providers.scripted import ScriptedEmbedder
from app.services.admission import Admission
from app.services.answer import Answering
from app.services.doctor import Doctor
from app.services.flush import Flush
from app.services.forgetting import Forgetting
from app.services.health import Health
from app.services.ingest import Ingest
from app.services.maintenance import Maintenance
from app.services.memory import Memory
from app.services.namespaces import Namespaces
from app.services.observation import Observation
from app.services.progress import Progress
from app.services.repair import Repair
from app.services.search import ReadPolicy, Search
from app.services.segmentation import Segmentation
from app.services.upkeep import Upkeep
from app.services.work import Work
from app.settings import Settings
from app.storage import file_lock, migrate
from app.storage.engine import EnginePolicy, Engines, create_engines, sqlite_path
from app.storage.faults import store_errors
from app.storage.unit_of_work import Clock, Doorbell, Storage
from app.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Container:
    """A built service."""

    services: Services
    worker: Worker
    storage: Storage
    embedder: ObservedEmbedder


def utc_now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


@asynccontextmanager
async def build(settings: Settings, clock: Clock = utc_now, metrics: Metrics | None = None) -> AsyncIterator[Container]:
    """Build everything, check that it fits together, and take it down again.

    Raises ConfigurationError where the process must not start, StoreUnavailable where it may try again.
    """
    with ExitStack() as stack:
        await _prepare(settings, stack)
        metrics = metrics or build_metrics(settings)
        embedder = ObservedEmbedder(build_embedder(settings.embedder), metrics)
        stack.callback(embedder.close)
        engines = create_engines(settings.database_url, _engine_policy(settings))
        storage = Storage(engines, _doorbell(engines), asyncio.Lock() if engines.is_sqlite else None)
        try:
            await _check(storage, embedder)
            yield _assemble(settings, clock, storage, embedder, metrics)
        finally:
            await engines.dispose()


async def _prepare(settings: Settings, stack: ExitStack) -> None:
    """Take an SQLite file for ourselves and bring it up to date; of Postgres only ask that it is."""
    url = settings.database_url
    path = sqlite_path(url)
    if path is not None:
        stack.enter_context(file_lock.own(path))
        async with store_errors():
            await asyncio.to_thread(migrate.upgrade, url)
        return
    await _require_schema(url)


async def _require_schema(url: str) -> None:
    engines = create_engines(url)
    try:
        async with store_errors():
            found = await migrate.current(engines.read)
    finally:
        await engines.dispose()
    if found != migrate.newest(url):
        message = f"the database's schema is {found or 'empty'}, this version needs {migrate.newest(url)}: "
        raise ConfigurationError(message + "run `xmemory migrate`")


async def _check(storage: Storage, embedder: Embedder) -> None:
    """Refuse a database whose vectors another model made; take up again what an ended server left running."""
    async with storage.directory() as directory:
        others = [profile for profile in await directory.profiles() if profile != str(embedder.profile)]
    if others:
        message = f"this database holds vectors of {', '.join(others)}, and XMEMORY_EMBEDDER gives {embedder.profile}"
        raise ConfigurationError(message + ": configure the same model again")
    if storage.engines.is_sqlite:
        await storage.requeue_running()


def build_embedder(name: str) -> Embedder:
    """The embedder that a setting names."""
    if name == "scripted":
        return ScriptedEmbedder()
    from app.providers import embeddings  # noqa: PLC0415  (torch takes seconds: only where it is used)

    if name == "minilm":
        return embeddings.minilm()
    model, _, revision = name.removeprefix("hf:").rpartition("@")
    return embeddings.hugging_face(model, revision)


def _doorbell(engines: Engines) -> Doorbell:
    if engines.is_sqlite:
        return InProcessDoorbell()
    from app.jobs.doorbells import procrastinate  # noqa: PLC0415  (takes a moment: only where it is used)

    procrastinate.check_library()
    return procrastinate.ProcrastinateDoorbell()


def build_worker(runner: Runner, storage: Storage) -> Worker:
    """Who listens to the bell that `storage` rings."""
    if isinstance(storage.doorbell, InProcessDoorbell):
        return InProcessWorker(runner, storage.doorbell)
    from app.jobs.doorbells import procrastinate  # noqa: PLC0415  (takes a moment: only where it is used)

    return procrastinate.ProcrastinateWorker(runner, storage.engines)


def _assemble(
    settings: Settings, clock: Clock, storage: Storage, embedder: ObservedEmbedder, metrics: Metrics
) -> Container:
    profile = str(embedder.profile)
    progress = Progress()
    segment = _segment_policy(settings)
    forgetting = Forgetting(storage, clock)
    read = ReadPolicy(wait_seconds=settings.read.wait_seconds)
    search = Search(storage, embedder, progress, clock, read)
    services = Services(
        ingest=Ingest(storage, profile, clock),
        flush=Flush(storage, progress, clock),
        search=search,
        answering=Answering(search, clock),
        memory=Memory(storage),
        work=Work(storage, clock),
        namespaces=Namespaces(storage),
        forgetting=forgetting,
        health=Health(storage, settings.database_url, embedder, settings.chat),
        observation=Observation(storage, metrics, clock),
        default_tokens=settings.read.max_tokens,
    )
    kinds = (
        handlers.segment(Segmentation(storage, embedder, clock, segment)),
        handlers.admit(Admission(storage, embedder, clock)),
        handlers.maintain(Maintenance(storage, clock, policy_for(embedder.profile.model))),
        handlers.forget(forgetting),
    )
    runner = Runner(
        storage,
        {kind.step: kind for kind in kinds},
        progress,
        clock,
        RunnerPolicy(**settings.jobs.model_dump()),
        Upkeep(storage, clock, segment),
        metrics,
    )
    return Container(services, build_worker(runner, storage), storage, embedder)


def build_metrics(settings: Settings) -> Metrics:
    """The instruments of a service."""
    return Metrics(
        version=__version__,
        embedder=settings.embedder.partition(":")[0],  # the kind: a name may be a path
        chat=settings.chat,
        database="postgres" if sqlite_path(settings.database_url) is None else "sqlite",
    )


def _engine_policy(settings: Settings) -> EnginePolicy:
    return EnginePolicy(
        pool_size=settings.database.pool_size,
        connection_seconds=settings.database.connection_seconds,
        lock_seconds=settings.database.lock_seconds,
    )


def _segment_policy(settings: Settings) -> SegmentPolicy:
    return SegmentPolicy(
        gap_seconds=settings.segment.gap_seconds,
        idle_close_seconds=settings.segment.idle_close_seconds,
        max_messages=settings.segment.max_messages,
        max_tokens=settings.segment.max_tokens,
    )


@asynccontextmanager
async def build_doctor(
    settings: Settings, clock: Clock = utc_now, *, repairs: bool = False
) -> AsyncIterator[tuple[Doctor, Repair]]:
    """A doctor for the database of `settings`, which exists and is up to date, and who mends what it finds.

    It only reads, beside whatever runs; with `repairs` an SQLite file is taken for ourselves first. Raises
    ConfigurationError.
    """
    path = sqlite_path(settings.database_url)
    if path is not None and not await asyncio.to_thread(Path(path).exists):
        raise ConfigurationError(f"there is no database {path}")
    with ExitStack() as stack:
        if path is not None and repairs:
            stack.enter_context(file_lock.own(path))
        await _require_schema(settings.database_url)
        engines = create_engines(settings.database_url)
        storage = Storage(engines, _doorbell(engines), asyncio.Lock() if engines.is_sqlite else None)
        policy, stale = _segment_policy(settings), settings.jobs.stale_seconds

        @cache
        def embedder() -> Embedder:
            made = build_embedder(settings.embedder)
            stack.callback(made.close)
            return made

        try:
            repair = Repair(storage, clock, Upkeep(storage, clock, policy), stale, embedder)
            yield Doctor(storage, clock, policy, stale), repair
        finally:
            await engines.dispose()


def migrate_database(settings: Settings) -> None:
    """Bring the database up to this version's schema. Blocking."""
    migrate.upgrade(settings.database_url)
