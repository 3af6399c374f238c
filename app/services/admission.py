"""Admission: an episode → statements, exactly once."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from app.domain.dates import When
from app.domain.extraction import extract
from app.domain.ids import EpisodeId, StatementId
from app.domain.jobs import Attempt, Step
from app.domain.levels import Level
from app.domain.messages import Message
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Statement
from app.domain.statements import AdmissionPlan, Candidate, Known, Screened, decide, screen
from app.domain.text import normalise, terms
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, Storage, WriteUnit

NOTHING = "nothing to remember"


@dataclass(frozen=True, slots=True)
class Admission:
    """Draws statements from episodes. Running twice gives the same rows as running once."""

    storage: Storage
    embedder: Embedder
    clock: Clock

    async def admit(self, attempt: Attempt, episode: EpisodeId) -> Mapping[str, Any]:
        """Admit one episode's statements and queue their maintenance."""
        async with self.storage.read(attempt.namespace) as unit:
            found = await unit.episodes.get(episode)
            messages = await unit.messages.of_episode(episode)
        screened = await asyncio.to_thread(_draw, messages)
        candidates = screened.supported
        vectors = await embed_parts(self.embedder, [candidate.text for candidate in candidates])
        by_text = dict(zip((candidate.text for candidate in candidates), vectors, strict=True))
        now = self.clock()
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            if not await unit.episodes.mark_admitted(episode, now):
                return {"reason": "already admitted"}
            same = await unit.statements.with_normal([normalise(candidate.text) for candidate in candidates])
            known = [Known(statement.id, statement.text, statement.occurred_at) for statement in same]
            plan = decide(screened, known)
            await self._apply(unit, plan, by_text, now)
            if plan.new:
                await unit.jobs.enqueue(
                    Step.MAINTAIN, str(attempt.namespace), {}, now, first_sequence=found.first_sequence
                )
            await unit.commit()
        return _summary(plan)

    async def _apply(
        self, unit: WriteUnit, plan: AdmissionPlan, vectors: Mapping[str, Sequence[Any]], now: datetime
    ) -> None:
        new = [_statement(candidate, now) for candidate in plan.new]
        await unit.statements.add(new, [normalise(statement.text) for statement in new])
        await unit.words.add(Level.STATEMENT, {statement.id: terms(statement.text) for statement in new})
        await unit.embeddings.add(Level.STATEMENT, {statement.id: vectors[statement.text] for statement in new})
        for statement, candidate in plan.reinforced:
            await unit.statements.reinforce(statement, candidate.messages)


def _draw(messages: Sequence[Message]) -> Screened:
    return screen(extract(messages), {message.id: message for message in messages})


def _statement(candidate: Candidate, now: datetime) -> Statement:
    return Statement(
        id=StatementId(new_id()),
        text=candidate.text,
        kind=candidate.kind.value,
        origin="extractive",
        support=len(candidate.messages),
        theme=None,
        occurred_at=candidate.occurred_at,
        valid_from=_begins(candidate.when),
        valid_to=None,
        superseded_by=None,
        made_by=EXTRACTIVE,
        recorded_at=now,
        messages=candidate.messages,
    )


def _begins(when: When | None) -> datetime | None:
    return None if when is None else datetime.combine(when.start, time.min, UTC)


def _summary(plan: AdmissionPlan) -> Mapping[str, Any]:
    counted: dict[str, Any] = {
        "new": len(plan.new),
        "reinforced": len(plan.reinforced),
        "refused": dict(Counter(refusal.reason for refusal in plan.refused)),
    }
    return counted if plan.new or plan.reinforced else {**counted, "reason": NOTHING}
