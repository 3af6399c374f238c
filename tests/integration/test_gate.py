"""The gate over HTTP: what is tested, by which measure, how often, and what that changes."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.container import Container
from app.domain.errors import Unavailable
from app.domain.expansion import Measure
from app.domain.levels import Level
from app.domain.packing import Item
from app.domain.questions import Question
from app.services.answer import Answering
from app.services.composing import Composing
from app.services.expansion import Expanded, Expansion, Limits
from app.services.gating import GateLimits, ModelGate
from app.services.search import MOST_STARTS, Ask
from app.settings import ReadSettings, Settings
from tests.conftest import Api, serving
from tests.integration.reembed import remember
from tests.integration.support import assert_problem, route, search
from tests.unit.models import ActingChat

FILLER = "Otherwise nothing much happened on that long day, which was as grey as all the others."
TALK = (
    "Our cat Minka sleeps on the piano.",
    *(f"Report {number}: the {thing} was late again. {FILLER}" for number, thing in enumerate(("bus", "train") * 20)),
)


async def _remember(api: Api, namespace: str) -> None:
    await api.say(namespace, *TALK, speaker="Ada")
    await api.settle(namespace)


async def test_a_sure_reader_is_handed_less(shared: Api, ada: str) -> None:
    await _remember(shared, ada)
    asked = {"query": "Where does our cat Minka sleep?", "levels": ["message"]}
    gated = await search(shared, ada, asked["query"], levels=["message"], explain=True)
    whole = await search(shared, ada, asked["query"], levels=["message"], gate="off")
    assert whole["gate"] == {"measure": "off", "probes": 0, "expanded": 0, "failed": 0}
    assert gated["tokens"] < whole["tokens"]
    assert gated["items"] == whole["items"][: len(gated["items"])]
    assert "Minka" in gated["items"][0]["text"]
    assert gated["gate"]["measure"] == "evidence"
    assert gated["gate"]["expanded"] == len(gated["items"]) < gated["gate"]["probes"]
    refused = [probe for probe in gated["trace"]["gate"]["probes"] if probe["reason"] == "sure"]
    assert refused
    assert not {probe["id"] for probe in refused} & {item["id"] for item in gated["items"]}


async def test_other_strategies_take_items_by_score_alone(shared: Api, ada: str) -> None:
    await shared.say(ada, *TALK[:3], speaker="Ada")
    for strategy in ("bm25", "norlift"):
        assert (await search(shared, ada, "Minka", strategy=strategy))["gate"]["measure"] == "off"


async def test_a_measure_that_there_is_not_is_refused(shared: Api, ada: str) -> None:
    await shared.say(ada, *TALK[:3], speaker="Ada")
    reply = await shared.post(route(ada, "search"), json={"query": "Minka", "gate": "model"})
    assert_problem(reply, 422)
    assert "log-probabilities" in reply.json()["detail"]
    assert_problem(await shared.post(route(ada, "search"), json={"query": "Minka", "gate": "guess"}), 422, "#/gate")
    assert_problem(await shared.get(route(ada, "search"), params={"q": "Minka", "probes": 101}), 422, "query/probes")


@pytest.fixture
def with_model(settings: Settings) -> Settings:
    """A service whose gate asks the scripted model."""
    read = ReadSettings(gate="model", probes=6)
    return settings.model_copy(update={"chat": "scripted", "read": read})


async def test_a_model_tests_within_its_bounds_and_its_tokens_are_counted(with_model: Settings) -> None:
    async with serving(with_model) as api:
        await _remember(api, "ada")
        before = (await api.get("/v1/namespaces/ada/status")).json()["usage"]
        found = await search(api, "ada", "Where does our cat Minka sleep?", explain=True)
        assert found["gate"]["measure"] == "model"
        assert found["gate"]["failed"] == 0
        assert 0 < found["gate"]["probes"] <= 6
        assert {probe["measure"] for probe in found["trace"]["gate"]["probes"]} == {"model"}
        after = (await api.get("/v1/namespaces/ada/status")).json()["usage"]
        assert "gate" not in before
        assert after["gate"]["tokens_in"] > 0
        for options in ({"probes": 2}, {"gate": "evidence"}):
            other = await search(api, "ada", "Where does our cat Minka sleep?", **options)
            assert other["gate"]["measure"] == options.get("gate", "model")
            assert other["gate"]["probes"] <= options.get("probes", 100)
        answered = (await api.get(route("ada", "answer"), params={"q": "Where does Minka sleep?"})).json()
        assert answered["gate"]["measure"] == "model"
        assert answered["usage"]["gate_tokens"] > 0


async def test_what_is_deleted_while_a_model_thinks_is_not_handed_out(built: Container) -> None:
    await remember(built)
    statements = [one.statement for one in await built.services.memory.statements("ada", None, 100, superseded=False)]
    ask = Ask(statements[0].text, 2000, levels=frozenset({Level.STATEMENT, Level.MESSAGE}), gate=Measure.MODEL)

    async def delete() -> str:
        await built.services.editing.remove("ada", statements[0].id)
        return "it is thinking"

    chat = ActingChat(delete, "it answers")
    search = replace(built.services.search, expansion=Expansion(ModelGate(chat)))
    found = await search.search("ada", ask)
    assert found.hits
    assert statements[0].id not in {hit.item.id for hit in found.hits}
    assert chat.acts == ["it answers"]


async def test_what_is_deleted_while_a_model_answers_is_not_told(built: Container) -> None:
    await remember(built)
    statement = (await built.services.memory.statements("ada", None, 100, superseded=False))[0].statement
    reply = json.dumps({"answer": "It was told", "lines": [1], "abstained": False, "reason": "none"})

    async def delete() -> str:
        await built.services.editing.remove("ada", statement.id)
        return reply

    chat = ActingChat(delete, reply)
    answering = Answering(built.services.search, built.services.answering.clock, Composing(built.storage, chat))
    ask = Ask(statement.text, 2000, levels=frozenset({Level.STATEMENT, Level.MESSAGE}))
    answered = await answering.answer("ada", ask)
    assert len(chat.prompts) == 2, "what it had been shown was not there any more"
    assert statement.id not in {hit.item.id for hit in answered.found.hits}


async def test_a_search_that_erasures_overtake_again_and_again_is_given_up(built: Container) -> None:
    await remember(built)
    statements = [one.statement for one in await built.services.memory.statements("ada", None, 100, superseded=False)]
    waiting = [one.id for one in statements]

    class Overtaken(Expansion):
        """While it opens items, a statement is deleted."""

        async def expand(
            self, question: Question, items: Sequence[Item], limits: Limits, measure: Measure, bounds: GateLimits
        ) -> Expanded:
            await built.services.editing.remove("ada", waiting.pop())
            return await super().expand(question, items, limits, measure, bounds)

    search = replace(built.services.search, expansion=Overtaken())
    with pytest.raises(Unavailable, match="kept changing"):
        await search.search("ada", Ask(statements[0].text, 2000))
    assert len(statements) - len(waiting) == MOST_STARTS
