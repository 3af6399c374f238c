"""What maintenance reads takes few rows however large the namespace is, and gives what a full look would give."""

from app.container import Container
from app.domain.levels import Level
from app.domain.messages import Draft, Role
from tests.integration.placing import about, begin, maintain, remember
from tests.integration.support import NOON, drain


async def test_speakers_are_told_once_each_and_in_order(built: Container) -> None:
    names = ["Zoé", "Ada", "Ben", "Ada", None, "李明", "ada", "Ben"]
    drafts = [Draft(Role.USER, "Hello.", speaker=name, occurred_at=NOON) for name in names]
    await built.services.ingest.append("ada", "chat", drafts)
    await built.services.ingest.append("other", "chat", [Draft(Role.USER, "Hello.", speaker="Eve", occurred_at=NOON)])
    async with built.storage.read("ada") as unit:
        assert await unit.messages.speakers() == sorted({name for name in names if name})
    await built.services.ingest.append("nameless", "chat", [Draft(Role.USER, "Hello.", occurred_at=NOON)])
    async with built.storage.read("nameless") as unit:
        assert await unit.messages.speakers() == []


async def test_words_are_counted_among_the_statements_of_the_namespace_up_to_a_bound(built: Container) -> None:
    await begin(built)
    ids = await remember(built, {f"Ada grows roses number{n}.": about(0, n) for n in range(5)})
    await remember(built, {"Ben grows figs.": about(1, 0)})
    await begin(built, "other")
    await remember(built, {"Cleo grows roses.": about(0, 0)}, "other")
    async with built.storage.read("ada") as unit:
        spread = await unit.words.spread(Level.STATEMENT, ids[:2], 100)
        assert (spread["grow"], spread["rose"], spread["number0"]) == (6, 5, 1)
        assert "fig" not in spread
        assert "number4" not in spread
        assert (await unit.words.spread(Level.STATEMENT, ids[:2], 3))["grow"] == 3
        assert await unit.words.spread(Level.STATEMENT, [], 3) == {}
        assert await unit.words.documents(Level.STATEMENT) == 6


async def test_pending_jobs_are_counted(built: Container) -> None:
    await begin(built)
    async with built.storage.read("ada") as unit:
        assert await unit.jobs.pending() == 0
    await remember(built, {"Ada grows roses.": about(0, 0)})
    async with built.storage.read("ada") as unit:
        assert await unit.jobs.pending() == 1
    await maintain(built)
    await drain(built, "ada")
    async with built.storage.read("ada") as unit:
        assert await unit.jobs.pending() == 0


async def test_themes_that_wait_for_a_name_are_counted_up_to_a_bound(built: Container) -> None:
    await begin(built)
    for topic in range(3):
        await remember(built, {f"Ada likes topic{topic} and number{n}.": about(topic, n) for n in range(3)})
    await maintain(built, labels=True)
    async with built.storage.read("ada") as unit:
        assert await unit.themes.waiting(10) == 3
        assert await unit.themes.waiting(2) == 2
