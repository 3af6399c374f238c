"""The only builder of objects: from settings to a service that is ready to serve."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from app import __version__, models
from app.api.dependencies import Services
from app.domain.errors import ConfigurationError
from app.domain.jobs import Step
from app.domain.modes import AdmitMode
from app.domain.namespaces import model_of
from app.domain.segmentation import SegmentPolicy
from app.domain.theme_policy import is_calibrated
from app.jobs import handlers
from app.jobs.doorbells.in_process import InProcessDoorbell, InProcessWorker
from app.jobs.registry import JobKind
from app.jobs.runner import Runner, RunnerPolicy, Worker
from app.providers.embedders import Embedders
from app.providers.guarded import GuardedChat, GuardedEmbedder
from app.providers.protocols import ChatModel, Embedder
from app.services.admission import Admission
from app.services.answer import Answering
from app.services.audit import Audit
from app.services.backlog import Backlog, BacklogPolicy
from app.services.cleaning import Cleaning
from app.services.composing import Composing
from app.services.configured import Configured
from app.services.doctor import Doctor
from app.services.drawing import Drawing
from app.services.editing import Editing
from app.services.expansion import Expansion
from app.services.flush import Flush
from app.services.forgetting import Forgetting
from app.services.gating import GateLimits, ModelGate
from app.services.health import Health
from app.services.ingest import Ingest
from app.services.keys import Keys, digest
from app.services.labelling import Labelling
from app.services.lanes import Lane, LanePolicy
from app.services.maintenance import Maintenance
from app.services.memory import Memory
from app.services.namespaces import Namespaces
from app.services.narration import Narration
from app.services.observation import Observation
from app.services.progress import Progress
from app.services.rebuilding import Rebuilding
from app.services.redoing import Redoing
from app.services.reembedding import Reembedding
from app.services.repair import Repair
from app.services.retention import Retention
from app.services.search import ReadPolicy, Search
from app.services.seeking import Seeker
from app.services.segmentation import Segmentation, SegmentMode
from app.services.theme_graph import ThemeGraph
from app.services.themes import Themes
from app.services.transfer.exporting import Exporting
from app.services.transfer.importing import Importing
from app.services.transfer.merging import Merging
from app.services.transfer.restoring import Restoring
from app.services.upkeep import Upkeep
from app.services.work import Work
from app.settings import Settings
from app.storage import file_lock, migrate
from app.storage.engine import EnginePolicy, Engines, create_engines, sqlite_path
from app.storage.faults import store_errors
from app.storage.unit_of_work import Clock, Doorbell, Storage
from app.telemetry.metrics import Metrics

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Container:
    """A built service."""

    services: Services
    worker: Worker
    storage: Storage
    embedders: Embedders[GuardedEmbedder]
    chat: GuardedChat | None

    @property
    def embedder(self) -> GuardedEmbedder:
        """The present embedding model."""
        return self.embedders.current


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
        embedders = models.guarded(models.open_embedders(settings, stack), settings, metrics)
        chat = models.open_chat(settings, metrics)
        if chat is not None:
            stack.callback(chat.close)
        engines = create_engines(settings.database_url, _engine_policy(settings))
        storage = Storage(engines, _doorbell(engines), asyncio.Lock() if engines.is_sqlite else None)
        try:
            await _check(storage, embedders, settings)
            yield _assemble(settings, clock, storage, embedders, chat, metrics)
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


async def _check(storage: Storage, embedders: Embedders[GuardedEmbedder], settings: Settings) -> None:
    """Refuse a database whose vectors another model made; take up again what an ended server left running."""
    async with storage.directory() as directory:
        embedders.check(sorted(await directory.profiles()), settings.embedder_next or settings.embedder)
    if storage.engines.is_sqlite:
        await storage.requeue_running()
    tell_of_thresholds(embedders, settings.embedder)


def tell_of_thresholds(embedders: Embedders[GuardedEmbedder] | Embedders[Embedder], embedder: str) -> None:
    """Say so where themes are made with the thresholds of another embedding model."""
    if not is_calibrated(model_of(str(embedders.newest.profile))):
        log.warning(
            "themes are not calibrated for this embedding model: see docs/themes.md",
            extra={"embedder": embedder.partition(":")[0]},  # the kind: a name may be a path
        )


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
    settings: Settings,
    clock: Clock,
    storage: Storage,
    embedders: Embedders[GuardedEmbedder],
    chat: GuardedChat | None,
    metrics: Metrics,
) -> Container:
    progress = Progress()
    segment = _segment_policy(settings)
    forgetting = Forgetting(storage, embedders, clock, _cleaning(settings, storage), retold=chat is not None)
    retention = _retention(settings, storage, clock)
    expansion = Expansion(None if chat is None else ModelGate(chat))
    search = Search(storage, embedders, progress, clock, _read_policy(settings), expansion, _lane(settings))
    reembedding = Reembedding(storage, embedders, clock)
    ingest = Ingest(storage, str(embedders.newest.profile), clock, Backlog(_backlog_policy(settings)))
    services = Services(
        ingest=ingest,
        flush=Flush(storage, progress, clock),
        search=search,
        answering=Answering(search, clock, None if chat is None else Composing(storage, chat)),
        memory=Memory(storage),
        themes=Themes(storage, clock),
        theme_graph=ThemeGraph(storage, clock),
        editing=Editing(storage, embedders, clock),
        work=Work(storage, clock),
        namespaces=Namespaces(storage),
        forgetting=forgetting,
        retention=retention,
        reembedding=reembedding,
        exporting=Exporting(storage, clock, asyncio.Semaphore(settings.limits.exports)),
        importing=_importing(settings, storage, embedders, clock, ingest),
        keys=_keys(settings, storage, clock),
        audit=Audit(storage, clock),
        health=Health(storage, settings.database_url, embedders, settings.chat, chat, _configured(settings)),
        observation=Observation(storage, metrics, clock),
        export_seconds=settings.limits.export_seconds,
        default_tokens=settings.read.max_tokens,
    )
    runner = Runner(
        storage,
        job_kinds(services, embedders, chat, clock, segment, _modes(settings)),
        progress,
        clock,
        RunnerPolicy(**settings.jobs.model_dump()),
        Upkeep(storage, clock, segment, None if chat is None else Redoing(storage, clock, chat.is_well), retention),
        metrics,
    )
    return Container(services, build_worker(runner, storage), storage, embedders, chat)


def _cleaning(settings: Settings, storage: Storage) -> Cleaning:
    return Cleaning(storage, settings.database.clean_rest_seconds)


def _retention(settings: Settings, storage: Storage, clock: Clock) -> Retention:
    kept = settings.audit_days
    return Retention(storage, clock, None if kept is None else timedelta(days=kept))


def _importing(
    settings: Settings, storage: Storage, embedders: Embedders[GuardedEmbedder], clock: Clock, ingest: Ingest
) -> Importing:
    restoring, merging = Restoring(storage, embedders, clock), Merging(storage, ingest)
    limits = settings.limits
    places = asyncio.Semaphore(limits.imports)
    return Importing(storage, embedders, clock, restoring, merging, limits.import_bytes, places)


@dataclass(frozen=True, slots=True)
class Modes:
    """What a language model does, where there is one."""

    admit: AdmitMode
    borders: bool  # it is asked where signals are unclear


def _modes(settings: Settings) -> Modes:
    return Modes(settings.admit_mode, borders=settings.segment.mode != "signals")


def job_kinds(
    services: Services,
    embedders: Embedders[Embedder],
    chat: ChatModel | None,
    clock: Clock,
    segment: SegmentPolicy,
    modes: Modes,
) -> Mapping[Step, JobKind]:
    """Who does which step of the background work."""
    storage = services.memory.storage
    told_alone = chat is not None and not modes.admit.asks_model
    with_model = SegmentMode(chat if modes.borders else None, retold=chat is not None, narrates=told_alone)
    kinds = (
        handlers.segment(Segmentation(storage, embedders, clock, segment, with_model)),
        handlers.admit(Admission(storage, embedders, Drawing(storage, modes.admit, chat), clock)),
        handlers.maintain(Maintenance(storage, clock, labels=chat is not None)),
        handlers.narrate(Narration(storage, embedders, chat)),
        handlers.label(Labelling(storage, chat)),
        handlers.rebuild(Rebuilding(storage, clock, labels=chat is not None)),
        handlers.forget(services.forgetting),
        handlers.reembed(services.reembedding),
        handlers.import_file(services.importing),
    )
    return {kind.step: kind for kind in kinds}


def build_metrics(settings: Settings) -> Metrics:
    """The instruments of a service."""
    return Metrics(
        version=__version__,
        embedder=settings.embedder.partition(":")[0],  # the kind: a name may be a path
        chat=settings.chat,
        database="postgres" if sqlite_path(settings.database_url) is None else "sqlite",
    )


def _keys(settings: Settings, storage: Storage, clock: Clock) -> Keys:
    admin = settings.admin_key
    return Keys(
        storage,
        clock,
        required=settings.auth == "keys",
        admin_digest=None if admin is None else digest(admin.get_secret_value()),
    )


def _engine_policy(settings: Settings) -> EnginePolicy:
    return EnginePolicy(
        pool_size=settings.database.pool_size,
        connection_seconds=settings.database.connection_seconds,
        lock_seconds=settings.database.lock_seconds,
    )


def _read_policy(settings: Settings) -> ReadPolicy:
    read = settings.read
    return ReadPolicy(read.wait_seconds, read.gate, GateLimits(read.probes, read.gate_seconds))


def _configured(settings: Settings) -> Configured:
    segment, read = _segment_policy(settings), _read_policy(settings)
    by_model = settings.chat != "extractive" and _modes(settings).borders
    return Configured(settings.admit_mode, by_model, segment, read, settings.read.max_tokens)


def _lane(settings: Settings) -> Lane:
    read = settings.read
    pause = settings.limits.pause_seconds
    return Lane(LanePolicy(read.at_once, read.waiting, read.waiting_in_all, read.deadline_seconds, pause))


def _backlog_policy(settings: Settings) -> BacklogPolicy:
    limits = settings.limits
    return BacklogPolicy(limits.buffered_messages, limits.pending_jobs, limits.pending_jobs_in_all, limits.namespaces)


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
    policy, stale = _segment_policy(settings), settings.jobs.stale_seconds
    async with _existing(settings, taken=repairs) as storage:
        with ExitStack() as stack:

            @cache
            def embedders() -> Embedders[Embedder]:
                return models.open_embedders(settings, stack)

            repair = Repair(storage, clock, Upkeep(storage, clock, policy), stale, embedders)
            yield Doctor(storage, clock, policy, stale), repair


@asynccontextmanager
async def build_seeker(settings: Settings) -> AsyncIterator[Seeker]:
    """Who looks for a text in the database of `settings`, beside whatever runs. Raises ConfigurationError."""
    async with _existing(settings, taken=False) as storage:
        yield Seeker(storage, sqlite_path(settings.database_url))


@asynccontextmanager
async def _existing(settings: Settings, *, taken: bool) -> AsyncIterator[Storage]:
    """The storage of a database that is there; `taken`: an SQLite file is for ourselves."""
    path = sqlite_path(settings.database_url)
    if path is not None and not await asyncio.to_thread(Path(path).exists):
        raise ConfigurationError(f"there is no database {path}")
    with ExitStack() as stack:
        if path is not None and taken:
            stack.enter_context(file_lock.own(path))
        await _require_schema(settings.database_url)
        engines = create_engines(settings.database_url)
        try:
            yield Storage(engines, _doorbell(engines), asyncio.Lock() if engines.is_sqlite else None)
        finally:
            await engines.dispose()


def migrate_database(settings: Settings) -> None:
    """Bring the database up to this version's schema. Blocking."""
    migrate.upgrade(settings.database_url)
