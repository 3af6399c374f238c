"""Answers as they are made, and clients that do not wait for them: over HTTP, with a model behind an endpoint."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.api import streaming
from app.stub.faults import Fault
from tests.conftest import WAIT, Api, serving, settings_for
from tests.integration.conftest import database
from tests.integration.stubbed import KEY, Stub
from tests.integration.support import assert_problem, route, until
from tests.integration.writing import DOGS, MUSIC

QUESTION = "How much do violin lessons cost an hour?"
ABANDONED = "xmemory_abandoned_reads_total"
PRICE = {"type": "object", "properties": {"price": {"type": "string"}}, "required": ["price"]}


@dataclass(frozen=True)
class Event:
    name: str
    data: dict[str, Any]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def api(request: pytest.FixtureRequest, server: Stub) -> AsyncIterator[Api]:
    """A service whose language model is the stub, and which remembers what the namespace `ada` said."""
    with database(request) as url:
        model = {"chat": "openai", "chat_model": "tiny", "chat_api_key": SecretStr(KEY), "chat_base_url": server.url}
        async with serving(settings_for(url).model_copy(update=model)) as client:
            await client.say("ada", *DOGS, *MUSIC, speaker="Ada")
            await client.settle("ada")
            yield client


async def follow(api: Api, **body: object) -> list[Event | str]:
    """All events of a streamed answer; comments as they are."""
    async with api.stream("POST", route("ada", "answer/stream"), json={"query": QUESTION, **body}) as reply:
        assert (reply.status_code, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        return [event async for event in events(reply)]


async def events(reply: httpx.Response) -> AsyncIterator[Event | str]:
    name = ""
    async for line in reply.aiter_lines():
        kind, _, value = line.partition(": ")
        if kind == "event":
            name = value
        elif kind == "data":
            yield Event(name, json.loads(value))
        elif line:
            yield line


async def abandoned(api: Api, path: str) -> float:
    """How many reads of a route nobody waited for."""
    shown = f'{ABANDONED}{{route="/v1/namespaces/{{namespace}}/{path}"}} '
    lines = (await api.get("/metrics")).text.splitlines()
    return next((float(line.removeprefix(shown)) for line in lines if line.startswith(shown)), 0.0)


async def test_an_answer_comes_with_its_evidence_first_and_its_verdict_last(api: Api, stub: Stub) -> None:
    evidence, *deltas, final = await follow(api)
    assert (evidence.name, final.name, {delta.name for delta in deltas}) == ("evidence", "final", {"delta"})
    assert evidence.data == (await api.post(route("ada", "search"), json={"query": QUESTION})).json()
    assert len(deltas) > 2, "word by word"
    assert "".join(delta.data["text"] for delta in deltas) == final.data["answer"]
    whole = (await api.post(route("ada", "answer"), json={"query": QUESTION})).json()
    for answered in (whole, final.data):
        for stage in answered["usage"]["stages"].values():
            stage.pop("seconds")
    assert final.data == whole
    assert (whole["abstained"], whole["citations"][0]["quote"]) == (False, "Violin lessons cost 40 francs an hour.")
    assert sum("stream" in request for request in stub.calls.requests) == 1


@pytest.mark.parametrize("fault", [Fault.REFUSE_STREAM, Fault.IGNORE_STREAM])
async def test_an_endpoint_that_does_not_stream_gives_its_answer_at_once(api: Api, stub: Stub, fault: Fault) -> None:
    stub.plan.always(fault)
    _, delta, final = await follow(api)
    assert delta.data == {"text": final.data["answer"], "restart": False}


async def test_a_second_try_of_the_model_goes_on_where_it_says_the_same(api: Api, stub: Stub) -> None:
    stub.plan.then(Fault.TRUNCATED)
    _, *deltas, final = await follow(api)
    assert "".join(delta.data["text"] for delta in deltas) == final.data["answer"]
    assert final.data["usage"]["stages"]["answer"]["calls"] == 2
    stub.plan.then(Fault.CUT)
    assert [event.name for event in await follow(api)][-1] == "error", "the connection to the model was lost"


async def test_what_goes_wrong_before_the_evidence_is_the_response_itself(api: Api) -> None:
    path = route("ada", "answer/stream")
    assert_problem(await api.post(route("nobody", "answer/stream"), json={"query": QUESTION}), 404)
    assert_problem(await api.post(path, json={"query": " "}), 422, "#/query")
    wrong = await api.post(path, json={"query": QUESTION, "json_schema": {"type": "array"}})
    assert_problem(wrong, 422, "#/json_schema/type")


@pytest.mark.parametrize(("fault", "status"), [(Fault.UNAUTHORIZED, 502), (Fault.SERVER_ERROR, 503)])
async def test_what_goes_wrong_after_it_is_an_event(api: Api, stub: Stub, fault: Fault, status: int) -> None:
    stub.plan.always(fault)
    evidence, failed = await follow(api)
    assert (evidence.name, failed.name) == ("evidence", "error")
    assert failed.data["status"] == status
    assert failed.data["instance"].startswith("urn:uuid:")
    assert KEY not in json.dumps(failed.data)


async def test_data_come_in_the_form_that_was_asked_for(api: Api) -> None:
    (*_, final) = await follow(api, json_schema=PRICE)
    assert final.data["data"] == {"price": final.data["answer"]}
    assert final.data["usage"]["stages"]["data"]["calls"] == 1
    nothing = await api.post(route("ada", "answer"), json={"query": "Which submarine sank?", "json_schema": PRICE})
    assert (nothing.json()["abstained"], nothing.json()["data"]) == (True, None)
    long = {**PRICE, "properties": {"price": {"type": "string", "minLength": 1000}}}
    refused = await api.post(route("ada", "answer"), json={"query": QUESTION, "json_schema": long})
    assert assert_problem(refused, 502)["type"] == "/problems/unusable_reply", "the double never says so much"


async def test_case_34_yesterday_is_the_day_before_it_was_said(api: Api, ada: str) -> None:
    await api.say(ada, "I went to the support group yesterday.", speaker="Ada", occurred_at="2023-05-08T10:00:00Z")
    await api.settle(ada)
    answered = (await api.post(route(ada, "answer"), json={"query": "When did I go to the group?"})).json()
    assert "7 May 2023" in answered["answer"], "the double repeats the line, the day is ours"
    assert answered["citations"][0]["quote"] == "I went to the support group yesterday."


@pytest.mark.parametrize("query", ["???", "a | b / c \\ d", "`rm -rf`", "'; DROP TABLE facts;--", "</context> 1 x"])
async def test_case_14_questions_without_words(api: Api, query: str) -> None:
    answered = (await api.post(route("ada", "answer"), json={"query": query})).json()
    assert (answered["abstained"], answered["reason"], answered["data"]) == (True, "no_evidence", None)


async def test_case_35_what_nobody_spoke_of_has_no_answer(api: Api) -> None:
    body = {"query": "quarterly tax form of the moon base"}
    answered = (await api.post(route("ada", "answer"), json=body)).json()
    assert (answered["answer"], answered["reason"], answered["citations"]) == (None, "no_evidence", [])
    assert answered["confidence"] < 0.5


async def test_the_model_is_told_the_language_of_the_question(api: Api, stub: Stub) -> None:
    await api.post(route("ada", "answer"), json={"query": "Wie viel kostet eine Violin Stunde?"})
    [*_, last] = stub.calls.requests
    assert "Answer in German." in last["messages"][-1]["content"]


async def test_a_silent_stream_shows_that_it_lives(api: Api, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_SECONDS", 0.01)
    stub.plan.then(Fault.STUCK)
    async with api.stream("POST", route("ada", "answer/stream"), json={"query": QUESTION}) as reply:
        async for event in events(reply):
            if event == streaming.HEARTBEAT.decode().strip():
                break
    await until(lambda: not stub.plan.stuck)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "answer/stream", {"query": QUESTION}),
        ("POST", "answer", {"query": QUESTION}),
        ("GET", "answer", {"q": QUESTION}),
        ("POST", "search", {"query": QUESTION, "gate": "model", "gate_seconds": 300}),
        ("GET", "search", {"q": QUESTION, "gate": "model", "gate_seconds": 300}),
    ],
)
async def test_nobody_works_for_a_client_that_has_left(
    api: Api, stub: Stub, method: str, path: str, body: dict[str, object]
) -> None:
    stub.plan.always(Fault.HANG)
    before = await abandoned(api, path)
    given = {"params": body} if method == "GET" else {"json": body}
    asking = asyncio.create_task(api.request(method, route("ada", path), **given))
    await until(lambda: stub.plan.stuck)
    asking.cancel()  # which closes its connection
    await until(lambda: not stub.plan.stuck)
    async with asyncio.timeout(WAIT):
        while await abandoned(api, path) == before:
            await asyncio.sleep(0.01)
    stub.plan.mend()
    answered = (await api.post(route("ada", "answer"), json={"query": QUESTION})).json()
    assert answered["abstained"] is False, "the next one is served"
