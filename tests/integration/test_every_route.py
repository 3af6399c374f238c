"""Every route of the API against strangers, keys of others, and ids of others: nothing gets out, nothing changes."""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from starlette.routing import Mount, Route

from app.api.security import NEEDS, OPEN, Guarded
from app.domain.access import Scope
from app.main import ROUTERS, create_app
from app.settings import Settings
from tests.conftest import Api
from tests.contract.document import operations
from tests.integration.keyed import make_key, showing
from tests.integration.support import assert_problem, everything

PLAIN = {"/", "/docs", "/docs/oauth2-redirect", "/openapi.json", "/redoc"}  # say what the service is, and no more
MARK = "Rosinante"  # in every text of the other namespace

# Bodies without which a request would be refused for its form before its id is looked up.
BODIES: Mapping[str, Any] = {
    "correct_statement": {"text": "My bike is called Bucephalus."},
    "update_conversation": {"retention_days": 1},
    "flush_namespace": {"conversation": "of-bob"},
}
BY_CONVERSATION = {"append_messages"}  # makes the conversation that it names, in the caller's own namespace


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the API."""

    id: str
    method: str
    path: str

    def at(self, **ids: str) -> str:
        """Its path with these in the place of its parameters."""
        return self.path.format(**ids)


def all_operations() -> list[Operation]:
    """All that the document has."""
    document = create_app(Settings(_env_file=None, auth="keys")).openapi()
    found = operations(document).items()
    return [Operation(each["operationId"], *name.split()) for name, each in found]


OPERATIONS = all_operations()


def test_every_operation_has_a_decision() -> None:
    assert {one.id for one in OPERATIONS} == NEEDS.keys()
    assert {one.id for one in OPERATIONS if NEEDS[one.id] == OPEN} == {"check_live", "check_ready", "get_version"}
    deleting = {one.id for one in OPERATIONS if one.method == "DELETE"}
    assert all(NEEDS[id_] <= {Scope.DELETE, Scope.ADMIN} for id_ in deleting)
    writing = {one.id for one in OPERATIONS if one.method in ("PATCH", "PUT")}
    assert not any(Scope.READ in NEEDS[id_] for id_ in writing)


def test_no_route_goes_around_the_guard() -> None:
    """What is not in the document is a page that says what the service is."""
    app = create_app(Settings(_env_file=None))
    offered = [route for module in ROUTERS for route in module.router.routes]
    assert all(isinstance(route, Guarded) for route in offered)
    plain = [route for route in app.routes if isinstance(route, Route | Mount)]
    assert {route.path for route in plain if not isinstance(route, Guarded)} == PLAIN


@dataclass(slots=True)
class Neighbours:
    """Two namespaces of one service: ours, with the key of it, and another with all kinds of things in it."""

    ours: str
    other: str
    client: Api
    admin: Api
    ids: dict[str, str]  # of the other's things, by the name of the path's parameter


@pytest.fixture(scope="module")
async def neighbours(locked: Api) -> AsyncIterator[Neighbours]:
    ours, other, gone = (f"{name}-{uuid4().hex[:8]}" for name in ("ada", "bob", "bob-gone"))
    home = f"/v1/namespaces/{other}"
    said = (f"My bike is called {MARK}.", f"I sold {MARK} last week.", "I moved to Lisbon in May.")
    posted = await locked.say(other, *said, conversation="of-bob", speaker=MARK, external_id=None)
    await locked.say(gone, f"{MARK} again.")
    await locked.settle(other)
    receipt = (await locked.delete(f"/v1/namespaces/{gone}")).json()
    made = await make_key(locked, ours)
    ids = {
        "message": posted["messages"][0]["id"],
        "conversation": "of-bob",
        "receipt": receipt["id"],
        "key": made["id"],
    }
    for name in ("episode", "statement", "theme", "job"):
        ids[name] = (await locked.all(f"{home}/{name}s"))[0]["id"]
    async with showing(locked, made["key"]) as client:
        await client.say(ours, "I like tea.", conversation="of-ada")
        await client.settle(ours)
        yield Neighbours(ours, other, client, locked, ids)


def _with_namespace() -> Iterator[Operation]:
    return (one for one in OPERATIONS if "{namespace}" in one.path)


async def test_strangers_are_told_nothing(neighbours: Neighbours) -> None:
    async with showing(neighbours.admin, None) as stranger:
        for one in OPERATIONS:
            reply = await stranger.request(one.method, one.at(namespace=neighbours.other, **neighbours.ids))
            if NEEDS[one.id] == OPEN:
                assert reply.status_code == 200, one.id
            else:
                assert_problem(reply, 401)


async def test_a_foreign_namespace_is_like_one_that_nobody_has(neighbours: Neighbours) -> None:
    before = await everything(neighbours.admin, neighbours.other)
    for one in _with_namespace():
        answers = []
        for namespace in (neighbours.other, f"nobody-{uuid4().hex[:8]}"):
            reply = await neighbours.client.request(one.method, one.at(namespace=namespace, **neighbours.ids))
            problem = assert_problem(reply, 403)
            assert MARK not in reply.text
            answers.append({name: value for name, value in problem.items() if name != "instance"})
        assert answers[0] == answers[1], one.id
    assert await everything(neighbours.admin, neighbours.other) == before


async def test_foreign_ids_are_like_ids_that_nobody_has(neighbours: Neighbours) -> None:
    """In our own namespace, with a key that may do everything there."""
    before = await everything(neighbours.admin, neighbours.other)
    tried = 0
    for one in _with_namespace():
        if (one.path.count("{") < 2 and one.id not in BODIES) or one.id in BY_CONVERSATION:
            continue
        path = one.at(namespace=neighbours.ours, **neighbours.ids)
        reply = await neighbours.client.request(one.method, path, json=BODIES.get(one.id))
        assert_problem(reply, 404)
        assert MARK not in reply.text
        unknown = dict.fromkeys(neighbours.ids, str(uuid4())) | {"conversation": "of-nobody"}
        body = BODIES.get(one.id)
        if body and "conversation" in body:
            body = body | {"conversation": "of-nobody"}
        nobody = await neighbours.client.request(one.method, one.at(namespace=neighbours.ours, **unknown), json=body)
        assert nobody.json() | {"instance": ""} == reply.json() | {"instance": ""}, one.id
        tried += 1
    assert tried >= 10
    assert await everything(neighbours.admin, neighbours.other) == before


async def test_what_is_of_no_namespace_shows_only_our_own(neighbours: Neighbours) -> None:
    client, ids = neighbours.client, neighbours.ids
    assert [one["name"] for one in await client.all("/v1/namespaces")] == [neighbours.ours]
    of_another = assert_problem(await client.get(f"/v1/receipts/{ids['receipt']}"), 404)
    of_nobody = assert_problem(await client.get(f"/v1/receipts/{uuid4()}"), 404)
    assert of_another | {"instance": ""} == of_nobody | {"instance": ""}
    assert (await neighbours.admin.get(f"/v1/receipts/{ids['receipt']}")).status_code == 200
    elsewhere = [one for one in OPERATIONS if one.path.startswith("/v1") and "{namespace}" not in one.path]
    for one in elsewhere:
        if NEEDS[one.id] == {Scope.ADMIN}:
            assert_problem(await client.request(one.method, one.at(**ids)), 403)
    assert {one.id for one in elsewhere} >= {"create_key", "list_audit", "get_receipt"}
    assert_problem(await client.get("/metrics"), 403)


async def test_other_ways_to_ask_for_what_is_anothers(neighbours: Neighbours) -> None:
    """Cursors, idempotency keys, citations and filters of the other namespace, used in ours."""
    client, admin, home = neighbours.client, neighbours.admin, f"/v1/namespaces/{neighbours.ours}"
    theirs = f"/v1/namespaces/{neighbours.other}"
    for noun in ("conversations", "episodes", "statements", "themes", "jobs", "conversations/of-ada/messages"):
        place = noun.replace("of-ada", "of-bob")
        cursor = (await admin.get(f"{theirs}/{place}", params={"limit": 1})).json()["next_cursor"]
        reply = await client.get(f"{home}/{noun}", params={"cursor": cursor})
        assert reply.status_code == 200, reply.text
        assert MARK not in reply.text
    message = {"messages": [{"role": "user", "content": f"{MARK} is mine."}]}
    kept = {"Idempotency-Key": f"same-{uuid4()}"}
    first = await admin.post(f"{theirs}/conversations/of-bob/messages", json=message, headers=kept)
    second = await client.post(f"{home}/conversations/of-ada/messages", json=message, headers=kept)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json()["messages"][0]["id"] != second.json()["messages"][0]["id"]
    claim = {"text": "I moved to Lisbon.", "messages": [{"conversation": "of-bob", "external_id": "m1"}]}
    [decided] = (await client.post(f"{home}/statements", json={"statements": [claim]})).json()["statements"]
    assert decided["outcome"] == "refused"
    for strategy in ("adaptive", "hybrid", "bm25", "vector", "norlift"):
        asked = {"query": "Where did I move, and whom did I sell?", "strategy": strategy, "explain": True}
        reply = await client.post(f"{home}/search", json=asked)
        assert "Lisbon" not in reply.text
        assert "last week" not in reply.text


async def test_listing_agrees_with_the_rule(locked: Api) -> None:
    """The database's condition on names is that of the domain: LIKE takes _ for any letter, on SQLite also A for a."""
    mark = uuid4().hex[:8]
    names = [f"{mark}{end}" for end in ("-a", "-A", "_b", "xb", "*", "-größe")]
    for name in names:
        await locked.say(name, "I like tea.")
    for pattern in (f"{mark}-*", f"{mark}-A*", f"{mark}_*", f"{mark}%*", f"{mark}**", f"{mark}-gr*", f"{mark}-a", mark):
        made = await make_key(locked, pattern)
        prefix = pattern[:-1] if pattern.endswith("*") else None
        expected = [name for name in names if (name.startswith(prefix) if prefix is not None else name == pattern)]
        async with showing(locked, made["key"]) as client:
            assert [one["name"] for one in await client.all("/v1/namespaces")] == expected, pattern
