"""Segmentation: a conversation's buffer → vectors of its messages → episodes."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from app.domain.episodes import Episode
from app.domain.errors import Discarded
from app.domain.ids import ConversationId, EpisodeId
from app.domain.jobs import Attempt, Step
from app.domain.levels import Level
from app.domain.messages import Message, render
from app.domain.narration import narrative, title
from app.domain.provenance import EXTRACTIVE
from app.domain.segmentation import Run, SegmentPolicy, cut
from app.domain.text import count_tokens, terms
from app.domain.vectors import Matrix
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, Storage

READ_AT_ONCE = 128  # messages: several episodes' worth, so that memory stays bounded however long the buffer


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Closes episodes. A message leaves the buffer only in the transaction that writes its episode."""

    storage: Storage
    embedder: Embedder
    clock: Clock
    policy: SegmentPolicy

    async def segment(
        self, attempt: Attempt, conversation: ConversationId, close_through: int | None
    ) -> Mapping[str, Any]:
        """Cut what can be cut; `close_through` is the sequence up to which a flush leaves nothing open."""
        episodes = 0
        while True:
            buffer = await self._read(attempt, conversation)
            if not buffer:
                return {"episodes": episodes, "buffered": 0}
            vectors = await self._embed(attempt, buffer)
            whole = len(buffer) < READ_AT_ONCE
            runs = await asyncio.to_thread(
                cut,
                buffer,
                vectors,
                [count_tokens(render(message)) for message in buffer],
                self.policy,
                # Only the buffer's true end can be flushed, or have rested.
                close_through=close_through if whole else None,
                idle=whole and self._has_rested(buffer[-1]),
            )
            for run in runs:
                await self._close(attempt, buffer[run.start : run.stop], run)
            episodes += len(runs)
            if whole or not runs:
                return {"episodes": episodes, "buffered": len(buffer) - (runs[-1].stop if runs else 0)}

    def _has_rested(self, last: Message) -> bool:
        return self.clock() - last.recorded_at >= timedelta(seconds=self.policy.idle_close_seconds)

    async def _read(self, attempt: Attempt, conversation: ConversationId) -> Sequence[Message]:
        async with self.storage.read(attempt.namespace) as unit:
            return await unit.messages.buffer(conversation, READ_AT_ONCE)

    async def _embed(self, attempt: Attempt, buffer: Sequence[Message]) -> Matrix:
        """Vectors of the buffer's messages, (n, dimension); those not stored yet are made and stored."""
        ids = [message.id for message in buffer]
        async with self.storage.read(attempt.namespace) as unit:
            vectors = dict(await unit.embeddings.vectors(Level.MESSAGE, ids))
        new = [message for message in buffer if message.id not in vectors]
        if new:
            made = await embed_parts(self.embedder, [render(message) for message in new])
            parts = dict(zip((message.id for message in new), made, strict=True))
            async with self.storage.write(attempt.namespace) as unit:
                await unit.jobs.check(attempt, unit.namespace.erasures)
                await unit.embeddings.add(Level.MESSAGE, parts)
                await unit.commit()
            vectors |= {message: vectors_of[0] for message, vectors_of in parts.items()}
        return np.array([vectors[id_] for id_ in ids], dtype=np.float32)

    async def _close(self, attempt: Attempt, messages: Sequence[Message], run: Run) -> None:
        """Write one episode with its messages and the job that will admit it."""
        episode = await asyncio.to_thread(_episode, messages, run)
        shown = f"{episode.title}\n{episode.narrative}"
        [vectors] = await embed_parts(self.embedder, [shown])
        now = self.clock()
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            await unit.episodes.add(episode, now)
            moved = await unit.messages.assign(episode.id, [message.id for message in messages])
            if moved != len(messages):
                raise Discarded("some of the messages left the buffer meanwhile")
            await unit.words.add(Level.EPISODE, {episode.id: terms(shown)})
            await unit.embeddings.add(Level.EPISODE, {episode.id: vectors})
            await unit.jobs.enqueue(Step.ADMIT, str(episode.id), {}, now, first_sequence=episode.first_sequence)
            await unit.commit()


def _episode(messages: Sequence[Message], run: Run) -> Episode:
    times = [message.occurred_at for message in messages]
    return Episode(
        id=EpisodeId(new_id()),
        conversation=messages[0].conversation,
        title=title(messages),
        narrative=narrative(messages),
        message_count=len(messages),
        tokens=sum(count_tokens(render(message)) for message in messages),
        first_sequence=messages[0].sequence,
        last_sequence=messages[-1].sequence,
        started_at=min(times),
        ended_at=max(times),
        boundary_reason=run.reason,
        degraded=False,
        made_by=EXTRACTIVE,
        admitted=False,
    )
