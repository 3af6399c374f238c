"""Segmentation: a conversation's buffer → vectors of its messages → episodes."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from app.domain.episodes import Episode
from app.domain.errors import Discarded
from app.domain.ids import ConversationId, EpisodeId
from app.domain.invariants import shown
from app.domain.jobs import Attempt, Step
from app.domain.levels import Level
from app.domain.messages import Message, render
from app.domain.narration import narrative, title
from app.domain.provenance import EXTRACTIVE
from app.domain.segmentation import Run, SegmentPolicy, cut, cut_with_model
from app.domain.text import count_tokens, terms
from app.domain.vectors import Matrix
from app.providers.embedders import Embedders
from app.providers.protocols import ChatModel, Embedder
from app.services.borders import Borders
from app.services.embedding import embed_parts
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, Storage

READ_AT_ONCE = 128  # messages: several episodes' worth, so that memory stays bounded however long the buffer


@dataclass(frozen=True, slots=True)
class SegmentMode:
    """What a language model does for segmentation; nothing, if there is none."""

    borders: ChatModel | None = None  # asked where the signals are unclear
    retold: bool = False  # whether a model writes title and narrative later
    narrates: bool = False  # in a job of its own; else admission does
    asked_in_a_job: int = 100  # windows: of some 2,000 messages, which takes half of a job's tokens


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Closes episodes. A message leaves the buffer only in the transaction that writes its episode."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock
    policy: SegmentPolicy
    mode: SegmentMode = SegmentMode()

    async def segment(
        self, attempt: Attempt, conversation: ConversationId, close_through: int | None
    ) -> Mapping[str, Any]:
        """Cut what can be cut; `close_through` is the sequence up to which a flush leaves nothing open."""
        episodes = 0
        borders = Borders(self.mode.borders) if self.mode.borders else None
        while True:
            buffer = await self._read(attempt, conversation)
            if not buffer:
                return _result(episodes, 0, borders)
            vectors = await self._embed(attempt, buffer)
            whole = len(buffer) < READ_AT_ONCE
            end = _End(
                # Only the buffer's true end can be flushed, or have rested.
                close_through=close_through if whole else None,
                idle=whole and self._has_rested(buffer[-1]),
            )
            runs = await self._cut(buffer, vectors, end, borders)
            for run in runs:
                await self._close(attempt, buffer[run.start : run.stop], run)
            episodes += len(runs)
            buffered = len(buffer) - (runs[-1].stop if runs else 0)
            if whole or not runs:
                return _result(episodes, buffered, borders)
            if borders and borders.asked >= self.mode.asked_in_a_job:
                await self._go_on_later(attempt, conversation, buffer[runs[-1].stop - 1])
                return _result(episodes, buffered, borders)

    async def _go_on_later(self, attempt: Attempt, conversation: ConversationId, last: Message) -> None:
        """Leave what follows `last` to a job with a budget of tokens of its own."""
        payload, rest = attempt.job.payload, last.sequence + 1
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            await unit.jobs.enqueue(Step.SEGMENT, str(conversation), payload, self.clock(), first_sequence=rest)
            await unit.commit(revises_memory=False)

    async def _cut(
        self, buffer: Sequence[Message], vectors: Matrix, end: "_End", borders: Borders | None
    ) -> Sequence[Run]:
        tokens = await asyncio.to_thread(lambda: [count_tokens(render(message)) for message in buffer])
        if borders is None:
            return await asyncio.to_thread(
                lambda: cut(buffer, vectors, tokens, self.policy, close_through=end.close_through, idle=end.idle)
            )
        said: dict[int, Collection[int] | None] = {}
        while True:
            cuts = await asyncio.to_thread(
                lambda: cut_with_model(
                    buffer, vectors, tokens, self.policy, said, close_through=end.close_through, idle=end.idle
                )
            )
            if cuts.unclear is None:
                return cuts.runs
            start, stop = cuts.unclear.start, cuts.unclear.stop
            begins = await borders.within(buffer[start:stop])
            said[start] = None if begins is None else {start + at for at in begins}

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
            made = await embed_parts(self.embedders.of(attempt.embedding_profile), [render(message) for message in new])
            parts = dict(zip((message.id for message in new), made, strict=True))
            async with self.storage.write(attempt.namespace) as unit:
                await unit.jobs.check(attempt, unit.namespace.erasures)
                await unit.embeddings.add(Level.MESSAGE, parts)
                await unit.commit()
            vectors |= {message: vectors_of[0] for message, vectors_of in parts.items()}
        return np.array([vectors[id_] for id_ in ids], dtype=np.float32)

    async def _close(self, attempt: Attempt, messages: Sequence[Message], run: Run) -> None:
        """Write one episode with its messages and the job that will admit it."""
        episode = await asyncio.to_thread(_episode, messages, run, degraded=self.mode.retold)
        text = shown(episode)
        [vectors] = await embed_parts(self.embedders.of(attempt.embedding_profile), [text])
        now = self.clock()
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            await unit.episodes.add(episode, now)
            moved = await unit.messages.assign(episode.id, [message.id for message in messages])
            if moved != len(messages):
                raise Discarded("some of the messages left the buffer meanwhile")
            await unit.words.add(Level.EPISODE, {episode.id: terms(text)})
            await unit.embeddings.add(Level.EPISODE, {episode.id: vectors})
            await unit.jobs.enqueue(Step.ADMIT, str(episode.id), {}, now, first_sequence=episode.first_sequence)
            if self.mode.narrates:
                await unit.jobs.enqueue(Step.NARRATE, str(episode.id), {}, now)
            await unit.commit()


@dataclass(frozen=True, slots=True)
class _End:
    """How the buffer is closed by request, if it is."""

    close_through: int | None
    idle: bool


def _result(episodes: int, buffered: int, borders: Borders | None) -> Mapping[str, Any]:
    result = {"episodes": episodes, "buffered": buffered}
    return {**result, "boundary_fallbacks": borders.fallbacks} if borders and borders.fallbacks else result


def _episode(messages: Sequence[Message], run: Run, *, degraded: bool) -> Episode:
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
        degraded=degraded,
        made_by=EXTRACTIVE,
        admitted=False,
    )
