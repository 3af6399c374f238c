"""Regions that hold too many themes are divided, so that finding neighbours stays as cheap as it is."""

import asyncio
from collections.abc import Collection

from app.domain.ids import ThemeId
from app.domain.jobs import Attempt
from app.domain.regions import divided, sums
from app.storage.unit_of_work import Storage

AT_ONCE = 40_000  # themes divided together, 60 MB of centroids: only an upgrade or a re-embedding leaves so many


async def divide_crowded(storage: Storage, attempt: Attempt, touched: Collection[ThemeId]) -> None:
    """Divide the regions of these themes that hold too many. Raises Discarded if the step was overtaken."""
    async with storage.read(attempt.namespace) as unit:
        crowded = await unit.regions.crowded(touched)
        found = [(region, *await unit.regions.inside(region, AT_ONCE)) for region in crowded]
    for region, themes, centroids in found:
        parts = await asyncio.to_thread(divided, centroids)
        made = [([themes[at] for at in part], total) for part, total in zip(parts, sums(centroids, parts), strict=True)]
        async with storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            await unit.regions.divide(region, made)
            await unit.commit(revises_memory=False)
