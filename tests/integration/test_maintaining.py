"""Maintenance: themes that statements leave, long backlogs, labels, what becomes of themes that end."""

from app.container import Container, utc_now
from app.domain.jobs import Unfinished
from app.domain.segmentation import SegmentPolicy
from app.services.upkeep import Upkeep
from app.settings import Settings
from tests.integration.placing import about, begin, claimed, maintain, remember, remove, themes
from tests.integration.reembed import findings
from tests.integration.support import succeed


async def test_a_theme_that_loses_statements_is_looked_at_again(built: Container, settings: Settings) -> None:
    await begin(built)
    texts = [*(f"Ada keeps bees number{n}." for n in range(3)), *(f"Ada met a zebra number{n}." for n in range(4))]
    ids = await remember(built, {text: about(0, n) for n, text in enumerate(texts)})
    await maintain(built)
    [before] = (await themes(built)).values()
    assert "zebra" in before.label
    await remove(built, *ids[3:])
    [shrunk] = (await themes(built)).values()
    assert shrunk.dirty
    assert (shrunk.size, shrunk.id) == (3, before.id)
    assert await maintain(built) == {"placed": 0, "themes_changed": 1, "themes_removed": 0}
    [after] = (await themes(built)).values()
    assert not after.dirty
    assert "zebra" not in after.label, "nothing is left of what was removed"
    assert after.made_from == tuple(sorted(ids[:3]))
    assert after.lineage["history"][-1]["action"] == "shrink"
    assert await findings(settings) == []


async def test_what_is_left_of_a_theme_may_join_another(built: Container, settings: Settings) -> None:
    """Both were full, so that they could not be one; the client removes most of them."""
    await begin(built)
    ids = await remember(built, {f"Ada has seen film{n}.": about(0, n, noise=0.2) for n in range(24)})
    await maintain(built)
    first = await themes(built)
    assert len(first) > 1
    kept = [sorted(members)[0] for members in first]
    await remove(built, *(one for one in ids if one not in kept))
    await maintain(built)
    after = await themes(built)
    assert set(after) == {frozenset(kept)}
    [theme] = after.values()
    assert theme.lineage["history"][-1]["action"] in ("merge", "attach", "move")
    ended = {theme.id for theme in first.values()} - {theme.id}
    async with built.storage.read("ada") as unit:
        assert {await unit.themes.successor(one) for one in ended} == {theme.id}
        assert await unit.themes.successor(theme.id) is None
    assert await findings(settings) == []


async def test_a_lost_look_is_made_up_for(built: Container) -> None:
    await begin(built)
    ids = await remember(built, {f"Ada keeps bees number{n}.": about(0, n) for n in range(4)})
    await maintain(built)
    async with built.storage.write("ada") as unit:
        [theme] = await unit.themes.page(None, 2)
        sums = await unit.themes.sums([theme.id])
        await unit.themes.change(theme.id, size=4, vector_sum=sums[theme.id][1], now=utc_now())
        await unit.commit()
    upkeep = Upkeep(built.storage, utc_now, SegmentPolicy())
    assert await upkeep.run() == 1
    await maintain(built)
    assert [theme.dirty for theme in (await themes(built)).values()] == [False]
    assert set(await themes(built)) == {frozenset(ids)}
    assert await upkeep.run() == 0


async def test_a_long_backlog_lets_others_pass(built: Container, settings: Settings) -> None:
    await begin(built)
    for topic in range(3):
        await remember(built, {f"Ada likes topic{topic} and number{n}.": about(topic, n) for n in range(3)})
    far = []
    while isinstance(done := await maintain(built, turn_seconds=0.0), Unfinished):
        far.append(done.result["placed"])
    assert far == [3, 6, 9]
    assert done["placed"] == 9
    assert sorted(theme.size for theme in (await themes(built)).values()) == [3, 3, 3]
    assert await findings(settings) == []


async def test_every_change_is_told_with_its_reason(built: Container) -> None:
    await begin(built)
    await remember(built, {"Ada keeps bees.": about(0, 0), "Ada keeps honey.": about(0, 1)})
    await maintain(built)
    await remember(built, {"Ada keeps wax.": about(0, 2)})
    await maintain(built)
    [theme] = (await themes(built)).values()
    *_, last = theme.lineage["history"]
    assert (last["action"], last["size"]) == ("attach", 3)
    assert last["similarity"] > 0.8 > last["threshold"]
    assert last["gain"] > 0


async def test_labels_tell_what_other_themes_do_not(built: Container) -> None:
    """`garden` stands in every statement of the namespace, so it is not what tells a theme from the others."""
    await begin(built)
    for number, topic in enumerate(("tulip", "hedge", "fountain", "beetle")):
        told = {f"The garden has a {topic} near wall{n}.": about(number, n) for n in range(6)}
        *_, last = await remember(built, told)
        await maintain(built)
    [named] = [theme.label for members, theme in (await themes(built)).items() if last in members]
    assert named.startswith("beetle")


async def test_an_edit_between_two_batches_is_seen(built: Container, settings: Settings) -> None:
    await begin(built)
    first = await remember(built, {f"Ada likes topic0 and number{n}.": about(0, n) for n in range(3)})
    await remember(built, {f"Ada likes topic1 and number{n}.": about(1, n) for n in range(3)})
    attempt = await claimed(built)
    await succeed(built, attempt, Unfinished({"placed": 0}))
    assert isinstance(await maintain(built, turn_seconds=0.0), Unfinished)
    await remove(built, first[0])
    await maintain(built)
    assert sorted(theme.size for theme in (await themes(built)).values()) == [2, 3]
    assert await findings(settings) == []
