"""Units of work: the only way to the database, each bound to one namespace.

A write unit begins by locking its namespace's row, so the writes of a namespace follow one another; the
writes of different namespaces do not wait for each other (on Postgres; an SQLite file has one writer).
Nothing is kept unless `commit()` is called.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.audit import Act, Outcome
from app.domain.errors import BeingImported, NotFound, StoreUnavailable
from app.domain.ids import NamespaceId
from app.domain.namespaces import Namespace
from app.storage import gauges, migrate
from app.storage.audit import AuditLog
from app.storage.doctor import DoctorRepository, RepairRepository
from app.storage.embeddings import EmbeddingRepository
from app.storage.engine import Engines, empty_log, renew_samples, rewrite_file
from app.storage.episodes import EpisodeRepository
from app.storage.erasures import ErasureRepository
from app.storage.faults import store_errors
from app.storage.hierarchy import HierarchyRepository
from app.storage.jobs import JobRepository
from app.storage.keys import Keyring
from app.storage.messages import MessageRepository
from app.storage.namespaces import Directory, to_namespace
from app.storage.receipts import ReceiptRepository
from app.storage.regions import RegionRepository
from app.storage.replies import ReplyRepository
from app.storage.seeking import Everything
from app.storage.staging import StagingRepository
from app.storage.statements import StatementRepository
from app.storage.tables import namespaces
from app.storage.themes import ThemeRepository
from app.storage.transfer import TransferRepository
from app.storage.usage import UsageRepository
from app.storage.words import WordRepository
from app.telemetry.metrics import Readings

Clock = Callable[[], datetime]

LOG_SECONDS = (0.1, 0.3, 1.0)
"""How long writers stand still, try by try, until SQLite's readers are off its log; in between they have their turn.

A reader may stay for minutes (an export that its client reads slowly), and may itself wait for a writer.
"""


class Doorbell(Protocol):
    """Tells whoever runs jobs that a namespace has some."""

    async def before_commit(self, connection: AsyncConnection, namespace: NamespaceId) -> None:
        """Called inside the transaction that queued the jobs."""
        ...

    def after_commit(self, namespace: NamespaceId) -> None:
        """Called once the jobs are durable."""
        ...


class ReadUnit:
    """Reads of one namespace, all from the same moment. Has no commit."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace) -> None:
        self.namespace = namespace
        self.messages = MessageRepository(connection, namespace.id)
        self.episodes = EpisodeRepository(connection, namespace.id)
        self.statements = StatementRepository(connection, namespace.id)
        self.themes = ThemeRepository(connection, namespace.id)
        self.regions = RegionRepository(connection, namespace.id)
        self.hierarchy = HierarchyRepository(connection, namespace)
        self.jobs = JobRepository(connection, namespace.id)
        self.words = WordRepository(connection, namespace.id)
        self.embeddings = EmbeddingRepository(connection, namespace.id, namespace.generation)
        self.staging = StagingRepository(connection, namespace)
        self.replies = ReplyRepository(connection, namespace.id)
        self.usage = UsageRepository(connection, namespace.id)
        self.doctor = DoctorRepository(connection, namespace.id)
        self.transfer = TransferRepository(connection, namespace)
        self.erasures = ErasureRepository(connection, namespace.id)
        self._connection = connection


class WriteUnit(ReadUnit):
    """Writes of one namespace, whose row is locked. Rolled back unless committed."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace, doorbell: Doorbell) -> None:
        super().__init__(connection, namespace)
        self.directory = Directory(connection)
        self.repairs = RepairRepository(connection, namespace.id)
        self.receipts = ReceiptRepository(connection, namespace)
        self.audit = AuditLog(connection, namespace.name)
        self._doorbell = doorbell

    async def commit(self, *, revises_memory: bool = True) -> None:
        """Keep everything and ring for queued jobs; `revises_memory` raises the namespace's revision."""
        if revises_memory:
            await self.directory.raise_revision(self.namespace.id)
        if self.jobs.queued:
            await self._doorbell.before_commit(self._connection, self.namespace.id)
        await self._connection.commit()
        if self.jobs.queued:
            self._doorbell.after_commit(self.namespace.id)


class AccessUnit:
    """Keys and the audit log. What is written is rolled back unless committed."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.keys = Keyring(connection)
        self.audit = AuditLog(connection, None)
        self.commit = connection.commit


@dataclass(frozen=True, slots=True)
class Storage:
    """Opens units. `writers` keeps the writers of one SQLite file in line, so that none polls for its lock."""

    engines: Engines
    doorbell: Doorbell
    writers: asyncio.Lock | None

    @asynccontextmanager
    async def read(self, namespace: NamespaceId | str, *, also_importing: bool = False) -> AsyncIterator[ReadUnit]:
        """A read unit of a namespace, by id or by name. Raises NotFound if it is gone, BeingImported."""
        async with store_errors(), self.engines.read.connect() as connection:
            yield ReadUnit(connection, await _get(connection, namespace, also_importing=also_importing))

    @asynccontextmanager
    async def write(
        self, namespace: NamespaceId | str, *, also_deleted: bool = False, also_importing: bool = False
    ) -> AsyncIterator[WriteUnit]:
        """A write unit of a namespace, by id or by name, its row locked. Raises NotFound if it is gone, BeingImported.

        `also_deleted` takes it as it is: also while it is being imported.
        """
        async with self._write_connection() as connection:
            row = await _get(connection, namespace, lock=True, also_deleted=also_deleted, also_importing=also_importing)
            yield WriteUnit(connection, row, self.doorbell)

    @asynccontextmanager
    async def write_or_create(
        self, name: str, profile: str, now: datetime, *, also_importing: bool = False
    ) -> AsyncIterator[WriteUnit]:
        """A write unit of the namespace called `name`, made on first use with this embedding profile.

        Raises BeingImported.
        """
        async with self._write_connection() as connection:
            row = None
            while row is None:  # a deletion may come between finding it and locking it: then it is made anew
                found = await Directory(connection).get_or_create(name, profile, now)
                with suppress(NotFound):
                    row = await _get(connection, found, lock=True, also_importing=also_importing)
            yield WriteUnit(connection, row, self.doorbell)

    @asynccontextmanager
    async def directory(self) -> AsyncIterator[Directory]:
        """Reads across namespaces: names, receipts, who has due jobs."""
        async with store_errors(), self.engines.read.connect() as connection:
            yield Directory(connection)

    @asynccontextmanager
    async def access(self) -> AsyncIterator[AccessUnit]:
        """Reads of keys and of the audit log."""
        async with store_errors(), self.engines.read.connect() as connection:
            yield AccessUnit(connection)

    @asynccontextmanager
    async def write_access(self) -> AsyncIterator[AccessUnit]:
        """Writes of keys and of the audit log."""
        async with self._write_connection() as connection:
            yield AccessUnit(connection)

    async def record(self, act: Act, now: datetime, namespace: str | None, outcome: Outcome = Outcome.DONE) -> None:
        """Write an act into the audit log that writes nothing else. `namespace` is a name, and need not exist."""
        async with self._write_connection() as connection:
            await AuditLog(connection, namespace).record(act, now, outcome=outcome)
            await connection.commit()

    @asynccontextmanager
    async def everything(self) -> AsyncIterator[Everything]:
        """Reads of all tables, as of one moment: for whoever administers the database."""
        async with store_errors(), self.engines.read.connect() as connection:
            yield Everything(connection)

    async def purge_receipts(self, before: datetime) -> None:
        """Remove receipts of erasures that were done by then."""
        async with self.directory() as directory:
            if not await directory.has_receipts(before):
                return
        async with self._write_connection() as connection:
            await Directory(connection).purge_receipts(before)
            await connection.commit()

    async def clean(self) -> None:
        """Leave nothing of erased rows in what the database keeps beside its rows. Raises StoreUnavailable.

        An SQLite file is written anew; on Postgres the planner's statistics are made anew, and the rest is vacuum's.
        """
        if not self.engines.is_sqlite:
            async with store_errors():
                await renew_samples(self.engines)
            return
        async with store_errors(), self._line():
            await rewrite_file(self.engines)
        for seconds in LOG_SECONDS:
            async with store_errors(), self._line():
                if await empty_log(self.engines, seconds):
                    return
            await asyncio.sleep(seconds)
        raise StoreUnavailable("the database is busy: its log is being read")

    async def requeue_running(self) -> int:
        """Queue again what was running when the only process that runs jobs ended. Returns how many."""
        async with self._write_connection() as connection:
            count = await Directory(connection).requeue_running()
            await connection.commit()
        return count

    async def readings(self, now: datetime) -> Readings:
        """Numbers over all namespaces, for metrics. Raises StoreUnavailable, also if the schema is another one."""
        try:
            async with store_errors(), self.engines.read.connect() as connection:
                return await gauges.read(connection, now)
        except DBAPIError as error:
            raise StoreUnavailable("the database's tables are not those of this version") from error

    async def schema_revision(self) -> str | None:
        """The schema's revision; None if the database was never migrated. Raises StoreUnavailable."""
        async with store_errors():
            return await migrate.current(self.engines.read)

    @asynccontextmanager
    async def _write_connection(self) -> AsyncIterator[AsyncConnection]:
        async with store_errors(), self._line(), self.engines.write.connect() as connection:
            yield connection

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[None]:
        """Our turn to write; on SQLite after those before us, who may be waiting for another process' lock."""
        if self.writers is None:
            yield
            return
        try:
            async with asyncio.timeout(self.engines.lock_seconds):
                await self.writers.acquire()
        except TimeoutError as error:
            raise StoreUnavailable("the database is busy: too many writers wait") from error
        try:
            yield
        finally:
            self.writers.release()


async def _get(
    connection: AsyncConnection,
    namespace: NamespaceId | str,
    *,
    lock: bool = False,
    also_deleted: bool = False,
    also_importing: bool = False,
) -> Namespace:
    called = isinstance(namespace, str)
    query = select(namespaces).where((namespaces.c.name if called else namespaces.c.id) == namespace)
    if not also_deleted:
        query = query.where(namespaces.c.deleted_at.is_(None))
    row = (await connection.execute(query.with_for_update() if lock else query)).one_or_none()
    if row is None:
        raise NotFound("no such namespace")
    if row.importing and not (also_deleted or also_importing):
        raise BeingImported("the namespace is being imported: its jobs tell how far that is")
    return to_namespace(row)
