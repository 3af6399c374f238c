"""A namespace moves from one database to the other whole: the same file again, the same answers, nothing off."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from uuid import uuid4

import hypothesis
import pytest
from hypothesis import strategies as st

from app import container
from app.settings import Settings
from tests.conftest import Api, serving, settings_for
from tests.integration.conftest import database
from tests.integration.moving import after_header, exported, header, imported, lines, live, rest_of, said
from tests.integration.support import assert_problem, messages_path


@dataclass(frozen=True)
class Place:
    """A service, and the settings of its database."""

    api: Api
    settings: Settings
    lived: str  # a namespace with something of everything


@pytest.fixture(scope="module")
async def places(request: pytest.FixtureRequest) -> AsyncIterator[dict[str, Place]]:
    """A service on each database, side by side."""
    async with AsyncExitStack() as stack:
        found = {}
        for kind in ("sqlite", "postgres"):
            settings = settings_for(stack.enter_context(database(request, kind)))
            api = await stack.enter_async_context(serving(settings))
            await live(api, "ada")
            found[kind] = Place(api, settings, "ada")
        yield found


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite"])
def way(request: pytest.FixtureRequest, places: dict[str, Place]) -> tuple[Place, Place]:
    source, _, target = request.param.partition(" to ")
    return places[source], places[target]


@pytest.fixture
def fresh() -> str:
    """The name of a namespace that nobody has used."""
    return f"n-{uuid4().hex[:8]}"


async def assert_sound(place: Place, namespace: str) -> None:
    async with container.build_doctor(place.settings) as (doctor, _):
        assert await doctor.examine(await doctor.patients(namespace)) == []
        assert await doctor.look_around() == []


async def test_a_file_has_something_of_everything(places: dict[str, Place]) -> None:
    for place in places.values():
        [head, *rest, end] = lines(await exported(place.api, "ada", vectors=True))
        counts = head["counts"]
        assert all(counts[kind] for kind in counts if kind != "ended_theme"), counts
        assert [line["line"] for line in rest] == [kind for kind, count in counts.items() for _ in range(count)]
        assert end["lines"] == len(rest) + 1
        assert any(line.get("superseded_by") for line in rest)
        assert any(line["line"] == "message" and line["episode_id"] is None for line in rest)
        assert any(line.get("withheld") for line in rest)
        assert [bool(line["retention_seconds"]) for line in [head, *rest] if "retention_seconds" in line].count(
            True
        ) == 2


async def test_with_vectors_everything_is_as_it_was(way: tuple[Place, Place], fresh: str) -> None:
    source, target = way
    file = await exported(source.api, "ada", vectors=True)
    assert b"4711" not in file
    job = await imported(target.api, fresh, file)
    assert job["result"]["embedded"] == 0  # no model was asked
    again = await exported(target.api, fresh, vectors=True)
    assert after_header(again) == after_header(file)
    assert header(again) == header(file)
    assert await said(target.api, fresh) == await said(source.api, "ada")
    await assert_sound(target, fresh)
    assert_problem(await target.api.post(f"/v1/namespaces/{fresh}/import", content=file), 409)
    await assert_life_goes_on(target.api, fresh, lines(file)[0]["sequence"])
    await assert_sound(target, fresh)


async def assert_life_goes_on(api: Api, namespace: str, newest: int) -> None:
    """What was erased stays erased, and what is new follows what is there."""
    retry = {"role": "user", "speaker": "Ada", "content": "My PIN is 4711.", "external_id": "secret"}
    known = {"role": "user", "speaker": "Ada", "content": "Hello again.", "external_id": "new"}
    reply = (await api.post(messages_path(namespace), json={"messages": [retry, known]})).json()
    assert [message["status"] for message in reply["messages"]] == ["deleted", "accepted"]
    assert reply["sequence"] == newest + 1
    settled = await api.settle(namespace)
    assert (settled["settled"], settled["jobs"]["failed"]) == (True, 0)


async def test_without_vectors_they_are_made_anew(places: dict[str, Place], fresh: str) -> None:
    source, target = places["sqlite"], places["postgres"]
    file = await exported(source.api, "ada")
    job = await imported(target.api, fresh, file)
    assert job["result"]["embedded"] == len(
        [one for one in lines(file) if one["line"] in ("message", "episode", "statement")]
    )
    assert after_header(await exported(target.api, fresh)) == after_header(file)
    vectors = [one for one in lines(await exported(source.api, "ada", vectors=True)) if one["line"] == "vector"]
    assert [one for one in lines(await exported(target.api, fresh, vectors=True)) if one["line"] == "vector"] == vectors
    assert await said(target.api, fresh) == await said(source.api, "ada")
    await assert_sound(target, fresh)


async def test_an_export_goes_on_where_it_was(places: dict[str, Place]) -> None:
    for place in places.values():
        file = await exported(place.api, "ada", vectors=True)
        revision, parts = lines(file)[0]["revision"], file.splitlines(keepends=True)
        for after in (1, 2, len(parts) // 2, len(parts) - 1, len(parts)):
            rest = await exported(place.api, "ada", vectors=True, after=after, revision=revision)
            assert rest == b"".join(parts[after:])
        home = "/v1/namespaces/ada/export"
        assert_problem(await place.api.get(home, params={"after": 2, "revision": revision - 1}), 409, "query/revision")
        assert_problem(await place.api.get(home, params={"after": 2}), 422)
        assert_problem(await place.api.get(home, params={"after": 9_999, "revision": revision}), 422, "query/after")
        assert_problem(await place.api.get("/v1/namespaces/nobody/export"), 404)


async def test_a_merge_adds_only_what_is_missing(places: dict[str, Place], fresh: str) -> None:
    source, target = places["postgres"], places["sqlite"]
    file = await exported(source.api, "ada")
    await target.api.say(fresh, "I live in Berlin.", external_id="m1")
    await target.api.say(fresh, "I came first.", conversation="mine")
    assert_problem(await target.api.post(f"/v1/namespaces/{fresh}/import", content=file), 409)
    messages = lines(file)[0]["counts"]["message"]
    job = await imported(target.api, fresh, file, conflict="skip")
    assert job["result"] | {"messages": messages - 1, "skipped": 1, "mode": "merge"} == job["result"]
    again = await imported(target.api, fresh, file, conflict="skip")
    assert again["result"] | {"messages": 0, "skipped": messages} == again["result"]
    await target.api.settle(fresh)
    names = {one["name"]: one["message_count"] for one in await target.api.all(f"/v1/namespaces/{fresh}/conversations")}
    assert names == {"chat": 4, "b": 2, "open": 1, "mine": 1}
    assert any("Lisbon" in one["text"] for one in await target.api.all(f"/v1/namespaces/{fresh}/statements"))
    await assert_sound(target, fresh)


SPOKEN = st.sampled_from(
    ["I live in Bern.", "I moved to Oslo.", "I have a dog.", "OK", "我喜欢茶。", "\u0000 {x} '; --", "é" * 3]
)
POSTS = st.lists(
    st.tuples(st.sampled_from("ab"), SPOKEN, st.sampled_from(["1", "2", "3", None]), st.booleans()),
    min_size=1,
    max_size=6,
)


@hypothesis.settings(max_examples=4)
@hypothesis.given(posts=POSTS)
async def test_any_small_namespace_comes_back_the_same(
    places: dict[str, Place], posts: list[tuple[str, str, str | None, bool]]
) -> None:
    source, target = places["sqlite"], places["postgres"]
    name = f"h-{uuid4().hex[:8]}"
    for conversation, content, external_id, closes in posts:
        message = {"role": "user", "speaker": "Ada", "content": content, "external_id": external_id}
        reply = await source.api.post(messages_path(name, conversation), json={"messages": [message]})
        assert reply.status_code in (202, 409)  # the external id may be another's
        if closes:
            await source.api.settle(name)
    await rest_of(source.api, name)
    file = await exported(source.api, name, vectors=True)
    await imported(target.api, name, file)
    there = await exported(target.api, name, vectors=True)
    assert after_header(there) == after_header(file)
    await imported(source.api, f"{name}-back", there)
    assert after_header(await exported(source.api, f"{name}-back", vectors=True)) == after_header(file)
