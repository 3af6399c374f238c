"""Admission: an episode → statements, exactly once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.episodes import Episode
from app.domain.ids import EpisodeId
from app.domain.jobs import Attempt, Step
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Origin
from app.domain.screening import Screened
from app.domain.statements import AdmissionPlan
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.drawing import Drawing, Drawn
from app.services.embedding import embed_parts
from app.services.narration import retell, retold
from app.services.remembering import Source, Vectors, likeness, weigh, write
from app.services.removing import AGAIN
from app.storage.unit_of_work import Clock, Storage, WriteUnit

NOTHING = "nothing to remember"


@dataclass(frozen=True, slots=True)
class Admission:
    """Admits what was drawn from episodes. Running twice gives the same rows as running once."""

    storage: Storage
    embedders: Embedders[Embedder]
    drawing: Drawing
    clock: Clock

    async def admit(self, attempt: Attempt, id_: EpisodeId) -> Mapping[str, Any]:
        """Admit one episode's statements and queue their maintenance. Raises what a model raises."""
        async with self.storage.read(attempt.namespace) as unit:
            episode = await unit.episodes.get(id_)
            messages = await unit.messages.of_episode(id_)
        drawn = await self.drawing.draw(attempt.namespace, episode, messages)
        vectors = await self._embed(attempt, episode, drawn)
        async with self.storage.read(attempt.namespace) as unit:
            alike = await likeness(unit, drawn.screened.supported, vectors)
        now = self.clock()
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            first = await unit.episodes.mark_admitted(id_, now)
            if not first and AGAIN not in attempt.job.payload:
                return {"reason": "already admitted"}
            if drawn.told is not None:
                await retell(unit, episode, drawn.told, drawn.made_by, vectors[retold(episode, drawn.told)])
            screened = drawn.screened if first else await _not_withheld(unit, id_, drawn.screened)
            plan = await weigh(unit, screened, alike, vectors, drawn.shown)
            await write(unit, plan, _source(drawn), vectors, now)
            if plan.new:
                await unit.jobs.enqueue(
                    Step.MAINTAIN, str(attempt.namespace), {}, now, first_sequence=episode.first_sequence
                )
            await unit.commit()
        return _summary(plan, drawn)

    async def _embed(self, attempt: Attempt, episode: Episode, drawn: Drawn) -> Vectors:
        """The vectors of all texts that may be stored."""
        texts = [candidate.text for candidate in drawn.screened.supported]
        if drawn.told is not None:
            texts.append(retold(episode, drawn.told))
        made = await embed_parts(self.embedders.of(attempt.embedding_profile), texts)
        return dict(zip(texts, made, strict=True))


async def _not_withheld(unit: WriteUnit, episode: EpisodeId, screened: Screened) -> Screened:
    """What is drawn from an episode once more, without what a user deleted: in whatever words it comes back."""
    withheld = await unit.erasures.withheld(episode)
    return Screened(tuple(one for one in screened.supported if withheld.isdisjoint(one.messages)), screened.refused)


def _source(drawn: Drawn) -> Source:
    return Source(Origin.EXTRACTIVE if drawn.made_by == EXTRACTIVE else Origin.MODEL, drawn.made_by)


def _summary(plan: AdmissionPlan, drawn: Drawn) -> Mapping[str, Any]:
    refused = Counter(refusal.reason.value for refusal in plan.refused) + (drawn.refused or Counter())
    counted: dict[str, Any] = {
        "new": len(plan.new),
        "reinforced": len(plan.reinforced),
        "refused": dict(refused),
    }
    if plan.ended:
        counted["superseded"] = len(plan.ended)
    return counted if plan.new or plan.reinforced else {**counted, "reason": NOTHING}
