"""Regions: themes with near centroids, kept together, so that neighbours are found without looking at all themes.

An index of our own, the same on both databases and inside one namespace: it never changes which statements a theme
holds, only which themes maintenance compares. Who wants the truly nearest asks `themes.nearest`.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

import numpy as np
from sqlalchemy import delete, func, insert, select, update

from app.domain.ids import ThemeId
from app.domain.regions import CROWDED
from app.domain.vectors import Matrix, Vector, unit
from app.storage.repository import IN_LIMIT, Repository, new_id
from app.storage.tables import NOWHERE, regions, themes
from app.storage.vectors import similarity

PROBED = 16  # regions in which neighbours are looked for: below about a thousand themes that is all of them


class RegionRepository(Repository):
    """Regions of one namespace. Themes that belong to none are looked at from everywhere."""

    async def near(self, vectors: Sequence[Vector], limit: int) -> Sequence[Sequence[ThemeId]]:
        """For each unit vector the themes with the nearest centroids, nearest first, as far as regions tell."""
        around = await self._around(vectors)
        found = []
        for vector, inside in zip(vectors, around, strict=True):
            closeness = similarity(themes.c.centroid, vector)
            query = select(themes.c.id).where(self._own(themes), themes.c.region_id.in_(inside))
            rows = await self._connection.execute(query.order_by(closeness.desc(), themes.c.id).limit(limit))
            found.append([ThemeId(row.id) for row in rows])
        return found

    async def crowded(self, touched: Collection[ThemeId]) -> Sequence[UUID]:
        """Of the regions of these themes those that hold too many; `NOWHERE` where too many belong to none."""
        own: set[UUID] = {NOWHERE}
        for start in range(0, len(ids := sorted(touched)), IN_LIMIT):
            some = themes.c.id.in_(ids[start : start + IN_LIMIT])
            query = select(themes.c.region_id).where(self._own(themes), some).distinct()
            own |= set((await self._connection.execute(query)).scalars())
        query = select(themes.c.region_id).where(self._own(themes), themes.c.region_id.in_(own))
        query = query.group_by(themes.c.region_id).having(func.count() > CROWDED)
        return list((await self._connection.execute(query.order_by(themes.c.region_id))).scalars())

    async def inside(self, region: UUID, limit: int) -> tuple[Sequence[ThemeId], Matrix]:
        """At most `limit` themes of a region and their centroids, shape (n, dimension)."""
        query = select(themes.c.id, themes.c.centroid).where(self._own(themes), themes.c.region_id == region)
        rows = (await self._connection.execute(query.order_by(themes.c.id).limit(limit))).all()
        return [ThemeId(row.id) for row in rows], np.array([row.centroid for row in rows], dtype=np.float32)

    async def divide(self, region: UUID, parts: Sequence[tuple[Sequence[ThemeId], Vector]]) -> None:
        """Put themes of a region into new ones, each with the sum of its centroids; it ends when it has none left."""
        for inside, total in parts:
            made = new_id()
            await self._connection.execute(insert(regions).values(self._row(id=made, centre=unit(total))))
            for start in range(0, len(inside), IN_LIMIT):
                some = themes.c.id.in_(inside[start : start + IN_LIMIT])
                moved = update(themes).where(self._own(themes), some, themes.c.region_id == region)
                await self._connection.execute(moved.values(region_id=made))
        left = select(themes.c.id).where(self._own(themes), themes.c.region_id == region).exists()
        await self._connection.execute(delete(regions).where(self._own(regions), regions.c.id == region, ~left))

    async def of(self, ids: Collection[ThemeId]) -> set[UUID]:
        """The regions that these themes are in."""
        query = select(themes.c.region_id).where(self._own(themes), themes.c.id.in_(ids)).distinct()
        return set((await self._connection.execute(query)).scalars()) - {NOWHERE}

    async def recentre(self, some: Collection[UUID]) -> None:
        """Put the centres of regions where their themes are now; one without any ends."""
        for region in sorted(some):
            query = select(themes.c.centroid).where(self._own(themes), themes.c.region_id == region)
            inside = list((await self._connection.execute(query)).scalars())
            if inside:
                centred = update(regions).where(self._own(regions), regions.c.id == region)
                await self._connection.execute(centred.values(centre=unit(np.sum(inside, axis=0, dtype=np.float32))))
            else:
                await self._connection.execute(delete(regions).where(self._own(regions), regions.c.id == region))

    async def _around(self, vectors: Sequence[Vector]) -> Sequence[Sequence[UUID]]:
        """For each vector the regions near it."""
        closeness = [similarity(regions.c.centre, vector).label(f"to_{at}") for at, vector in enumerate(vectors)]
        query = select(regions.c.id, *closeness).where(self._own(regions)).order_by(regions.c.id)
        rows = (await self._connection.execute(query)).all() if vectors else []
        if not rows:
            return [[NOWHERE]] * len(vectors)
        similar = np.array([row[1:] for row in rows], dtype=np.float64)
        best = np.argsort(-similar, axis=0, kind="stable")[:PROBED]
        return [[NOWHERE, *(rows[at].id for at in column)] for column in best.T]
