"""Repair: what the doctor found and what can be rebuilt from messages and statements, rebuilt."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import numpy as np

from app.domain.findings import REPAIRABLE, Fault, Finding
from app.domain.ids import ConversationId, EpisodeId, MessageId, NamespaceId, ThemeId
from app.domain.invariants import Tally, message_terms
from app.domain.jobs import Step
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.text import terms
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts, embedded_texts
from app.services.upkeep import Upkeep
from app.storage.unit_of_work import Clock, ReadUnit, Storage, WriteUnit

EMBEDDED_AT_ONCE = 128  # texts between two transactions

Ids = Mapping[tuple[Fault, str], Sequence[UUID]]
"""What is affected, by fault and level."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Mends. Every value is computed anew under the namespace's lock, so it may run beside workers."""

    storage: Storage
    clock: Clock
    upkeep: Upkeep
    stale_seconds: float
    embedders: Callable[[], Embedders[Embedder]]
    """Asked only where vectors of closed episodes or of statements must be made again."""

    async def mend(self, namespace: NamespaceId, findings: Sequence[Finding]) -> None:
        """Rebuild what these findings of one namespace say is off."""
        ids = {(finding.fault, finding.where): finding.ids for finding in findings if finding.fault in REPAIRABLE}
        if not ids:
            return
        async with self.storage.write(namespace) as unit:
            # A step that has read what we are about to change must not write: it is discarded, and runs again.
            await unit.directory.raise_erasures(namespace)
            await self._rows(unit, ids)
            await unit.commit()
        await self._vectors(namespace, ids)
        async with self.storage.write(namespace) as unit:
            await unit.directory.raise_erasures(namespace)
            await _themes(unit, _of(ids, Fault.THEME_EMPTY, Fault.THEME_SIZE, Fault.THEME_VECTORS))
            await unit.commit()
        await self.upkeep.run()

    async def _rows(self, unit: WriteUnit, ids: Ids) -> None:
        faults = {fault for fault, _ in ids}
        if Fault.SEQUENCE_COUNTER in faults:
            newest = await unit.repairs.newest_sequence()
            await unit.directory.set_sequence(unit.namespace.id, max(newest, unit.namespace.sequence))
        for episode in _of(ids, Fault.EPISODE_NUMBERS):
            await _count_episode(unit, EpisodeId(episode))
        await unit.repairs.count_support(_of(ids, Fault.STATEMENT_SUPPORT))
        for level in (Level.MESSAGE, Level.EPISODE, Level.STATEMENT):
            items = ids.get((Fault.POSTINGS_WRONG, level.value), ())
            await unit.repairs.clear_postings(level, items)
            await unit.words.add(level, dict(await _terms(unit, level, items)))
        if Fault.VECTORS_UNREAD in faults and await unit.jobs.find_open(Step.REEMBED) is None:
            await unit.directory.give_up_reembedding(unit.namespace)
            await unit.jobs.enqueue(Step.REEMBED, str(unit.namespace.id), {}, self.clock())  # it removes them
        if faults & {Fault.VECTORS_STRAY, Fault.POSTINGS_STRAY}:
            await unit.repairs.clear_strays()
        await unit.repairs.count_words()  # after the postings
        if Fault.JOB_SILENT in faults:
            await unit.repairs.release_silent(self.clock() - timedelta(seconds=self.stale_seconds))
            unit.jobs.queued = True

    async def _vectors(self, namespace: NamespaceId, ids: Ids) -> None:
        for level in (Level.MESSAGE, Level.EPISODE, Level.STATEMENT):
            items = [
                id_ for fault in (Fault.VECTORS_MISSING, Fault.VECTORS_WRONG) for id_ in ids.get((fault, level), ())
            ]
            for start in range(0, len(items), EMBEDDED_AT_ONCE):
                await self._embed(namespace, level, items[start : start + EMBEDDED_AT_ONCE])

    async def _embed(self, namespace: NamespaceId, level: Level, items: Sequence[UUID]) -> None:
        """Make vectors anew; those of messages in the buffer are left to segmentation, which needs them too."""
        async with self.storage.read(namespace) as unit:
            buffered = await _buffered(unit, items) if level is Level.MESSAGE else {}
            waiting = {id_ for ids in buffered.values() for id_ in ids}
            texts = await embedded_texts(unit, level, [id_ for id_ in items if id_ not in waiting])
            profile = unit.namespace.embedding_profile
        made: Mapping[UUID, Sequence[Embedding]] = {}
        if texts and (embedder := self.embedders().find(profile)) is not None:
            made = dict(zip(texts, await embed_parts(embedder, list(texts.values())), strict=True))
        async with self.storage.write(namespace) as unit:
            if unit.namespace.embedding_profile != profile:
                return  # all vectors were exchanged meanwhile
            await unit.directory.raise_erasures(namespace)
            await unit.embeddings.remove(level, waiting)
            await unit.embeddings.replace(level, made)
            now = self.clock()
            for conversation, ids in buffered.items():
                first = min(message.sequence for message in (await unit.messages.many(ids)).values())
                await unit.jobs.enqueue(
                    Step.SEGMENT, str(conversation), {"close_through": None}, now, first_sequence=first
                )
            await unit.commit()


async def _count_episode(unit: WriteUnit, episode: EpisodeId) -> None:
    tally = Tally()
    for message in await unit.messages.of_episode(episode):
        tally.add(message)
    if tally.count:
        await unit.repairs.set_episode(
            episode,
            message_count=tally.count,
            tokens=tally.tokens,
            first_sequence=tally.first,
            last_sequence=tally.last,
            started_at=tally.started,
            ended_at=tally.ended,
        )


async def _themes(unit: WriteUnit, ids: Sequence[UUID]) -> None:
    """Make sums and sizes those of the members; a theme without any ends."""
    themes = [ThemeId(id_) for id_ in ids]
    members = await unit.statements.of_themes(themes)
    for theme in themes:
        inside = [statement for statement, _ in members.get(theme, ())]
        if not inside:
            await unit.repairs.release_superseded(theme)
            await unit.themes.remove([theme])
            continue
        vectors = await unit.embeddings.vectors(Level.STATEMENT, inside)
        if len(vectors) == len(inside):
            total = np.stack(list(vectors.values())).sum(axis=0, dtype=np.float64)
            await unit.repairs.set_theme(theme, len(inside), np.asarray(total, dtype=np.float32))


async def _terms(unit: ReadUnit, level: Level, items: Sequence[UUID]) -> list[tuple[UUID, Sequence[str]]]:
    if level is Level.MESSAGE:
        messages = await unit.messages.many([MessageId(id_) for id_ in items])
        return [(id_, message_terms(message)) for id_, message in messages.items()]
    return [(id_, terms(text)) for id_, text in (await embedded_texts(unit, level, items)).items()]


async def _buffered(unit: ReadUnit, items: Sequence[UUID]) -> Mapping[ConversationId, Sequence[MessageId]]:
    """Those of these messages that are still in the buffer, by conversation."""
    found: dict[ConversationId, list[MessageId]] = defaultdict(list)
    for message in (await unit.messages.many(MessageId(id_) for id_ in items)).values():
        if message.episode is None:
            found[message.conversation].append(message.id)
    return found


def _of(ids: Ids, *faults: Fault) -> list[UUID]:
    """All that have one of these faults, each once."""
    return list(dict.fromkeys(id_ for (fault, _), some in ids.items() if fault in faults for id_ in some))
