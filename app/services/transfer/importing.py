"""The way in: a file is taken whole or not at all, and a job makes memory of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from app.domain.audit import Act
from app.domain.errors import Busy, Conflict
from app.domain.ids import JobId
from app.domain.jobs import Attempt, Job, Step, Unfinished
from app.domain.namespaces import Namespace
from app.domain.replies import Reply
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.once import Once
from app.services.transfer.lines import Header
from app.services.transfer.merging import Merging
from app.services.transfer.restoring import Restoring
from app.services.transfer.spooling import Spool
from app.storage.unit_of_work import Clock, Storage, WriteUnit

AT_ONCE = 2  # files that one process takes
RETRY_SECONDS = 10.0
FED_BYTES = 256 * 1024  # of a body that are checked together: shorter pieces would be mostly switching of threads
STAGED_BLOCKS = 16  # that are in memory while they are stored


class OnConflict(StrEnum):
    """What becomes of a file for a namespace that has messages already."""

    REFUSE = "refuse"
    SKIP = "skip"  # its messages are added, without those that are there


class Mode(StrEnum):
    """What a job does with a file."""

    RESTORE = "restore"  # everything as it was, into an empty namespace
    MERGE = "merge"  # its messages only; what is drawn from them is drawn anew


@dataclass(frozen=True, slots=True)
class Ordered:
    """A file that was taken, and the job that works on it."""

    namespace: str
    mode: Mode
    job: JobId
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Importing:
    """Takes files and works on them."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock
    restoring: Restoring
    merging: Merging
    most_bytes: int
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def take(
        self,
        namespace: str,
        body: AsyncIterator[bytes],
        conflict: OnConflict,
        once: Callable[[str], Once[Ordered]] | None = None,
    ) -> Ordered | Reply:
        """Check a file to its end, then store its lines with the job that will work on them, in one transaction.

        `once` makes of the body's SHA-256 what a repeated request is known by; its first answer is given again.
        Raises InvalidInput, which names the line and the field; TooLarge; Conflict if the namespace has messages and
        these are to be refused, or if an import of it is not finished; Busy. Then nothing was stored.
        """
        if self.places.locked():
            raise Busy("too many imports are coming in at the moment", "LIMITS__IMPORTS", RETRY_SECONDS)
        async with self.places:
            with await asyncio.to_thread(Spool, self.most_bytes) as spool:
                if once is None:
                    await self._look(namespace, conflict)  # before the file has come for nothing
                header = await _fill(spool, body)
                return await self._store(namespace, spool, header, conflict, once)

    async def work(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Go on with a file for a while."""
        if attempt.job.payload["mode"] == Mode.RESTORE:
            return await self.restoring.restore(attempt)
        return await self.merging.merge(attempt)

    async def _look(self, name: str, conflict: OnConflict) -> None:
        async with self.storage.directory() as directory:
            found = await directory.find(name)
        if found is not None and not found.importing:
            _refuse_unless_empty(found, conflict)

    async def _store(
        self,
        name: str,
        spool: Spool,
        header: Header,
        conflict: OnConflict,
        once: Callable[[str], Once[Ordered]] | None,
    ) -> Ordered | Reply:
        now, request = self.clock(), once and once(spool.sha256)
        profile = str(self.embedders.newest.profile)
        async with self.storage.write_or_create(name, profile, now, also_importing=True) as unit:
            if request is not None and (reply := await request.earlier(unit, now)) is not None:
                return reply
            await _refuse_if_busy(unit)
            _refuse_unless_empty(unit.namespace, conflict)
            ordered = await self._order(unit, spool, header)
            kept = None if request is None else await request.keep(unit, ordered, now)
            await unit.audit.record(Act.IMPORT, now, object=ordered.job)
            await unit.commit(revises_memory=False)
        return ordered if kept is None else kept

    async def _order(self, unit: WriteUnit, spool: Spool, header: Header) -> Ordered:
        mode = Mode.RESTORE if unit.namespace.sequence == 0 else Mode.MERGE
        vectors = header.vectors and self.embedders.find(header.embedding_profile) is not None
        if mode is Mode.RESTORE:
            profile = header.embedding_profile if vectors else str(self.embedders.newest.profile)
            await unit.directory.begin_import(unit.namespace.id, profile)
        payload = {
            "mode": mode.value,
            "blocks": spool.count,
            "lines": header.counts.total(),
            "vectors": vectors,
            "sequence": header.sequence,
            "retention_seconds": header.retention_seconds,
        }
        job = await unit.jobs.enqueue(Step.IMPORT, str(unit.namespace.id), payload, self.clock())
        await unit.transfer.clear_blocks()
        for blocks in spool.blocks(STAGED_BLOCKS):
            await unit.transfer.stage(job, blocks)
        return Ordered(unit.namespace.name, mode, job, header.counts.model_dump())


async def _fill(spool: Spool, body: AsyncIterator[bytes]) -> Header:
    held: list[bytes] = []
    size = 0
    async for piece in body:
        held.append(piece)
        size += len(piece)
        if size >= FED_BYTES:
            await asyncio.to_thread(spool.feed, b"".join(held))
            held, size = [], 0
    await asyncio.to_thread(spool.feed, b"".join(held))
    return await asyncio.to_thread(spool.finish)


async def _refuse_if_busy(unit: WriteUnit) -> None:
    job: Job | None = await unit.jobs.find_open(Step.IMPORT)
    if job is not None:
        raise Conflict(f"job {job.id} is importing into this namespace: wait for it, or cancel it")
    if unit.namespace.importing:
        raise Conflict("an import of this namespace is not finished: retry its job, or delete the namespace")


def _refuse_unless_empty(namespace: Namespace, conflict: OnConflict) -> None:
    if namespace.sequence and conflict is OnConflict.REFUSE:
        raise Conflict(
            "the namespace has messages already: import into another, or with conflict=skip, which adds messages only"
        )
