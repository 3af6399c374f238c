"""Flush: close the open tails, wait for the work, and tell the truth about how far it is."""

import asyncio
from dataclasses import dataclass

from app.domain.ids import ConversationId, NamespaceId
from app.domain.jobs import REMEMBERING, JobCounts, Step
from app.services.progress import Progress
from app.storage.unit_of_work import Clock, ReadUnit, Storage


@dataclass(frozen=True, slots=True)
class Flushed:
    """Settled: no queued or running job, and nothing in the buffer. Failed jobs are counted, not waited for.

    A change of the embedding model is not counted: it changes nothing of what is remembered, and takes its time.
    """

    settled: bool
    sequence: int
    jobs: JobCounts


@dataclass(frozen=True, slots=True)
class Flush:
    """Closes buffers. Idempotent, and safe beside posts: it closes what was there when it was called."""

    storage: Storage
    progress: Progress
    clock: Clock

    async def flush(self, namespace: str, conversation: str | None, wait_seconds: float) -> Flushed:
        """Close the buffer of one conversation, or of all, and wait up to `wait_seconds` for the work to settle."""
        id_, only = await self._close(namespace, conversation)
        loop = asyncio.get_running_loop()
        end = loop.time() + wait_seconds
        while True:
            notice = self.progress.expect(id_)
            async with self.storage.read(id_) as unit:
                state = await _state(unit, only)
            left = end - loop.time()
            # With no job to come, what is still in the buffer stays there: its job failed, and says why.
            if state.settled or state.jobs.pending == 0 or left <= 0:
                return state
            await notice.wait(left)

    async def _close(self, namespace: str, name: str | None) -> tuple[NamespaceId, ConversationId | None]:
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            only = None if name is None else await unit.messages.conversation(name)
            for buffer in await unit.messages.buffers():
                if only in (None, buffer.conversation):
                    await unit.jobs.enqueue(
                        Step.SEGMENT,
                        str(buffer.conversation),
                        {"close_through": buffer.last_sequence},
                        now,
                        first_sequence=buffer.first_sequence,
                    )
            await unit.commit(revises_memory=False)
        return unit.namespace.id, only


async def _state(unit: ReadUnit, only: ConversationId | None) -> Flushed:
    counts = await unit.jobs.counts(REMEMBERING)
    open_buffers = [buffer for buffer in await unit.messages.buffers() if only in (None, buffer.conversation)]
    return Flushed(counts.pending == 0 and not open_buffers, unit.namespace.sequence, counts)
