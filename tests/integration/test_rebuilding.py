"""Making all themes anew."""

from app.container import Container, utc_now
from app.domain.ids import StatementId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.levels import Level
from app.services.rebuilding import Rebuilding
from app.settings import Settings
from app.storage.unit_of_work import Storage
from tests.integration.meddling import meddled
from tests.integration.placing import about, begin, maintain, remember, remove, themes
from tests.integration.reembed import findings
from tests.integration.support import claim, enqueue, namespace_id, succeed


async def order(built: Container) -> Attempt:
    id_ = await namespace_id(built, "ada")
    await enqueue(built, id_, str(id_), kind=Step.REBUILD)
    while (attempt := await claim(built, id_)) is not None:
        if attempt.job.kind is Step.REBUILD:
            return attempt
        await succeed(built, attempt, {})
    raise AssertionError("the job is lost")


def service(storage: Storage) -> Rebuilding:
    return Rebuilding(storage, utc_now)


async def fill(built: Container) -> list[StatementId]:
    """Statements of four topics."""
    await begin(built)
    ids: list[StatementId] = []
    for number in range(4):
        told = {f"Ada likes topic{topic} and number{number}.": about(topic, number) for topic in range(4)}
        ids += await remember(built, told)
        await maintain(built)
    return ids


async def test_themes_that_are_as_good_stay_as_they_are(built: Container, settings: Settings) -> None:
    await fill(built)
    before = await themes(built)
    attempt = await order(built)
    done = await service(built.storage).rebuild(attempt)
    assert done == {
        "statements": 16,
        "themes_before": len(before),
        "themes": len(before),
        "moved": 0,
        "opened": 0,
        "ended": 0,
        "objective_before": done["objective"],
        "objective": done["objective"],
    }
    assert await themes(built) == before
    assert await findings(settings) == []


async def test_odd_themes_are_made_anew_and_keep_their_ids(built: Container, settings: Settings) -> None:
    await fill(built)
    good = await themes(built)
    first, second = sorted(good, key=min)[:2]
    strange = sorted(second)[0]
    async with built.storage.write("ada") as unit:
        for theme, members in ((good[first], {*first, strange}), (good[second], second - {strange})):
            vectors = await unit.embeddings.vectors(Level.STATEMENT, members)
            total = sum(vectors.values())
            await unit.themes.change(theme.id, size=len(members), vector_sum=total, now=utc_now())
            await unit.statements.place(theme.id, sorted(members))
        await unit.commit()
    done = await service(built.storage).rebuild(await order(built))
    assert (done["moved"], done["opened"], done["ended"]) == (1, 0, 0)
    assert done["objective"] > done["objective_before"]
    after = await themes(built)
    assert {members: theme.id for members, theme in after.items()} == {
        members: theme.id for members, theme in good.items()
    }
    assert after[first].lineage["history"][-1]["action"] == "rebuild"
    assert await findings(settings) == []


async def test_an_edit_meanwhile_makes_it_run_again(built: Container, settings: Settings) -> None:
    ids = await fill(built)
    attempt = await order(built)

    async def edit() -> None:
        await remove(built, ids[0])

    done = await service(meddled(built.storage, edit)).rebuild(attempt)
    assert done == Unfinished({})
    await succeed(built, attempt, done)
    assert (await service(built.storage).rebuild(await order(built)))["statements"] == 15
    assert await findings(settings) == []


async def test_a_namespace_without_statements_has_nothing_to_rebuild(built: Container) -> None:
    await begin(built)
    assert (await service(built.storage).rebuild(await order(built)))["themes"] == 0
