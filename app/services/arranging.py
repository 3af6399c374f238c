"""Arranging: a plan of themes gets its names and is written down, with where each theme comes from and why."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.ids import NamespaceId, StatementId, ThemeId
from app.domain.levels import Level
from app.domain.lineage import Change, continued
from app.domain.naming import Naming, name, plain_label
from app.domain.records import Theme
from app.domain.theme_plan import PlannedTheme, Step, ThemePlan
from app.storage.repository import new_id
from app.storage.unit_of_work import ReadUnit, Storage, WriteUnit

COMMON = 100  # statements that hold a word, from which on it is as common as can be: counting on would tell no more


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A plan, a name for each theme that it leaves behind, by the theme's key, and the stored themes before it."""

    plan: ThemePlan
    names: Mapping[int, Naming]
    before: Mapping[ThemeId, Theme]


@dataclass(frozen=True, slots=True)
class _Words:
    """What labels are made from: texts, how many statements hold each term, and who speaks here."""

    texts: Mapping[StatementId, str]
    spread: Mapping[str, int]
    speakers: Sequence[str]


async def named(
    storage: Storage, namespace: NamespaceId, made: ThemePlan, before: Mapping[ThemeId, Theme], *, with_model: bool
) -> Arrangement:
    """Name the themes of a plan in their statements' own words; `with_model`: a model may find better names later."""
    async with storage.read(namespace) as unit:
        words = await _words(unit, {one for planned in made.themes for one in planned.members})
    names = await asyncio.to_thread(_names, made, before, words, with_model=with_model)
    return Arrangement(made, names, before)


async def write(unit: WriteUnit, arrangement: Arrangement, now: datetime) -> set[ThemeId]:
    """Write a plan: new and changed themes with their members, then what ended. Returns the themes written."""
    made = arrangement.plan
    ids = {planned.key: planned.id or ThemeId(new_id()) for planned in made.themes}
    changes = _changes(made.steps, ids)
    for planned in made.themes:
        theme, naming = ids[planned.key], arrangement.names[planned.key]
        stored = arrangement.before.get(theme)
        known = None if stored is None else stored.lineage
        lineage = continued(known, planned, changes.get(planned.key, ()), now)
        if planned.id is None:
            await unit.themes.add(_new_theme(theme, planned, naming, lineage, now), planned.vector_sum)
        else:
            await unit.themes.change(
                theme, size=planned.size, vector_sum=planned.vector_sum, now=now, named=naming, lineage=lineage
            )
        await unit.statements.place(theme, planned.members)
    into = {removed.id: ids[removed.into] for removed in made.removed if removed.into is not None}
    await unit.themes.remove([removed.id for removed in made.removed], into)
    return set(ids.values())


async def _words(unit: ReadUnit, members: set[StatementId]) -> _Words:
    return _Words(
        await unit.statements.texts(members),
        await unit.words.spread(Level.STATEMENT, members, COMMON),
        await unit.messages.speakers(),
    )


def _names(
    made: ThemePlan, before: Mapping[ThemeId, Theme], words: _Words, *, with_model: bool
) -> Mapping[int, Naming]:
    return {
        planned.key: name(
            plain_label([words.texts[member] for member in planned.members], words.spread, words.speakers),
            planned.members,
            None if planned.id is None else before[planned.id],
            joined=bool(planned.merged_from),
            with_model=with_model,
        )
        for planned in made.themes
    }


def _changes(steps: Sequence[Step], ids: Mapping[int, ThemeId]) -> Mapping[int, Sequence[Change]]:
    """What each theme is told of the steps: those that changed it, with the other themes concerned."""
    found: dict[int, list[Change]] = {}
    for step in steps:
        for key in step.keys:
            beside = (ids[other] for other in step.keys if other != key and other in ids)
            found.setdefault(key, []).append(Change(step, (*step.ended, *beside)))
    return found


def _new_theme(
    id_: ThemeId, planned: PlannedTheme, naming: Naming, lineage: Mapping[str, object], now: datetime
) -> Theme:
    return Theme(
        id=id_,
        label=naming.label,
        summary=naming.summary,
        size=planned.size,
        version=1,
        lineage=lineage,
        degraded=naming.degraded,
        made_by=naming.made_by,
        created_at=now,
        updated_at=now,
        made_from=naming.made_from,
    )
