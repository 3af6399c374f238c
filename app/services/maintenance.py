"""Maintenance: statements without a theme → themes, changed only where something changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.ids import StatementId, ThemeId
from app.domain.jobs import Attempt
from app.domain.keyphrases import label
from app.domain.levels import Level
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Theme
from app.domain.themes import Member, PlannedTheme, ThemePlan, ThemePolicy, ThemeState, plan
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, ReadUnit, Storage, WriteUnit

PLACED_AT_ONCE = 64  # statements in one plan: a few episodes' worth, so that a plan stays small


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Keeps every current statement in exactly one theme. Structure never waits for a model."""

    storage: Storage
    clock: Clock
    policy: ThemePolicy

    async def maintain(self, attempt: Attempt) -> Mapping[str, Any]:
        """Place all statements that wait, a batch at a time."""
        placed, changed, removed = 0, 0, 0
        while True:
            async with self.storage.read(attempt.namespace) as unit:
                waiting = await unit.statements.without_theme(PLACED_AT_ONCE)
                new, near = await self._situation(unit, waiting)
            if not waiting:
                return {"placed": placed, "themes_changed": changed, "themes_removed": removed}
            decided = plan(new, near, self.policy)
            async with self.storage.write(attempt.namespace) as unit:
                await unit.jobs.check(attempt, unit.namespace.erasures)
                await _apply(unit, decided, self.clock())
                await unit.commit()
            placed += len(new)
            changed += len(decided.themes)
            removed += len(decided.removed)

    async def _situation(
        self, unit: ReadUnit, waiting: Sequence[StatementId]
    ) -> tuple[Sequence[Member], Sequence[ThemeState]]:
        """The waiting statements, and all themes near any of them with all their members."""
        vectors = await unit.embeddings.vectors(Level.STATEMENT, waiting)
        new = [Member(statement, vectors[statement]) for statement in waiting]
        near: set[ThemeId] = set()
        for member in new:
            found = await unit.themes.nearest(member.vector, self.policy.neighbours)
            near.update(theme for theme, _ in found)
        return new, await _states(unit, sorted(near))


async def _states(unit: ReadUnit, ids: Sequence[ThemeId]) -> Sequence[ThemeState]:
    sums = await unit.themes.sums(ids)
    members = await unit.statements.of_themes(ids)
    vectors = await unit.embeddings.vectors(
        Level.STATEMENT, (statement for group in members.values() for statement, _ in group)
    )
    return [
        ThemeState(theme, *sums[theme], tuple(Member(id_, vectors[id_]) for id_, _ in members[theme])) for theme in ids
    ]


async def _apply(unit: WriteUnit, decided: ThemePlan, now: datetime) -> None:
    """Write a plan: new and changed themes first, then their members, then what ended."""
    texts = await unit.statements.many(member for theme in decided.themes for member in theme.members)
    speakers = await unit.messages.speakers()
    gains = {key: (step.action.value, step.gain) for step in decided.steps for key in step.keys}
    for planned in decided.themes:
        named = label([texts[member].text for member in planned.members], speakers=speakers)
        lineage = _lineage(planned, gains)
        if planned.id is None:
            theme = _new_theme(planned, named, lineage, now)
            await unit.themes.add(theme, planned.vector_sum)
            await unit.statements.place(theme.id, planned.members)
        else:
            await unit.themes.change(
                planned.id, label=named, size=planned.size, vector_sum=planned.vector_sum, lineage=lineage, now=now
            )  # fmt: skip
            await unit.statements.place(planned.id, planned.members)
    await unit.themes.remove([removed.id for removed in decided.removed])


def _lineage(planned: PlannedTheme, gains: Mapping[int, tuple[str, float]]) -> dict[str, Any]:
    action, gain = gains.get(planned.key, ("attach", 0.0))
    return {
        "last_change": action,
        "gain": round(gain, 6),
        "split_from": None if planned.split_from is None else str(planned.split_from),
        "merged_from": [str(theme) for theme in planned.merged_from],
    }


def _new_theme(planned: PlannedTheme, named: str, lineage: dict[str, Any], now: datetime) -> Theme:
    return Theme(
        id=ThemeId(new_id()),
        label=named,
        summary=None,
        size=planned.size,
        version=1,
        lineage=lineage,
        degraded=False,
        made_by=EXTRACTIVE,
        created_at=now,
        updated_at=now,
    )
