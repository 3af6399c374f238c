"""Upkeep: closes conversations at rest, queues again whatever lost its job or its model, frees old keys."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.errors import NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import Step
from app.domain.segmentation import SegmentPolicy
from app.services.once import KEPT
from app.services.redoing import Redoing
from app.storage.unit_of_work import Clock, Storage, WriteUnit


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Derives from the rows themselves what is left to do; queues it unless a job knows of it already."""

    storage: Storage
    clock: Clock
    policy: SegmentPolicy
    redoing: Redoing | None = None
    """Where there is a language model."""

    async def run(self) -> int:
        """Look over all namespaces once. Returns how many jobs were queued."""
        now = self.clock()
        rested = now - timedelta(seconds=self.policy.idle_close_seconds)
        async with self.storage.directory() as directory:
            found = {*await directory.with_resting_buffers(rested), *await directory.with_unfinished_rows()}
            outdated = await directory.with_replies_before(now - KEPT)
        for namespace in outdated:
            await self._free_keys(namespace, now - KEPT)
        queued = sum([await self._look_after(namespace, now, rested) for namespace in sorted(found)])
        return queued + (await self.redoing.run() if self.redoing else 0)

    async def _free_keys(self, namespace: NamespaceId, before: datetime) -> None:
        with suppress(NotFound):  # it was erased meanwhile, or is about to be
            async with self.storage.write(namespace) as unit:
                await unit.replies.purge(before)
                await unit.commit(revises_memory=False)

    async def _look_after(self, namespace: NamespaceId, now: datetime, rested: datetime) -> int:
        try:
            async with self.storage.write(namespace) as unit:
                queued = await _queue(unit, now, rested)
                if queued:
                    await unit.commit(revises_memory=False)
        except NotFound:  # it was erased meanwhile
            return 0
        return queued


async def _queue(unit: WriteUnit, now: datetime, rested: datetime) -> int:
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
