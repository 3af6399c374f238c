"""Maintenance: statements without a theme → themes, changed only where something changed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.ids import ThemeId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.levels import Level
from app.domain.namespaces import model_of
from app.domain.records import Theme
from app.domain.theme_policy import ThemePolicy, policy_for
from app.domain.themes import Member, ThemePlan, ThemeState, plan
from app.domain.vectors import unit as unit_vector
from app.services.arranging import Arrangement, named, write
from app.services.regions import divide_crowded
from app.services.turns import TURN_SECONDS, Turn
from app.storage.unit_of_work import Clock, ReadUnit, Storage

LABELLED_TOGETHER = 24  # themes that wait for a name: two calls of a model; meanwhile they may grow further
PLACED_AT_ONCE = 64  # statements in one plan, of one admission; more than an episode has, unless a message is long
LOOKED_AT_ONCE = 16  # themes in one plan that statements have left


@dataclass(frozen=True, slots=True)
class _Situation:
    """What a plan is made from: statements that wait, themes that statements left, and what is near any of them."""

    new: Sequence[Member]
    left: Sequence[ThemeId]
    near: Sequence[ThemeState]
    themes: Mapping[ThemeId, Theme]


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Keeps every current statement in exactly one theme. Structure never waits for a model."""

    storage: Storage
    clock: Clock
    policies: Callable[[str], ThemePolicy] = policy_for
    """By embedding model."""
    labels: bool = False
    """Whether a language model is going to name themes, of which enough wait, or all once nothing else does."""
    turn_seconds: float = TURN_SECONDS

    async def maintain(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Place for a while the statements that wait, and look at the themes that statements left; batch by batch."""
        general = self.policies(model_of(attempt.embedding_profile))
        turn, done = Turn.begin(self.turn_seconds), _begun(attempt)
        while True:
            async with self.storage.read(attempt.namespace) as unit:
                policy = general.at(await unit.words.documents(Level.STATEMENT))
                situation = await _situation(unit, policy.neighbours)
            if not situation.new and not situation.left:
                if self.labels:
                    await self._queue_labels(attempt)
                return done
            made = await asyncio.to_thread(plan, situation.new, situation.near, policy, (), situation.left)
            arrangement = await named(self.storage, attempt.namespace, made, situation.themes, with_model=self.labels)
            written = await self._write(attempt, situation, arrangement)
            if written is not None:
                await divide_crowded(self.storage, attempt, written)
                done = _counted(done, situation, made)
            if turn.is_over:
                return Unfinished(done)

    async def _write(self, attempt: Attempt, situation: _Situation, arrangement: Arrangement) -> set[ThemeId] | None:
        """The themes written; None if a client edited statements meanwhile: plan again, from what is there now."""
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            if not await _holds(unit, situation):
                return None
            written = await write(unit, arrangement, self.clock())
            await unit.commit()
        return written

    async def _queue_labels(self, attempt: Attempt) -> None:
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            waiting = await unit.themes.waiting(LABELLED_TOGETHER)
            if waiting >= LABELLED_TOGETHER or (waiting and await _is_last(unit)):
                await unit.jobs.enqueue(Step.LABEL, str(attempt.namespace), {}, self.clock())
            await unit.commit(revises_memory=False)


def _begun(attempt: Attempt) -> dict[str, int]:
    """What the attempts before this one did that stopped before the job was done."""
    before = attempt.job.result or {}
    return {name: before.get(name, 0) for name in ("placed", "themes_changed", "themes_removed")}


def _counted(done: Mapping[str, int], situation: _Situation, made: ThemePlan) -> dict[str, int]:
    return {
        "placed": done["placed"] + len(situation.new),
        "themes_changed": done["themes_changed"] + len(made.themes),
        "themes_removed": done["themes_removed"] + len(made.removed),
    }


async def _is_last(unit: ReadUnit) -> bool:
    """Whether the job that asks is the only one, and no conversation is open."""
    return await unit.jobs.pending() <= 1 and not await unit.messages.buffers()


async def _situation(unit: ReadUnit, neighbours: int) -> _Situation:
    waiting = await unit.statements.without_theme(PLACED_AT_ONCE)
    vectors = await unit.embeddings.vectors(Level.STATEMENT, waiting)
    new = [Member(statement, vectors[statement]) for statement in waiting]
    left = await unit.themes.dirty(LOOKED_AT_ONCE)
    centroids = [unit_vector(total) for _, total in (await unit.themes.sums(left)).values()]
    near = await unit.regions.near([*(member.vector for member in new), *centroids], neighbours)
    ids = sorted({*left, *(theme for group in near for theme in group)})
    return _Situation(new, left, await _states(unit, ids), await unit.themes.many(ids))


async def _holds(unit: ReadUnit, situation: _Situation) -> bool:
    """Whether all that a plan was made from is still so: edits come from requests, beside the order of the jobs."""
    waiting = await unit.statements.many(member.id for member in situation.new)
    still = [one for one in waiting.values() if one.theme is None and one.superseded_by is None]
    themes = await unit.themes.many(situation.themes)
    versions = {id_: theme.version for id_, theme in situation.themes.items()}
    return len(still) == len(situation.new) and versions == {id_: theme.version for id_, theme in themes.items()}


async def _states(unit: ReadUnit, ids: Sequence[ThemeId]) -> Sequence[ThemeState]:
    sums = await unit.themes.sums(ids)
    members = await unit.statements.of_themes(ids)
    vectors = await unit.embeddings.vectors(
        Level.STATEMENT, (statement for group in members.values() for statement, _ in group)
    )
    return [
        ThemeState(theme, *sums[theme], tuple(Member(id_, vectors[id_]) for id_, _ in members[theme])) for theme in ids
    ]
