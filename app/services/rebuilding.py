"""Rebuilding: all themes of a namespace made anew from its statements, as if those had come at once.

The reference that maintenance is compared with, and a way out for a namespace whose themes have become odd. A theme
keeps the id of the one that it shares most statements with.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.domain.ids import StatementId, ThemeId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.levels import Level
from app.domain.lineage import DECIMALS
from app.domain.namespaces import model_of
from app.domain.objective import ThemeStat, evaluate
from app.domain.theme_policy import ThemePolicy, policy_for
from app.domain.themes import Member, ThemePlan, rebuild
from app.services.arranging import Arrangement, named, write
from app.services.regions import divide_crowded
from app.storage.unit_of_work import Clock, ReadUnit, Storage

Homes = Mapping[StatementId, ThemeId | None]


@dataclass(frozen=True, slots=True)
class Rebuilding:
    """Makes the themes of a namespace anew."""

    storage: Storage
    clock: Clock
    policies: Callable[[str], ThemePolicy] = policy_for
    """By embedding model."""
    labels: bool = False
    """Whether a language model is going to name themes."""

    async def rebuild(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Make all themes anew. Unfinished if statements came or went meanwhile: tried again, after their jobs."""
        general = self.policies(model_of(attempt.embedding_profile))
        async with self.storage.read(attempt.namespace) as unit:
            policy = general.at(await unit.words.documents(Level.STATEMENT))
            homes = await unit.statements.homes()
            members = await _members(unit, homes)
            themes = await unit.themes.many(_groups(homes))
            stats = [ThemeStat(*found) for found in (await unit.themes.sums(themes)).values()]
        made = await asyncio.to_thread(rebuild, members, _groups(homes), policy)
        arrangement = await named(self.storage, attempt.namespace, made, themes, with_model=self.labels)
        written = await self._write(attempt, homes, arrangement)
        if written is None:
            return Unfinished({})
        await divide_crowded(self.storage, attempt, written)
        before = await asyncio.to_thread(evaluate, stats, policy.form, policy.balance)
        return _result(homes, made, len(stats), before)

    async def _write(self, attempt: Attempt, homes: Homes, arrangement: Arrangement) -> set[ThemeId] | None:
        """The themes written; None if other statements are current now, or in other themes."""
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            if await unit.statements.homes() != homes:
                return None
            now = self.clock()
            written = await write(unit, arrangement, now)
            await unit.jobs.enqueue(Step.MAINTAIN, str(attempt.namespace), {}, now)  # asks for what follows a change
            await unit.commit()
        return written


async def _members(unit: ReadUnit, homes: Homes) -> list[Member]:
    vectors = await unit.embeddings.vectors(Level.STATEMENT, homes)
    return [Member(statement, vectors[statement]) for statement in homes]


def _groups(homes: Homes) -> Mapping[ThemeId, list[StatementId]]:
    groups: dict[ThemeId, list[StatementId]] = {}
    for statement, theme in homes.items():
        if theme is not None:
            groups.setdefault(theme, []).append(statement)
    return groups


def _result(homes: Homes, made: ThemePlan, themes: int, objective: float) -> Mapping[str, Any]:
    """What it came to. `themes` and `objective` are those before it; `moved` are statements that had another theme."""
    moved = sum(homes[one] not in (None, planned.id) for planned in made.themes for one in planned.members)
    opened = sum(planned.id is None for planned in made.themes)
    gained = made.steps[0].gain if made.steps else 0.0  # every step of a rebuilding tells that of the whole
    return {
        "statements": len(homes),
        "themes_before": themes,
        "themes": themes + opened - len(made.removed),
        "moved": moved,
        "opened": opened,
        "ended": len(made.removed),
        "objective_before": round(objective, DECIMALS),
        "objective": round(objective + gained, DECIMALS),
    }
