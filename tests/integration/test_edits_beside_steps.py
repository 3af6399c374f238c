"""A client edits a statement just after a step of the background work has read it: nothing is left askew."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.container import Container, utc_now
from app.domain.ids import StatementId
from app.domain.jobs import Step, Unfinished
from app.jobs import handlers
from app.services.maintenance import Maintenance
from app.services.reembedding import LEVELS
from app.services.remembering import supersede
from app.settings import Settings
from tests.conftest import Api
from tests.integration.meddling import meddled
from tests.integration.reembed import findings, finish, service, step
from tests.integration.support import assert_whole, drain, post, succeed, waiting

FIRST, SECOND = (f"Ada: I adopted a grey kitten named {name} at the shelter." for name in ("Miso", "Momo"))


async def _statements(built: Container) -> Mapping[str, StatementId]:
    found = await built.services.memory.statements("ada", None, 100, superseded=False)
    return {one.statement.text: one.statement.id for one in found}


@pytest.mark.parametrize("edited", [FIRST, SECOND])
async def test_a_correction_while_maintenance_thinks(built: Container, settings: Settings, edited: str) -> None:
    """One statement is in a theme already, the other waits and will join it; either is corrected meanwhile."""
    await post(built, "ada", FIRST.removeprefix("Ada: "))
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    attempt = await waiting(built, [SECOND.removeprefix("Ada: ")], Step.MAINTAIN)
    id_ = (await _statements(built))[edited]
    storage = meddled(built.storage, lambda: built.services.editing.correct("ada", id_, f"{edited[:-1]} or so."))
    done = await handlers.maintain(Maintenance(storage, utc_now)).run(attempt)
    await succeed(built, attempt, done)
    await drain(built, "ada")
    assert await findings(settings) == []
    found = await built.services.memory.statements("ada", None, 100, superseded=True)
    assert {one.statement.superseded_by is None for one in found if one.statement.theme is not None} == {True}
    assert len([one for one in found if one.statement.theme is None]) == 1


async def test_a_theme_that_loses_a_member_while_a_switch_adds_up_its_vectors(
    both: Container, changing: Settings
) -> None:
    """No statement is new and none is forgotten: one is ended by another that was there already."""
    views = await both.services.themes.page("ada", None, 100)
    old, heir = (one.id for one in max((view.statements for view in views), key=len)[:2])

    async def end() -> None:
        async with both.storage.write("ada") as unit:
            await supersede(unit, old, heir, utc_now(), utc_now())
            await unit.commit()

    await both.services.reembedding.order("ada", None)
    doing, ready = service(both), False
    while not ready:
        begun = await step(both, doing)
        assert isinstance(begun, Unfinished)
        ready = begun.result["done"] == begun.result["total"]
    before_it_adds_up = [None] * (1 + len(LEVELS))
    await finish(both, replace(doing, storage=meddled(both.storage, *before_it_adds_up, end)))
    assert old not in (await _statements(both)).values(), "it came in between"
    assert await findings(changing) == []


async def test_many_corrections_beside_a_worker(api: Api, ada: str) -> None:
    drinks = ("tea", "cocoa", "milk", "juice", "cider", "water", "coffee", "lemonade")
    await api.say(ada, f"I like {', '.join(drinks)}.", external_id="drinks", speaker="Ada")
    await api.settle(ada)
    rests_on = [{"conversation": "chat", "external_id": "drinks"}]
    for drink in drinks:
        path = f"/v1/namespaces/{ada}/statements"
        made = await api.post(path, json={"statements": [{"text": f"Ada: I like {drink}.", "messages": rests_on}]})
        [decided] = made.json()["statements"]
        changed = await api.patch(f"{path}/{decided['statement']['id']}", json={"text": f"Ada: I like cold {drink}."})
        assert changed.status_code == 200, changed.text
    await api.settle(ada)
    assert await api.all(f"/v1/namespaces/{ada}/jobs", state="failed") == []
    await assert_whole(api, ada)
