"""An import step by step: nobody sees half of it, whatever happens in between; an export is of one moment."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.container import Container, build, utc_now
from app.domain.errors import Busy, Conflict, Discarded, Unavailable
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.segmentation import SegmentPolicy
from app.services.transfer import spooling
from app.services.transfer.exporting import Wanted
from app.services.upkeep import Upkeep
from tests.conftest import Api, settings_for
from tests.integration.conftest import database
from tests.integration.moving import NDJSON, after_header, exported, lines
from tests.integration.support import (
    assert_problem,
    claim,
    drain,
    everything,
    kinds,
    messages_path,
    namespace_id,
    over_http,
    post,
    rows,
    succeed,
)

MOVED = ("messages", "statements", "embeddings", "postings", "import_blocks", "namespaces")
TOLD = ("I moved to Lisbon.", "I adopted a cat named Miso.", "My sister Eva lives in Porto.", "I work as a nurse.")


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def built(request: pytest.FixtureRequest) -> AsyncIterator[Container]:
    """A service in which nothing runs jobs unless the test does; `ada` has a past there, and is only read."""
    with database(request) as url:
        async with build(settings_for(url)) as container:
            await _live(container, "ada")
            yield container


@pytest.fixture(scope="module")
async def api(built: Container) -> AsyncIterator[Api]:
    """Its routes."""
    async with over_http(built, settings_for("sqlite+aiosqlite:///unused.db")) as client:
        yield client


async def _live(built: Container, name: str) -> None:
    await post(built, name, *TOLD)
    await built.services.flush.flush(name, None, 0)
    await drain(built, name)


async def _take(api: Api, name: str, file: bytes, **headers: str) -> dict[str, Any]:
    reply = await api.post(f"/v1/namespaces/{name}/import", content=file, headers=NDJSON | headers)
    assert reply.status_code == 202, reply.text
    return reply.json()


async def test_nobody_reads_or_writes_half_of_an_import(built: Container, api: Api, bob: str) -> None:
    file = await exported(api, "ada")
    taken = await _take(api, bob, file)
    message = {"messages": [{"role": "user", "content": "Hello"}]}
    for reply in (
        await api.post(messages_path(bob), json=message),
        await api.get(f"/v1/namespaces/{bob}/search", params={"q": "cat"}),
        await api.get(f"/v1/namespaces/{bob}/statements"),
        await api.get(f"/v1/namespaces/{bob}/export"),
        await api.post(f"/v1/namespaces/{bob}/flush", json={}),
    ):
        assert assert_problem(reply, 503)["type"] == "/problems/being_imported"
        assert int(reply.headers["retry-after"]) > 0
    assert_problem(await api.post(f"/v1/namespaces/{bob}/import", content=file), 409)
    assert (await api.get(f"/v1/namespaces/{bob}/jobs/{taken['job']}")).json()["state"] == "queued"
    assert (await api.get(f"/v1/namespaces/{bob}/status")).json()["pending_jobs"] == 1
    await drain(built, bob)
    assert (await api.post(messages_path(bob), json=message)).status_code == 202
    assert after_header(await exported(api, bob)) != after_header(file)


async def test_it_goes_on_block_by_block_after_any_break(
    built: Container, api: Api, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await exported(api, "ada")
    monkeypatch.setattr(spooling, "BLOCK_BYTES", 1_500)
    await _take(api, bob, file)
    id_ = await namespace_id(built, bob)
    service = replace(built.services.importing, restoring=replace(built.services.importing.restoring, turn_seconds=0))
    attempts, seen, upkeep = 0, [], Upkeep(built.storage, utc_now, SegmentPolicy())
    while attempt := await claim(built, id_):
        if attempt.job.kind is not Step.IMPORT:
            break
        if attempts == 1:  # a worker that was taken for dead wakes up: what it writes is thrown away
            late, attempt = attempt, await _claimed_by_another(built, id_)
            with pytest.raises(Discarded):
                await service.work(late)
        result = await service.work(attempt)
        seen.append(dict(result.result if isinstance(result, Unfinished) else result))
        await succeed(built, attempt, result)
        assert await upkeep.run() == 0  # it is not its business yet
        attempts += 1
    assert attempts > 3
    assert [one["lines"] for one in seen] == sorted(one["lines"] for one in seen)
    assert seen[-1]["lines"] == seen[-1]["total"] == len(lines(file)) - 2
    assert after_header(await exported(api, bob)) == after_header(file)
    assert (await rows(built))["import_blocks"] == 0


async def _claimed_by_another(built: Container, namespace: NamespaceId) -> Attempt:
    attempt = await claim(built, namespace, utc_now() + timedelta(minutes=5))
    assert attempt is not None
    return attempt


async def test_an_unfinished_import_can_be_erased(built: Container, api: Api, bob: str) -> None:
    file = await exported(api, "ada")
    before = await rows(built)
    await _take(api, bob, file)
    id_ = await namespace_id(built, bob)
    assert (await api.delete(f"/v1/namespaces/{bob}")).status_code == 202
    assert_problem(await api.get(f"/v1/namespaces/{bob}"), 404)
    attempt = await claim(built, id_)
    assert attempt is not None
    while isinstance(await kinds(built)[attempt.job.kind].run(attempt), Unfinished):
        pass
    left = await rows(built)
    assert {name: left[name] for name in MOVED} == {name: before[name] for name in MOVED}
    await _take(api, bob, file)  # the name is free


async def test_lines_of_a_cancelled_import_are_let_go_of(built: Container, api: Api, bob: str) -> None:
    taken = await _take(api, bob, await exported(api, "ada"))
    assert (await api.get(f"/v1/namespaces/{bob}")).json()["importing"] is True
    before = (await rows(built))["import_blocks"]
    await Upkeep(built.storage, utc_now, SegmentPolicy()).run()
    assert (await rows(built))["import_blocks"] == before
    job = f"/v1/namespaces/{bob}/jobs/{taken['job']}"
    assert (await api.post(f"{job}/cancel")).status_code == 200
    await Upkeep(built.storage, utc_now, SegmentPolicy()).run()
    assert (await rows(built))["import_blocks"] == before - 1
    assert (await api.post(f"{job}/retry")).status_code == 200
    attempt = await claim(built, await namespace_id(built, bob))
    assert attempt is not None
    with pytest.raises(Conflict, match="import the file again"):
        await built.services.importing.work(attempt)


async def test_the_same_request_gets_the_same_answer(api: Api, bob: str) -> None:
    file = await exported(api, "ada")
    key = {"Idempotency-Key": "k1"}
    first = await _take(api, bob, file, **key)
    assert await _take(api, bob, file, **key) == first
    other = await exported(api, "ada", vectors=True)
    assert_problem(
        await api.post(f"/v1/namespaces/{bob}/import", content=other, headers=key), 409, "header/Idempotency-Key"
    )


async def test_vectors_of_another_model_are_made_anew(built: Container, api: Api, bob: str) -> None:
    file = (await exported(api, "ada", vectors=True)).replace(b"scripted@1/64", b"elsewhere@1/64")
    await _take(api, bob, file)
    await drain(built, bob)
    assert (await api.get(f"/v1/namespaces/{bob}")).json()["embedding_profile"] == "scripted@1/64"
    [job] = [one for one in await api.all(f"/v1/namespaces/{bob}/jobs") if one["kind"] == "import"]
    assert job["result"]["embedded"] > 0
    assert await everything(api, "ada") == await everything(api, bob)


async def test_an_export_is_of_one_moment(built: Container, api: Api, bob: str) -> None:
    await _live(built, bob)
    before = await exported(api, bob, vectors=True)
    export = await built.services.exporting.begin(bob, Wanted(vectors=True))
    pieces = []
    async for piece in export.chunks():
        pieces.append(piece)
        if len(pieces) <= 9:  # else an export that sees them has no end
            await post(built, bob, f"I have {len(pieces)} bikes.")
    await export.close()
    assert b"".join(pieces) == before
    assert await exported(api, bob, vectors=True) != before


async def test_exports_give_back_what_they_hold(built: Container, api: Api, bob: str) -> None:
    await post(built, bob, "I moved to Lisbon.")
    exporting = replace(built.services.exporting, places=asyncio.Semaphore(1))
    first = await exporting.begin(bob, Wanted())
    with pytest.raises(Busy):
        await exporting.begin(bob, Wanted())
    await anext(first.chunks())
    await first.close()
    await first.close()
    second = await exporting.begin(bob, Wanted())
    await second.close()
    told = [
        entry
        for entry in (await api.get("/v1/audit", params={"namespace": bob})).json()["items"]
        if entry["act"] == "export_namespace"
    ]
    assert len(told) == 2
    async with built.storage.write(bob) as unit:
        place = await unit.messages.conversation("chat")
        await unit.erasures.retire_conversation(place, exporting.clock())
        await unit.commit()
    with pytest.raises(Unavailable):
        await exporting.begin(bob, Wanted())
    assert not exporting.places.locked()


async def test_posts_go_on_beside_a_merge(
    built: Container, api: Api, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await exported(api, "ada")
    monkeypatch.setattr(spooling, "BLOCK_BYTES", 1_000)
    await post(built, bob, "I came first.")
    reply = await api.post(f"/v1/namespaces/{bob}/import", content=file, params={"conflict": "skip"})
    assert reply.json()["mode"] == "merge"
    id_, count = await namespace_id(built, bob), 0
    while attempt := await claim(built, id_):
        if attempt.job.kind is Step.IMPORT:
            count += 1
            await post(built, bob, f"I have {count} bikes.", conversation="bikes")
        await succeed(built, attempt, await kinds(built)[attempt.job.kind].run(attempt))
    assert count > 2
    found = await everything(api, bob)
    assert sorted(one["sequence"] for one in found["messages"]) == list(range(1, 1 + len(TOLD) + 1 + count))
    assert {one["content"] for one in found["messages"]} >= {*TOLD, "I came first.", "I have 1 bikes."}
