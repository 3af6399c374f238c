"""Upkeep: closes conversations at rest, queues again whatever lost its job or its model, lets go of what expired."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.errors import BeingImported, NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import JobState, Step
from app.domain.segmentation import SegmentPolicy
from app.services.once import KEPT
from app.services.redoing import Redoing
from app.services.retention import Retention
from app.storage.unit_of_work import Clock, Storage, WriteUnit


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Derives from the rows themselves what is left to do; queues it unless a job knows of it already."""

    storage: Storage
    clock: Clock
    policy: SegmentPolicy
    redoing: Redoing | None = None
    """Where there is a language model."""
    retention: Retention | None = None
    """Not where a repair looks after what it left."""

    async def run(self) -> int:
        """Look over all namespaces once. Returns how many jobs were queued."""
        now = self.clock()
        rested = now - timedelta(seconds=self.policy.idle_close_seconds)
        async with self.storage.directory() as directory:
            found = {*await directory.with_resting_buffers(rested), *await directory.with_unfinished_rows()}
            outdated = await directory.with_replies_before(now - KEPT)
            importing = await directory.with_lines_of_imports()
        for namespace in outdated:
            await self._free_keys(namespace, now - KEPT)
        for namespace in importing:
            await self._drop_lines(namespace, now - KEPT)
        queued = sum([await self._look_after(namespace, now, rested) for namespace in sorted(found)])
        queued += await self.retention.run() if self.retention else 0
        return queued + (await self.redoing.run() if self.redoing else 0)

    async def _free_keys(self, namespace: NamespaceId, before: datetime) -> None:
        with suppress(NotFound, BeingImported):  # it was erased meanwhile, or is about to be
            async with self.storage.write(namespace) as unit:
                await unit.replies.purge(before)
                await unit.commit(revises_memory=False)

    async def _drop_lines(self, namespace: NamespaceId, before: datetime) -> None:
        """Let go of what came in for an import that was cancelled, or that failed before then."""
        with suppress(NotFound):
            async with self.storage.write(namespace, also_importing=True) as unit:
                job = await unit.jobs.newest(Step.IMPORT)
                over = job is None or job.state is JobState.CANCELLED
                if over or (job is not None and job.finished_at is not None and job.finished_at <= before):
                    await unit.transfer.clear_blocks()
                    await unit.commit(revises_memory=False)

    async def _look_after(self, namespace: NamespaceId, now: datetime, rested: datetime) -> int:
        try:
            async with self.storage.write(namespace) as unit:
                queued = await queue_left(unit, now, rested)
                if queued:
                    await unit.commit(revises_memory=False)
        except (NotFound, BeingImported):  # it was erased meanwhile, or is not whole yet
            return 0
        return queued


async def queue_left(unit: WriteUnit, now: datetime, rested: datetime) -> int:
    """Queue what is left to do in one namespace; conversations at rest since `rested` are closed. Returns how much."""
    queued = 0
    segmenting = await unit.jobs.known_keys(Step.SEGMENT)
    for buffer in await unit.messages.buffers():
        if buffer.last_recorded_at <= rested and str(buffer.conversation) not in segmenting:
            await unit.jobs.enqueue(
                Step.SEGMENT,
                str(buffer.conversation),
                {"close_through": None},
                now,
                first_sequence=buffer.first_sequence,
            )
            queued += 1
    admitting = await unit.jobs.known_keys(Step.ADMIT)
    for episode, first_sequence in await unit.episodes.not_admitted():
        if str(episode) not in admitting:
            await unit.jobs.enqueue(Step.ADMIT, str(episode), {}, now, first_sequence=first_sequence)
            queued += 1
    if not await unit.jobs.known_keys(Step.MAINTAIN) and (
        await unit.statements.without_theme(1) or await unit.themes.dirty(1)
    ):
        await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
        queued += 1
    return queued
