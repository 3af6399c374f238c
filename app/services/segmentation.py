"""Segmentation: a conversation's buffer → vectors of its messages → episodes."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from app.domain.chat import Stage
from app.domain.episodes import Episode
from app.domain.errors import Discarded
from app.domain.ids import ConversationId, EpisodeId
from app.domain.invariants import shown
from app.domain.jobs import Attempt, Step, Unfinished
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
from app.services.embedding import embed_parts, first_slice
from app.services.turns import TURN_SECONDS, Turn
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
    turn_seconds: float = TURN_SECONDS

    async def segment(
        self, attempt: Attempt, conversation: ConversationId, close_through: int | None
    ) -> Mapping[str, Any] | Unfinished:
        """Cut for a while what can be cut; `close_through` is the sequence up to which a flush leaves nothing open."""
        turn, far = Turn.begin(self.turn_seconds), _Far.of(attempt, self.mode.borders)
        while buffer := await self._read(attempt, conversation):
            vectors = await self._embed(attempt, buffer, turn)
            if vectors is None:
                return Unfinished(far.result(), buffer[0].sequence)
            whole = len(buffer) < READ_AT_ONCE
            end = _End(
                # Only the buffer's true end can be flushed, or have rested.
                close_through=close_through if whole else None,
                idle=whole and self._has_rested(buffer[-1]),
            )
            runs = await self._cut(buffer, vectors, end, far.borders)
            for run in runs:
                await self._close(attempt, buffer[run.start : run.stop], run)
            far.episodes += len(runs)
            if whole or not runs:
                return far.result(buffered=len(buffer) - (runs[-1].stop if runs else 0))
            rest = buffer[runs[-1].stop - 1].sequence + 1
            if far.borders and far.borders.asked >= self.mode.asked_in_a_job:
                await self._go_on_later(attempt, conversation, rest)
                return far.result(buffered=len(buffer) - runs[-1].stop)
            if turn.is_over:
                return Unfinished(far.result(), rest)
        return far.result(buffered=0)

    async def _go_on_later(self, attempt: Attempt, conversation: ConversationId, rest: int) -> None:
        """Leave what is left from the sequence `rest` on to a job with a budget of tokens of its own."""
        payload = attempt.job.payload
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

    async def _embed(self, attempt: Attempt, buffer: Sequence[Message], turn: Turn) -> Matrix | None:
        """Vectors of the buffer's messages, (n, dimension); those not stored yet are made and stored.

        None if the turn was over before all were made.
        """
        texts = {message.id: render(message) for message in buffer}
        async with self.storage.read(attempt.namespace) as unit:
            vectors = dict(await unit.embeddings.vectors(Level.MESSAGE, texts))
        while new := first_slice([message for message in texts if message not in vectors], texts):
            made = await embed_parts(self.embedders.of(attempt.embedding_profile), list(new.values()))
            parts = dict(zip(new, made, strict=True))
            async with self.storage.write(attempt.namespace) as unit:
                await unit.jobs.check(attempt, unit.namespace.erasures)
                await unit.embeddings.add(Level.MESSAGE, parts)
                await unit.commit()
            vectors |= {message: embeddings[0].vector for message, embeddings in parts.items()}
            if len(vectors) < len(texts) and turn.is_over:
                return None
        return np.array([vectors[id_] for id_ in texts], dtype=np.float32)

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


@dataclass(slots=True)
class _Far:
    """What a job has done so far, in all its attempts."""

    episodes: int
    borders: Borders | None

    @classmethod
    def of(cls, attempt: Attempt, chat: ChatModel | None) -> "_Far":
        done, calls = attempt.job.result or {}, (attempt.job.usage or {}).get(Stage.BOUNDARY, {}).get("calls", 0)
        fallbacks = done.get("boundary_fallbacks", 0)
        borders = None if chat is None else Borders(chat, asked=calls, fallbacks=fallbacks)
        return cls(done.get("episodes", 0), borders)

    def result(self, **more: int) -> Mapping[str, Any]:
        fallbacks = self.borders.fallbacks if self.borders else 0
        return {"episodes": self.episodes, **more, **({"boundary_fallbacks": fallbacks} if fallbacks else {})}


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
