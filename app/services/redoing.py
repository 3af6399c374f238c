"""Redoing: texts that stand in for a model's are written anew once the model is back."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from app.domain.errors import BeingImported, NotFound, ProviderUnavailable
from app.domain.ids import NamespaceId
from app.domain.jobs import Step
from app.storage.unit_of_work import Clock, ReadUnit, Storage

AT_ONCE = 100  # episodes of a namespace that are queued in one look; the next look is seconds away


@dataclass(frozen=True, slots=True)
class Redoing:
    """Queues what no open job is going to write. A job that failed in an outage is forgiven; any other failure
    is not: the same would come of it.
    """

    storage: Storage
    clock: Clock
    model_is_well: Callable[[], Awaitable[bool]]

    async def run(self) -> int:
        """Look over all namespaces once. Returns how many jobs were queued."""
        async with self.storage.directory() as directory:
            found = await directory.with_degraded_texts()
        waiting = [namespace for namespace in found if await self._waits(namespace)]
        if not waiting or not await self.model_is_well():
            return 0
        return sum([await self._queue(namespace) for namespace in waiting])

    async def _waits(self, namespace: NamespaceId) -> bool:
        with suppress(NotFound, BeingImported):  # it was erased meanwhile, or is not whole yet
            async with self.storage.read(namespace) as unit:
                return bool(await _left(unit))
        return False

    async def _queue(self, namespace: NamespaceId) -> int:
        with suppress(NotFound, BeingImported):
            async with self.storage.write(namespace) as unit:
                left = await _left(unit)
                for step, key in left:
                    await unit.jobs.enqueue(step, key, {}, self.clock())
                await unit.commit(revises_memory=False)
            return len(left)
        return 0


async def _left(unit: ReadUnit) -> list[tuple[Step, str]]:
    """The jobs that are missing. Labels wait until all is at rest: they are asked for in batches."""
    busy = await unit.jobs.known_keys(Step.NARRATE, forgiven=ProviderUnavailable.code)
    left = [(Step.NARRATE, str(episode)) for episode, _ in await unit.episodes.degraded(AT_ONCE)]
    left = [(step, key) for step, key in left if key not in busy]
    if await unit.themes.degraded(1) and await _is_at_rest(unit):
        left.append((Step.LABEL, str(unit.namespace.id)))
    return left


async def _is_at_rest(unit: ReadUnit) -> bool:
    pending = (await unit.jobs.counts()).pending
    known = await unit.jobs.known_keys(Step.LABEL, forgiven=ProviderUnavailable.code)
    return not pending and not known and not await unit.messages.buffers()
