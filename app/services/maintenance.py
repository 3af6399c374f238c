"""Maintenance: statements without a theme → themes, changed only where something changed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.ids import StatementId, ThemeId
from app.domain.jobs import Attempt, Step
from app.domain.keyphrases import label
from app.domain.levels import Level
from app.domain.namespaces import model_of
from app.domain.naming import Naming, name
from app.domain.records import Theme
from app.domain.themes import Action, Member, PlannedTheme, ThemePlan, ThemePolicy, ThemeState, plan, policy_for
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, ReadUnit, Storage, WriteUnit

LABELLED_TOGETHER = 24  # themes that wait for a name: two calls of a model; meanwhile they may grow further
PLACED_AT_ONCE = 64  # statements in one plan, of one admission; more than an episode has, unless a message is long


@dataclass(frozen=True, slots=True)
class _Situation:
    """What a plan is made from: statements that wait, the themes near any of them, and all their texts."""

    new: Sequence[Member]
    near: Sequence[ThemeState]
    texts: Mapping[StatementId, str]
    speakers: Sequence[str]
    themes: Mapping[ThemeId, Theme]


@dataclass(frozen=True, slots=True)
class _Decision:
    """A plan, and a name for each theme that it leaves behind, by the theme's key."""

    plan: ThemePlan
    names: Mapping[int, Naming]


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Keeps every current statement in exactly one theme. Structure never waits for a model."""

    storage: Storage
    clock: Clock
    policies: Callable[[str], ThemePolicy] = policy_for
    """By embedding model."""
    labels: bool = False
    """Whether a language model is going to name themes, of which enough wait, or all once nothing else does."""

    async def maintain(self, attempt: Attempt) -> Mapping[str, Any]:
        """Place all statements that wait, a batch at a time."""
        policy = self.policies(model_of(attempt.embedding_profile))
        done = {"placed": 0, "themes_changed": 0, "themes_removed": 0}
        while True:
            async with self.storage.read(attempt.namespace) as unit:
                situation = await _situation(unit, policy.neighbours)
            if not situation.new:
                if self.labels:
                    await self._queue_labels(attempt)
                return done
            decision = await asyncio.to_thread(_decide, situation, policy, with_model=self.labels)
            async with self.storage.write(attempt.namespace) as unit:
                await unit.jobs.check(attempt, unit.namespace.erasures)
                if not await _holds(unit, situation):
                    continue  # a client edited statements meanwhile: plan again, from what is there now
                await _apply(unit, decision, self.clock())
                await unit.commit()
            done["placed"] += len(situation.new)
            done["themes_changed"] += len(decision.plan.themes)
            done["themes_removed"] += len(decision.plan.removed)

    async def _queue_labels(self, attempt: Attempt) -> None:
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            _, waiting = await unit.themes.counts()
            if waiting >= LABELLED_TOGETHER or (waiting and await _is_last(unit)):
                await unit.jobs.enqueue(Step.LABEL, str(attempt.namespace), {}, self.clock())
            await unit.commit(revises_memory=False)


async def _is_last(unit: ReadUnit) -> bool:
    """Whether the job that asks is the only one, and no conversation is open."""
    return (await unit.jobs.counts()).pending <= 1 and not await unit.messages.buffers()


async def _situation(unit: ReadUnit, neighbours: int) -> _Situation:
    waiting = await unit.statements.without_theme(PLACED_AT_ONCE)
    vectors = await unit.embeddings.vectors(Level.STATEMENT, waiting)
    new = [Member(statement, vectors[statement]) for statement in waiting]
    ids: set[ThemeId] = set()
    for member in new:
        ids.update(theme for theme, _ in await unit.themes.nearest(member.vector, neighbours))
    near, texts = await _states(unit, sorted(ids))
    texts |= {key: statement.text for key, statement in (await unit.statements.many(waiting)).items()}
    return _Situation(new, near, texts, await unit.messages.speakers(), await unit.themes.many(ids))


async def _holds(unit: ReadUnit, situation: _Situation) -> bool:
    """Whether all that a plan was made from is still so: edits come from requests, beside the order of the jobs."""
    waiting = await unit.statements.many(member.id for member in situation.new)
    still = [one for one in waiting.values() if one.theme is None and one.superseded_by is None]
    themes = await unit.themes.many(situation.themes)
    versions = {id_: theme.version for id_, theme in situation.themes.items()}
    return len(still) == len(situation.new) and versions == {id_: theme.version for id_, theme in themes.items()}


async def _states(unit: ReadUnit, ids: Sequence[ThemeId]) -> tuple[Sequence[ThemeState], dict[StatementId, str]]:
    sums = await unit.themes.sums(ids)
    members = await unit.statements.of_themes(ids)
    texts = {statement: text for group in members.values() for statement, text in group}
    vectors = await unit.embeddings.vectors(Level.STATEMENT, texts)
    states = [
        ThemeState(theme, *sums[theme], tuple(Member(id_, vectors[id_]) for id_, _ in members[theme])) for theme in ids
    ]
    return states, texts


def _decide(situation: _Situation, policy: ThemePolicy, *, with_model: bool) -> _Decision:
    decided = plan(situation.new, situation.near, policy)
    cut = {key for step in decided.steps if step.action is Action.SPLIT for key in step.keys}
    names = {
        planned.key: name(
            label([situation.texts[member] for member in planned.members], speakers=situation.speakers),
            planned.size,
            None if planned.id is None else situation.themes[planned.id],
            reshaped=planned.key in cut or bool(planned.merged_from),
            with_model=with_model,
        )
        for planned in decided.themes
    }
    return _Decision(decided, names)


async def _apply(unit: WriteUnit, decision: _Decision, now: datetime) -> None:
    """Write a plan: new and changed themes with their members, then what ended."""
    steps = {key: (step.action.value, step.gain) for step in decision.plan.steps for key in step.keys}
    for planned in decision.plan.themes:
        named, lineage = decision.names[planned.key], _lineage(planned, steps)
        theme = planned.id
        if theme is None:
            made = _new_theme(planned, named, lineage, now)
            theme = made.id
            await unit.themes.add(made, planned.vector_sum)
        else:
            await unit.themes.change(
                theme, size=planned.size, vector_sum=planned.vector_sum, now=now, named=named, lineage=lineage
            )
        await unit.statements.place(theme, planned.members)
    await unit.themes.remove([removed.id for removed in decision.plan.removed])


def _lineage(planned: PlannedTheme, steps: Mapping[int, tuple[str, float]]) -> dict[str, Any]:
    action, gain = steps.get(planned.key, ("attach", 0.0))
    return {
        "last_change": action,
        "gain": round(gain, 6),
        "split_from": None if planned.split_from is None else str(planned.split_from),
        "merged_from": [str(theme) for theme in planned.merged_from],
    }


def _new_theme(planned: PlannedTheme, named: Naming, lineage: dict[str, Any], now: datetime) -> Theme:
    return Theme(
        id=ThemeId(new_id()),
        label=named.label,
        summary=named.summary,
        size=planned.size,
        version=1,
        lineage=lineage,
        degraded=named.degraded,
        made_by=named.made_by,
        created_at=now,
        updated_at=now,
    )
