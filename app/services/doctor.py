"""The doctor: every invariant over a database. Reads only; each namespace is seen as of one moment."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from app.domain.access import EVERY
from app.domain.episodes import Episode
from app.domain.errors import BeingImported, NotFound
from app.domain.findings import Fault, Finding, Notes
from app.domain.ids import NamespaceId, StatementId
from app.domain.invariants import (
    Members,
    Walk,
    Words,
    badly_made,
    incomplete,
    judge_statements,
    message_terms,
    shown,
    theme_faults,
)
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.messages import Message
from app.domain.records import Statement
from app.domain.segmentation import SegmentPolicy
from app.domain.text import terms
from app.storage.tables import embeddings, postings
from app.storage.unit_of_work import Clock, ReadUnit, Storage

CHUNK = 500  # items read at once, so that memory stays bounded however large the namespace
UPKEEP_SECONDS = 120.0  # a living worker has closed a conversation at rest by then

ItemT = TypeVar("ItemT", Message, Episode, Statement)

Watch = Callable[[str, int, int], None]
"""Told how far it is: namespace, messages read, messages in all."""


@dataclass(frozen=True, slots=True)
class Patient:
    """A namespace to be looked over."""

    id: NamespaceId
    name: str


@dataclass(frozen=True, slots=True)
class Doctor:
    """Finds what is off. Safe beside running servers: it takes no lock and writes nothing."""

    storage: Storage
    clock: Clock
    caps: SegmentPolicy
    stale_seconds: float

    async def patients(self, only: str | None = None) -> Sequence[Patient]:
        """The namespaces there are, or the one of this name. Raises NotFound."""
        found: list[Patient] = []
        async with self.storage.directory() as directory:
            if only is not None:
                return [Patient((one := await directory.get(only)).id, one.name)]
            after: UUID | None = None
            while page := await directory.page(after, CHUNK, [EVERY]):
                found += [Patient(namespace.id, namespace.name) for namespace in page]
                after = page[-1].id
        return found

    async def examine(self, patients: Sequence[Patient], watch: Watch = lambda *far: None) -> Sequence[Finding]:
        """Look over these namespaces."""
        findings: list[Finding] = []
        for patient in patients:
            try:
                async with self.storage.read(patient.id) as unit:
                    notes = Notes(patient.name)
                    await _Examination(self, unit, notes, watch).run()
            except (NotFound, BeingImported):  # it was erased meanwhile, or is not whole yet
                continue
            findings += notes.findings()
        return findings

    async def look_around(self) -> Sequence[Finding]:
        """What is off outside the namespaces that live: rows of nobody, erasures that nobody works on."""
        nowhere = Notes("")
        async with self.storage.directory() as directory:
            for table, count in (await directory.rows_of_nobody()).items():
                nowhere.count(Fault.ROWS_OF_NOBODY, count, table)
            nowhere.add(Fault.ERASURE_STUCK, await directory.abandoned())
            stuck = await directory.stuck_erasures(self.clock())
            nowhere.add(Fault.ERASURE_STUCK, [namespace for namespace, _ in stuck])
        return nowhere.findings()


@dataclass(frozen=True, slots=True)
class _Examination:
    """One namespace, from one moment."""

    doctor: Doctor
    unit: ReadUnit
    notes: Notes
    watch: Watch

    async def run(self) -> None:
        await self._messages()
        await self._buffers()
        await self._statements()
        await self._rows()

    async def _messages(self) -> None:
        unit, words = self.unit, Words()
        walk = Walk(self.notes, await unit.erasures.tallies())
        total, _ = await unit.messages.counts()
        segmenting = await unit.doctor.open_keys(Step.SEGMENT)
        after: int | None = None
        while chunk := await unit.doctor.walk(after, CHUNK):
            after = chunk[-1].sequence
            await asyncio.to_thread(walk.feed, chunk)
            await self._words(words, Level.MESSAGE, chunk, message_terms)
            await self._vectors(Level.MESSAGE, chunk, lambda one: str(one.conversation) in segmenting)
            self.watch(self.notes.namespace, walk.seen, total)
        walk.end(unit.namespace.sequence)
        await self._statistics(Level.MESSAGE, words)
        await self._episodes(walk)

    async def _episodes(self, walk: Walk) -> None:
        words = Words()
        admitting = await self.unit.jobs.known_keys(Step.ADMIT)
        forgetting = await self.unit.jobs.find_open(Step.FORGET) is not None  # it makes the vectors of what is left
        async for chunk in _pages(self.unit.episodes.page):
            walk.judge(chunk, self.doctor.caps)
            lost = [one.id for one in chunk if not one.admitted and str(one.id) not in admitting]
            self.notes.add(Fault.EPISODE_NOT_ADMITTED, lost)
            await self._words(words, Level.EPISODE, chunk, lambda one: terms(shown(one)))
            await self._vectors(Level.EPISODE, chunk, lambda one: forgetting)
        await self._statistics(Level.EPISODE, words)

    async def _buffers(self) -> None:
        resting = self.doctor.clock() - timedelta(seconds=self.doctor.caps.idle_close_seconds + UPKEEP_SECONDS)
        segmenting = await self.unit.jobs.known_keys(Step.SEGMENT)
        overdue = [
            buffer.conversation
            for buffer in await self.unit.messages.buffers()
            if buffer.last_recorded_at <= resting and str(buffer.conversation) not in segmenting
        ]
        self.notes.add(Fault.BUFFER_OVERDUE, overdue)

    async def _statements(self) -> None:
        words = Words()
        members: dict[UUID, Members] = {}
        maintained = bool(await self.unit.jobs.known_keys(Step.MAINTAIN))

        async def page(after: UUID | None, limit: int) -> Sequence[Statement]:
            return await self.unit.statements.page(after, limit, superseded=True)

        async for chunk in _pages(page):
            homes = judge_statements(chunk, self.notes, maintained=maintained)
            vectors = await self.unit.embeddings.vectors(Level.STATEMENT, [one.id for one in chunk])
            for theme, inside in homes.items():
                for statement in inside:
                    members.setdefault(theme, Members()).add(vectors.get(StatementId(statement)))
            await self._words(words, Level.STATEMENT, chunk, lambda one: terms(one.text))
            await self._vectors(Level.STATEMENT, chunk)
        await self._statistics(Level.STATEMENT, words)
        await self._themes(members)

    async def _themes(self, members: Mapping[UUID, Members]) -> None:
        after: UUID | None = None
        while chunk := await self.unit.doctor.theme_rows(after, CHUNK):
            after = chunk[-1][0]
            for theme, size, vector_sum, centroid in chunk:
                for fault in theme_faults(size, vector_sum, centroid, members.get(theme)):
                    self.notes.add(fault, [theme])

    async def _rows(self) -> None:
        for reference, ids in (await self.unit.doctor.orphans()).items():
            self.notes.add(Fault.ORPHANS, ids, reference)
        for fault, table in ((Fault.VECTORS_STRAY, embeddings), (Fault.POSTINGS_STRAY, postings)):
            for level, ids in (await self.unit.doctor.strays(table)).items():
                self.notes.add(fault, ids, level)
        for level, ids in (await self.unit.doctor.torn_words()).items():
            self.notes.add(Fault.VECTORS_WRONG, ids, level)
        if await self.unit.jobs.find_open(Step.REEMBED) is None:
            self.notes.count(Fault.VECTORS_UNREAD, await self.unit.staging.count_unread())
        self.notes.add(Fault.SUCCESSOR_LOST, await self.unit.doctor.lost_successors())
        silent = self.doctor.clock() - timedelta(seconds=self.doctor.stale_seconds)
        self.notes.add(Fault.JOB_SILENT, await self.unit.doctor.silent_jobs(silent))

    async def _words(
        self, words: Words, level: Level, items: Sequence[ItemT], read: Callable[[ItemT], Sequence[str]]
    ) -> None:
        stored = await self.unit.doctor.postings(level, [item.id for item in items])
        texts = await asyncio.to_thread(lambda: {item.id: read(item) for item in items})
        wrong = words.wrong(texts, stored)
        self.notes.add(Fault.POSTINGS_WRONG, wrong, level.value)

    async def _vectors(
        self, level: Level, items: Sequence[ItemT], expected: Callable[[ItemT], bool] = lambda one: False
    ) -> None:
        """`expected`: whether an open job is going to make the item's vectors."""
        stored = await self.unit.embeddings.parts(level, [item.id for item in items])
        dimension = self.unit.namespace.dimension
        missing = [item.id for item in items if incomplete(stored.get(item.id, ())) and not expected(item)]
        self.notes.add(Fault.VECTORS_MISSING, missing, level.value)
        wrong = [item.id for item in items if badly_made(stored.get(item.id, ()), dimension)]
        self.notes.add(Fault.VECTORS_WRONG, wrong, level.value)

    async def _statistics(self, level: Level, words: Words) -> None:
        stored = (await self.unit.doctor.statistics()).get(level.value, (0, 0))
        if stored != (words.documents, words.total):
            self.notes.count(Fault.WORD_STATISTICS, 1, level.value)


async def _pages(
    page: Callable[[UUID | None, int], Awaitable[Sequence[ItemT]]],
) -> AsyncIterator[Sequence[ItemT]]:
    after: UUID | None = None
    while chunk := await page(after, CHUNK):
        after = chunk[-1].id
        yield chunk
