"""Neighbours of themes: found in few regions instead of among all themes, and the same ones nearly always."""

from collections.abc import Sequence

import numpy as np
import pytest

from app.container import Container, utc_now
from app.domain.ids import ThemeId
from app.domain.jobs import Attempt
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Theme
from app.domain.regions import CROWDED
from app.domain.vectors import Matrix, unit
from app.services.regions import divide_crowded
from app.storage import regions
from app.storage.repository import new_id
from tests.integration.placing import DIMENSION, about, begin, claimed, remember

MANY = 300


def centroids(count: int, seed: int = 0) -> Matrix:
    """Twenty subjects, and themes around each."""
    random = np.random.default_rng(seed)
    noise = random.standard_normal((count, DIMENSION)).astype(np.float32)
    return unit(np.eye(DIMENSION, dtype=np.float32)[np.arange(count) % 20] + 0.6 * unit(noise))


async def add(built: Container, rows: Matrix) -> Sequence[ThemeId]:
    """Themes of one statement each, as far as the table knows."""
    ids = [ThemeId(new_id()) for _ in rows]
    async with built.storage.write("ada") as unit_of_work:
        for id_, row in zip(ids, rows, strict=True):
            theme = Theme(id_, "label", None, 1, 1, {}, False, EXTRACTIVE, utc_now(), utc_now())
            await unit_of_work.themes.add(theme, row)
        await unit_of_work.commit()
    return ids


async def start(built: Container) -> Attempt:
    await begin(built)
    await remember(built, {"Ada keeps bees.": about(0, 0)})
    return await claimed(built)


async def crowded(built: Container, touched: Sequence[ThemeId] = ()) -> int:
    async with built.storage.read("ada") as unit_of_work:
        return len(await unit_of_work.regions.crowded(touched))


async def found(built: Container, asked: Matrix) -> float:
    """Which share of the ten nearest themes is found in the regions near."""
    async with built.storage.read("ada") as unit_of_work:
        near = await unit_of_work.regions.near(list(asked), 10)
        exact = [[theme for theme, _ in await unit_of_work.themes.nearest(row, 10)] for row in asked]
    return float(np.mean([len(set(one) & set(other)) / 10 for one, other in zip(near, exact, strict=True)]))


async def test_few_themes_need_no_region_and_all_neighbours_are_found(built: Container) -> None:
    attempt = await start(built)
    assert await found(built, centroids(3, seed=1)) == 0, "there is nothing yet"
    await add(built, centroids(CROWDED))
    assert await crowded(built) == 0
    await divide_crowded(built.storage, attempt, ())
    assert await found(built, centroids(10, seed=1)) == 1


async def test_many_themes_are_divided_and_nearly_all_neighbours_are_found(
    built: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = await start(built)
    rows = centroids(MANY)
    ids = await add(built, rows)
    assert await crowded(built) == 1
    await divide_crowded(built.storage, attempt, ())
    assert await crowded(built, ids) == 0
    assert await found(built, centroids(10, seed=1)) == 1, "all regions are near"
    monkeypatch.setattr(regions, "PROBED", 2)
    assert await found(built, centroids(20, seed=1)) > 0.8
    async with built.storage.read("ada") as unit_of_work:
        near = await unit_of_work.regions.near(list(rows), 1)
    assert np.mean([one == id_ for [one], id_ in zip(near, ids, strict=True)]) > 0.9, "a theme is found where it is"


async def test_a_region_that_gets_crowded_is_divided(built: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = await start(built)
    await divide_crowded(built.storage, attempt, await add(built, centroids(MANY)))
    same = unit(np.eye(DIMENSION, dtype=np.float32)[[3] * CROWDED] + 0.1 * centroids(CROWDED, seed=2))
    ids = await add(built, same)
    assert await crowded(built, ids) == 1
    await divide_crowded(built.storage, attempt, ids)
    assert await crowded(built, ids) == 0
    monkeypatch.setattr(regions, "PROBED", 3)
    assert await found(built, same[:10]) > 0.7


async def test_other_vectors_make_other_regions(built: Container) -> None:
    attempt = await start(built)
    ids = await add(built, centroids(MANY))
    await divide_crowded(built.storage, attempt, ids)
    async with built.storage.write("ada") as unit_of_work:
        wider = np.zeros((MANY, 96), dtype=np.float32)
        wider[:, :DIMENSION] = centroids(MANY)[::-1]
        await unit_of_work.themes.set_sums(dict(zip(ids, wider, strict=True)))
        await unit_of_work.commit()
    async with built.storage.read("ada") as unit_of_work:
        assert (await unit_of_work.regions.near(list(wider[:5]), 1)) == [[one] for one in ids[:5]]
    await divide_crowded(built.storage, attempt, ())
    assert await crowded(built) == 0
