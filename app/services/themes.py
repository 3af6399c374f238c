"""Themes as they are shown: what is in them, what is near them; and the order to arrange them anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.errors import NotFound
from app.domain.ids import ThemeId
from app.domain.jobs import Job, Step
from app.domain.neighbours import neighbours
from app.domain.records import Theme
from app.storage.hierarchy import Inside
from app.storage.unit_of_work import Clock, ReadUnit, Storage

SHOWN = 3  # statements of each theme in a list: what it is about, at a glance
NEIGHBOURS = 5  # themes shown beside one

Near = Sequence[tuple[ThemeId, float]]
"""Themes with the cosine of their centroid, nearest first."""


@dataclass(frozen=True, slots=True)
class ThemeView:
    """A theme with what is in it, closest to its centroid first, and what is near it: (id, label, cosine)."""

    theme: Theme
    statements: Sequence[Inside]
    span: tuple[datetime, datetime] | None
    neighbours: Sequence[tuple[ThemeId, str, float]]


@dataclass(frozen=True, slots=True)
class Themes:
    """Reads of a namespace's themes. All raise NotFound for what is not there."""

    storage: Storage
    clock: Clock

    async def page(self, namespace: str, after: UUID | None, limit: int) -> Sequence[ThemeView]:
        """Themes, oldest first, each with a few statements. Takes the same number of queries however many they are."""
        async with self.storage.read(namespace) as unit:
            found = await unit.themes.page(after, limit)
            near = await _near_each(unit, [theme.id for theme in found]) if found else {}
            return await _views(unit, found, near, SHOWN)

    async def get(self, namespace: str, theme: ThemeId) -> ThemeView:
        """One theme with all its statements."""
        async with self.storage.read(namespace) as unit:
            found = await _present(unit, theme)
            near = await unit.themes.nearest(await unit.themes.centroid(theme), NEIGHBOURS, without=theme)
            return (await _views(unit, [found], {theme: near}, None))[0]

    async def order_rebuild(self, namespace: str) -> Job:
        """Queue the job that arranges a namespace's themes anew; one that waits or runs is answered with itself."""
        async with self.storage.write(namespace) as unit:
            found = await unit.jobs.find_open(Step.REBUILD)
            if found is None:
                id_ = await unit.jobs.enqueue(Step.REBUILD, str(unit.namespace.id), {}, self.clock())
                found = await unit.jobs.get(id_)
                await unit.commit(revises_memory=False)
        return found


async def _present(unit: ReadUnit, theme: ThemeId) -> Theme:
    try:
        return await unit.themes.get(theme)
    except NotFound:
        heir = await unit.themes.successor(theme)
        if heir is None:
            raise
        raise NotFound(f"the theme ended; its statements went to theme {heir}") from None


async def _near_each(unit: ReadUnit, ids: Sequence[ThemeId]) -> Mapping[ThemeId, Near]:
    every = await unit.hierarchy.centroids()
    place = {theme: row for row, theme in enumerate(every.ids)}
    found = neighbours(every.matrix, [place[theme] for theme in ids], NEIGHBOURS)
    return {theme: [(every.ids[row], cosine) for row, cosine in near] for theme, near in zip(ids, found, strict=True)}


async def _views(
    unit: ReadUnit, found: Sequence[Theme], near: Mapping[ThemeId, Near], shown: int | None
) -> Sequence[ThemeView]:
    inside = await unit.hierarchy.inside([theme.id for theme in found])
    others = await unit.themes.many(other for each in near.values() for other, _ in each)
    return [
        ThemeView(
            theme,
            inside.get(theme.id, [])[:shown],
            _span(inside.get(theme.id, [])),
            [(other, others[other].label, cosine) for other, cosine in near[theme.id]],
        )
        for theme in found
    ]


def _span(inside: Sequence[Inside]) -> tuple[datetime, datetime] | None:
    times = [statement.occurred_at for statement in inside]
    return (min(times), max(times)) if times else None
