"""The job that makes all themes anew: ordered once, one switch, and nothing is out of sight meanwhile."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from app.container import Container, utc_now
from app.domain.errors import Discarded, NotFound
from app.domain.ids import StatementId, ThemeId
from app.domain.jobs import Attempt, JobState, Step, Unfinished
from app.jobs import handlers
from app.services.rebuilding import Rebuilding
from app.services.remembering import supersede
from app.settings import Settings
from app.storage.unit_of_work import Storage
from tests.conftest import Api
from tests.integration.meddling import meddled
from tests.integration.reembed import findings
from tests.integration.support import (
    assert_problem,
    assert_whole,
    claim,
    drain,
    namespace_id,
    remembered,
    route,
    succeed,
)
from tests.integration.theming import FACTS, fill, gather

CAP = 12


async def _attempt(built: Container) -> Attempt:
    """The job, just claimed."""
    await built.services.themes.order_rebuild("ada")
    attempt = await claim(built, await namespace_id(built, "ada"))
    assert attempt is not None
    assert attempt.job.kind is Step.REBUILD
    return attempt


async def _rebuild(
    built: Container, attempt: Attempt, storage: Storage | None = None
) -> Mapping[str, Any] | Unfinished:
    return await handlers.rebuild(Rebuilding(storage or built.storage, utc_now)).run(attempt)


async def _homes(built: Container) -> Mapping[StatementId, ThemeId | None]:
    async with built.storage.read("ada") as unit:
        return {one.id: one.theme for one in await unit.hierarchy.statements()}


# Over HTTP -------------------------------------------------------------------------------------------------


async def test_a_rebuild_is_a_job_that_tells_what_it_changed(shared: Api, ada: str) -> None:
    for start in range(0, len(FACTS), 6):
        await shared.say(ada, *FACTS[start : start + 6], conversation=f"chat-{start}")
        await shared.settle(ada)
    before = await assert_whole(shared, ada)
    ordered = await shared.post(route(ada, "themes/rebuild"))
    assert ordered.status_code == 202
    assert ordered.json()["kind"] == "rebuild"
    await shared.settle(ada)
    after = await assert_whole(shared, ada)
    job = (await shared.get(route(ada, f"jobs/{ordered.json()['id']}"))).json()
    assert job["state"] == "succeeded"
    result = job["result"]
    assert (result["themes_before"], result["themes"]) == (len(before["themes"]), len(after["themes"]))
    assert result["statements"] == len(after["statements"]) == len(before["statements"])
    assert {"objective_before", "objective"} <= result.keys()
    homes = {one["id"]: one["theme"] for one in before["statements"]}
    assert result["moved"] == sum(homes[one["id"]] != one["theme"] for one in after["statements"])


async def test_only_a_namespace_that_is_there_can_be_rebuilt(shared: Api, ada: str) -> None:
    assert_problem(await shared.post(route(ada, "themes/rebuild")), 404)
    await shared.say(ada, "Hello!")
    assert (await shared.post(route(ada, "themes/rebuild"))).status_code == 202
    await shared.settle(ada)
    assert [job["state"] for job in await shared.all(route(ada, "jobs")) if job["kind"] == "rebuild"] == ["succeeded"]


# Step by step ----------------------------------------------------------------------------------------------


async def test_an_order_while_one_waits_or_runs_is_the_same_order(built: Container) -> None:
    await fill(built)
    first = await built.services.themes.order_rebuild("ada")
    attempt = await _attempt(built)
    running = await built.services.themes.order_rebuild("ada")
    assert (running.id, running.state) == (first.id, JobState.RUNNING)
    await succeed(built, attempt, await _rebuild(built, attempt))
    assert (await built.services.themes.order_rebuild("ada")).id != first.id
    with pytest.raises(NotFound):
        await built.services.themes.order_rebuild("nobody")


async def test_a_theme_that_holds_too_much_comes_apart_and_its_largest_part_keeps_the_id(
    built: Container, settings: Settings
) -> None:
    await fill(built)
    odd, _ = await gather(built)
    attempt = await _attempt(built)
    await succeed(built, attempt, await _rebuild(built, attempt))
    await drain(built, "ada")
    homes = await _homes(built)
    sizes = Counter(homes.values())
    assert len(homes) == len(FACTS)
    assert max(sizes.values()) <= CAP
    assert odd in sizes
    assert await findings(settings) == []
    view = await built.services.themes.get("ada", odd)
    assert "rebuild" in [change["action"] for change in view.theme.lineage["history"]]


async def test_a_second_rebuild_moves_nothing(built: Container) -> None:
    await fill(built)
    await gather(built)
    for _ in range(2):
        attempt = await _attempt(built)
        homes = await _homes(built)
        result = await _rebuild(built, attempt)
        await succeed(built, attempt, result)
        await drain(built, "ada")
    assert not isinstance(result, Unfinished)
    assert (result["moved"], result["opened"], result["ended"]) == (0, 0, 0)
    assert await _homes(built) == homes


async def test_the_old_themes_stand_until_the_switch_and_an_edit_comes_first(
    built: Container, settings: Settings
) -> None:
    await fill(built)
    odd, _ = await gather(built)
    attempt = await _attempt(built)
    removed, *_, kept = await _homes(built)

    async def edit() -> None:
        assert set((await _homes(built)).values()) == {odd}
        assert (await built.services.themes.get("ada", odd)).theme.size == len(FACTS)
        async with built.storage.write("ada") as unit:
            await supersede(unit, removed, kept, utc_now(), utc_now())
            await unit.commit()

    lost = await _rebuild(built, attempt, meddled(built.storage, edit))
    assert isinstance(lost, Unfinished)
    assert set((await _homes(built)).values()) == {odd}, "what was planned is thrown away"
    await succeed(built, attempt, lost)
    await drain(built, "ada")
    homes = await _homes(built)
    assert removed not in homes
    assert max(Counter(homes.values()).values()) <= CAP
    assert await findings(settings) == []


async def _cancel(built: Container, attempt: Attempt) -> None:
    await built.services.work.cancel("ada", attempt.job.id)


async def _erase(built: Container, attempt: Attempt) -> None:
    async with built.storage.write("ada") as unit:
        await unit.directory.raise_erasures(attempt.namespace)
        await unit.commit()


@pytest.mark.parametrize("overtake", [_cancel, _erase])
async def test_an_overtaken_rebuild_writes_nothing(
    built: Container, overtake: Callable[[Container, Attempt], Awaitable[None]]
) -> None:
    await fill(built)
    await gather(built)
    attempt = await _attempt(built)
    before = await remembered(built)
    with pytest.raises(Discarded):
        await _rebuild(built, attempt, meddled(built.storage, lambda: overtake(built, attempt)))
    assert await remembered(built) == before
