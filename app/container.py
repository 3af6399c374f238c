"""The only builder of objects: from settings to a service that is ready to serve."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from app.api.dependencies import Services
from app.domain.errors import ConfigurationError
from app.domain.segmentation import SegmentPolicy
from app.domain.themes import policy_for
from app.jobs import handlers
from app.jobs.doorbells.in_process import InProcessDoorbell
from app.jobs.runner import Runner, RunnerPolicy
from app.providers.protocols import Embedder
from app.providers.scripted import ScriptedEmbedder
from app.services.admission import Admission
from app.services.answer import Answering
from app.services.flush import Flush
from app.services.forgetting import Forgetting
from app.services.health import Health
from app.services.ingest import Ingest
from app.services.maintenance import Maintenance
from app.services.memory import Memory
from app.services.namespaces import Namespaces
from app.services.progress import Progress
from app.services.search import ReadPolicy, Search
from app.services.segmentation import Segmentation
from app.services.upkeep import Upkeep
from app.services.work import Work
from app.settings import Settings
from app.storage import file_lock, migrate
from app.storage.engine import create_engines, sqlite_path
from app.storage.unit_of_work import Clock, Storage


@dataclass(frozen=True, slots=True)
class Container:
    """A built service."""

    services: Services
    runner: Runner
    storage: Storage
    embedder: Embedder


def utc_now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


@asynccontextmanager
async def build(settings: Settings, clock: Clock = utc_now) -> AsyncIterator[Container]:
    """Build everything, check that it fits together, and take it down again.

    Raises ConfigurationError where the process must not start.
    """
    with ExitStack() as stack:
        await _prepare(settings, stack)
        embedder = build_embedder(settings.embedder)
        stack.callback(embedder.close)
        engines = create_engines(settings.database_url)
        doorbell = InProcessDoorbell()
        storage = Storage(engines, doorbell, asyncio.Lock() if engines.is_sqlite else None)
        try:
            await _check(storage, embedder)
            yield _assemble(settings, clock, storage, embedder, doorbell)
        finally:
            await engines.dispose()


async def _prepare(settings: Settings, stack: ExitStack) -> None:
    """Take an SQLite file for ourselves and bring it up to date; of Postgres only ask that it is."""
    url = settings.database_url
    path = sqlite_path(url)
    if path is not None:
        stack.enter_context(file_lock.own(path))
        await asyncio.to_thread(migrate.upgrade, url)
        return
    engines = create_engines(url)
    try:
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


def _assemble(
    settings: Settings, clock: Clock, storage: Storage, embedder: Embedder, doorbell: InProcessDoorbell
) -> Container:
    profile = str(embedder.profile)
    progress = Progress()
    segment = SegmentPolicy(
        gap_seconds=settings.segment.gap_seconds,
        idle_close_seconds=settings.segment.idle_close_seconds,
        max_messages=settings.segment.max_messages,
        max_tokens=settings.segment.max_tokens,
    )
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
        health=Health(storage, settings.database_url, profile, settings.chat),
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
        doorbell,
        progress,
        clock,
        RunnerPolicy(),
        Upkeep(storage, clock, segment),
    )
    return Container(services, runner, storage, embedder)


def migrate_database(settings: Settings) -> None:
    """Bring the database up to this version's schema. Blocking."""
    migrate.upgrade(settings.database_url)
