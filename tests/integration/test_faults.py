"""Faults of the database and of models: said at once, nothing lost, and all is well again when they are over."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.container import Container, build
from app.domain.errors import ProviderUnavailable, StoreUnavailable
from app.domain.jobs import Attempt, JobState, Step
from app.jobs.registry import JobKind, Retry
from app.providers.scripted import Faults, ScriptedEmbedder
from app.settings import DatabaseSettings, Settings
from tests.conftest import WAIT, Api
from tests.integration.faults import locked, no_database, pragma, read_only, terminate_all
from tests.integration.support import (
    assert_problem,
    assert_whole,
    enqueue,
    job,
    kinds,
    messages_path,
    namespace_id,
    over_http,
    post,
    rows,
    runner,
    settled,
    status,
    until,
)

FACTS = ("My sister Ines is allergic to peanuts.", "I moved to Lisbon last week.")
SOON = Retry(attempts=3, first_delay=timedelta(milliseconds=20))


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Nobody waits long."""
    return settings.model_copy(
        update={"database": DatabaseSettings(pool_size=5, connection_seconds=1, lock_seconds=0.5)}
    )


@pytest.fixture
async def api(built: Container, settings: Settings) -> AsyncIterator[Api]:
    """HTTP, and nothing that runs jobs."""
    async with over_http(built, settings) as client:
        yield client


def _is_sqlite(settings: Settings) -> bool:
    return settings.database_url.startswith("sqlite")


async def _post(api: Api, content: str = FACTS[0], namespace: str = "ada") -> httpx.Response:
    return await api.post(messages_path(namespace), json={"messages": [{"role": "user", "content": content}]})


def _assert_unavailable(reply: httpx.Response) -> None:
    document = assert_problem(reply, 503)
    assert document["type"] == "/problems/store_unavailable"
    assert int(reply.headers["retry-after"]) > 0


# The database, seen from HTTP ------------------------------------------------------------------------------


def _fault(name: str, built: Container, settings: Settings) -> AbstractAsyncContextManager[None]:
    if name == "away":
        return no_database(built, settings)
    if name == "read-only":
        return read_only(built, settings)
    if name == "locked":
        return locked(settings)
    if not _is_sqlite(settings):
        pytest.skip("no disk of its own to fill")
    # SQLite takes the size that the file has, if it is more than one page.
    return pragma(built, "max_page_count", 1, 2**32 - 2)


@pytest.mark.parametrize("name", ["away", "read-only", "locked", "full"])
async def test_a_post_is_refused_as_unavailable_and_stores_nothing(
    api: Api, built: Container, settings: Settings, name: str
) -> None:
    assert (await _post(api)).status_code == 202
    before = await rows(built)
    async with _fault(name, built, settings):
        for reply in await asyncio.gather(*(_post(api, f"{FACTS[1]} {'long ' * 2000}") for _ in range(3))):
            _assert_unavailable(reply)
        if name != "full":  # a page may have room for a little more
            _assert_unavailable(await api.post("/v1/namespaces/ada/flush"))
    assert await rows(built) == before
    assert (await _post(api, FACTS[1])).status_code == 202
    assert (await status(api, "ada"))["messages"] == 2


@pytest.mark.parametrize("name", ["read-only", "locked", "full"])
async def test_what_is_stored_can_still_be_read(api: Api, built: Container, settings: Settings, name: str) -> None:
    if name == "locked" and not _is_sqlite(settings):
        pytest.skip("the lock that another session of Postgres may hold locks readers out too")
    await _post(api)
    async with _fault(name, built, settings):
        found = await api.get("/v1/namespaces/ada/search", params={"q": "peanuts"})
        assert (found.status_code, len(found.json()["items"])) == (200, 1)


async def test_a_locked_row_holds_up_its_namespace_only(api: Api, built: Container, settings: Settings) -> None:
    if _is_sqlite(settings):
        pytest.skip("an SQLite file has one writer")
    await _post(api)
    async with build(settings) as other, other.storage.write(await namespace_id(built, "ada")):
        _assert_unavailable(await _post(api))
        assert (await api.say("bob", "I like tea."))["accepted"] == 1
    assert (await _post(api)).status_code == 202


async def test_writers_do_not_queue_behind_a_lock_for_ever(api: Api, settings: Settings) -> None:
    """Each of 20 writers would wait its full time-out, one after the other."""
    await _post(api)
    begun = asyncio.get_running_loop().time()
    async with locked(settings):
        for reply in await asyncio.gather(*(_post(api) for _ in range(20))):
            _assert_unavailable(reply)
    assert asyncio.get_running_loop().time() - begun < 20 * settings.database.lock_seconds


async def test_when_every_connection_is_taken_the_answer_is_503(api: Api, built: Container) -> None:
    await _post(api)
    held = [built.storage.engines.read.connect() for _ in range(10)]
    for connection in held:
        await connection.start()
    _assert_unavailable(await api.get("/v1/namespaces/ada/status"))
    for connection in held:
        await connection.close()
    assert (await api.get("/v1/namespaces/ada/status")).status_code == 200


async def test_a_restart_of_postgres_costs_no_request_after_it(api: Api, settings: Settings) -> None:
    if _is_sqlite(settings):
        pytest.skip("no server to restart")
    names = [f"ada-{number}" for number in range(5)]  # several connections in the pool, no lock to wait for
    for restarted in range(4):
        assert not restarted or terminate_all(settings) >= 1
        replies = await asyncio.gather(*(_post(api, namespace=name) for name in names))
        assert {reply.status_code for reply in replies} == {202}
    assert {(await status(api, name))["messages"] for name in names} == {4}


async def test_a_connection_lost_in_the_middle_is_unavailable_and_keeps_nothing(
    built: Container, settings: Settings
) -> None:
    if _is_sqlite(settings):
        pytest.skip("no connection to lose")
    await post(built, "ada", FACTS[0])
    before = await rows(built)
    for reads in (True, False):  # the loss is met by a statement, or by the commit itself
        with pytest.raises(StoreUnavailable):
            await _lose_the_connection(built, settings, reads=reads)
    assert await rows(built) == before
    assert (await built.services.namespaces.get("ada")).sequence == 1


async def _lose_the_connection(built: Container, settings: Settings, *, reads: bool) -> None:
    async with built.storage.write("ada") as unit:
        await unit.directory.set_sequence(unit.namespace.id, 99)
        terminate_all(settings)
        if reads:
            await unit.jobs.counts()
        await unit.commit(revises_memory=False)


@pytest.mark.parametrize("mistake", ["SELECT no_such_column FROM jobs", "SELEKT 1", "SELECT * FROM no_such_table"])
async def test_a_mistake_of_ours_is_not_called_an_outage(built: Container, mistake: str) -> None:
    await post(built, "ada", FACTS[0])
    with pytest.raises(DBAPIError):
        async with built.storage.read("ada") as unit:
            await unit._connection.execute(text(mistake))


async def test_metrics_are_shown_although_the_schema_is_another(api: Api, built: Container) -> None:
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(text("ALTER TABLE jobs RENAME TO jobs_of_tomorrow"))
    shown = await api.get("/metrics")
    assert (shown.status_code, "xmemory_database_up 0.0" in shown.text) == (200, True)


async def test_a_process_that_cannot_reach_its_database_says_so(settings: Settings, tmp_path: Path) -> None:
    url = "postgresql+psycopg://nobody@127.0.0.1:9/nothing"
    if _is_sqlite(settings):
        (tmp_path / "folder.db").mkdir()  # SQLite cannot open it
        url = f"sqlite+aiosqlite:///{tmp_path}/folder.db"
    with pytest.raises(StoreUnavailable, match="the database"):
        async with build(settings.model_copy(update={"database_url": url})):
            pass


# The database, seen from jobs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["away", "read-only", "locked", "full"])
async def test_jobs_outlast_a_fault_of_the_database(api: Api, built: Container, settings: Settings, name: str) -> None:
    for fact in FACTS:
        await _post(api, fact)
    async with runner(built, *_quick(built), upkeep_seconds=0.1):
        async with _fault(name, built, settings):
            await asyncio.sleep(0.7)
        flushed = await built.services.flush.flush("ada", None, WAIT)
        assert flushed.settled
    memory = await assert_whole(api, "ada")
    assert (len(memory["messages"]), len(memory["episodes"]), len(memory["statements"])) == (2, 1, 2)
    assert (await status(api, "ada"))["failed_jobs"] == 0


async def test_a_result_is_settled_when_the_database_is_back(built: Container, settings: Settings) -> None:
    """Without waiting until the job is taken for stale, and without running it again."""
    await post(built, "ada", FACTS[0])
    ada = await namespace_id(built, "ada")
    begun, go_on, ran = asyncio.Event(), asyncio.Event(), 0

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        nonlocal ran
        ran += 1
        begun.set()
        await go_on.wait()
        return {"ran": ran}

    [posted] = await built.services.work.page("ada", None, None, 1)
    async with runner(built, JobKind(Step.SEGMENT, run)):
        await begun.wait()
        async with no_database(built, settings):
            go_on.set()
            await asyncio.sleep(0.3)
        [found] = await settled(built, ada, [posted.id])
    assert (found.state, found.attempts, found.result) == (JobState.SUCCEEDED, 1, {"ran": 1})


# Models ----------------------------------------------------------------------------------------------------


def _faults(built: Container) -> Faults:
    assert isinstance(built.embedder.inner, ScriptedEmbedder)
    return built.embedder.inner.faults


def _watch(built: Container, **seconds: float) -> None:
    built.embedder.guard.policy = replace(built.embedder.guard.policy, **seconds)


def _quick(built: Container) -> list[JobKind]:
    return [JobKind(kind.step, kind.run, SOON) for kind in kinds(built).values()]


async def _ready(api: Api) -> Mapping[str, str]:
    reply = await api.get("/health/ready")
    assert reply.status_code == 200, "messages are accepted all the same"
    assert reply.json()["status"] == "ok"
    checks: Mapping[str, str] = reply.json()["checks"]
    return checks


async def test_case_1_a_model_that_fails_for_a_while(api: Api, built: Container) -> None:
    """Case 1: the job says why, ready names the model, messages are kept and found, and a retry brings all home."""
    faults = _faults(built)
    faults.fail(ProviderUnavailable("the embedding model answers 400: invalid request"))
    for fact in FACTS:
        assert (await _post(api, fact)).status_code == 202
    async with runner(built, *_quick(built)):
        async with asyncio.timeout(WAIT / 2):  # it does not wait for what will not come
            flushed = await api.post("/v1/namespaces/ada/flush", json={"wait_seconds": WAIT})
        assert (flushed.status_code, flushed.json()["settled"], flushed.json()["jobs"]["failed"]) == (202, False, 1)
        [failed] = await api.all("/v1/namespaces/ada/jobs", state="failed")
        assert (failed["state"], failed["kind"], failed["attempts"]) == ("failed", "segment", 3)
        assert failed["error"]["code"] == "provider_unavailable"
        assert failed["error"]["detail"] == "the embedding model answers 400: invalid request"
        assert failed["usage"]["embedder"]["calls"] == 3
        assert (await _ready(api))["embedder"] == "failing"
        found = await status(api, "ada")
        assert (found["messages"], found["buffered"], found["failed_jobs"]) == (2, 2, 1)
        by_words = {"q": "peanuts", "strategy": "bm25"}
        assert (await api.get("/v1/namespaces/ada/search", params=by_words)).json()["items"]
        assert_problem(await api.get("/v1/namespaces/ada/search", params={"q": "peanuts"}), 503)

        faults.mend()
        again = await api.post(f"/v1/namespaces/ada/jobs/{failed['id']}/retry")
        assert (again.json()["state"], again.json()["error"], again.json()["attempts"]) == ("queued", None, 0)
        await api.settle("ada")
    memory = await assert_whole(api, "ada")
    assert sorted(statement["text"] for statement in memory["statements"])
    assert len(memory["statements"]) == 2
    done = (await api.get(f"/v1/namespaces/ada/jobs/{failed['id']}")).json()
    assert (done["state"], done["error"], done["attempts"]) == ("succeeded", None, 1)
    assert done["usage"]["embedder"]["calls"] > 3, "what the failed tries used counts too"
    assert (await _ready(api))["embedder"] == "ok"


async def test_a_cause_never_quotes_memory(api: Api, built: Container, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "app")
    _faults(built).fail(RuntimeError(f"cannot embed {FACTS[0]!r}"))
    await _post(api)
    async with runner(built, *_quick(built)):
        async with asyncio.timeout(WAIT):
            while not (failed := await api.all("/v1/namespaces/ada/jobs", state="failed")):
                await asyncio.sleep(0.02)
    error = failed[0]["error"]
    assert (error["code"], error["detail"], failed[0]["attempts"]) == ("internal", "RuntimeError", 1)
    assert error["where"].startswith("strike:")
    assert "peanuts" not in str(failed)
    assert "peanuts" not in caplog.text
    for probe in ("/health/ready", "/metrics"):
        assert "peanuts" not in (await api.get(probe)).text


async def test_probes_do_not_call_the_model_each_time(api: Api, built: Container) -> None:
    faults = _faults(built)
    for _ in range(5):
        assert (await _ready(api))["embedder"] == "ok"
    assert faults.calls == 1, "nothing was known, so one small call was made"
    faults.fail(ProviderUnavailable("down"))
    assert (await _ready(api))["embedder"] == "ok", "that is not known yet"
    _watch(built, recent_seconds=0)
    assert (await _ready(api))["embedder"] == "failing"
    faults.mend()
    await asyncio.gather(*(_ready(api) for _ in range(3)))
    assert (await _ready(api))["embedder"] == "ok"


async def test_a_model_that_hangs_is_failing_and_does_not_hold_the_probe(api: Api, built: Container) -> None:
    _watch(built, recent_seconds=0, probe_seconds=0.1)
    _faults(built).hang()
    assert (await _ready(api))["embedder"] == "failing"


async def test_cancelling_a_job_that_hangs_frees_its_namespace(api: Api, built: Container) -> None:
    faults = _faults(built)
    faults.hang()
    posted = (await _post(api)).json()
    async with runner(built, *_quick(built), heartbeat_seconds=0.05):
        await until(lambda: faults.calls)
        path = f"/v1/namespaces/ada/jobs/{posted['job']}"
        assert (await api.get(path)).json()["state"] == "running"
        assert_problem(await api.post(f"{path}/retry"), 409)
        assert (await api.post(f"{path}/cancel")).json()["state"] == "cancelled"
        faults.mend()
        await _post(api, FACTS[1])
        await api.settle("ada")  # the next job runs although the first one never came back
        assert (await api.get(path)).json()["state"] == "cancelled"
    assert len((await assert_whole(api, "ada"))["statements"]) == 2


async def test_a_cancelled_job_that_is_retried_while_it_still_runs_is_done_once(api: Api, built: Container) -> None:
    await _post(api)
    ada = await namespace_id(built, "ada")
    begun, go_on = asyncio.Event(), asyncio.Event()
    ran: list[int] = []

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        ran.append(attempt.job.attempts)
        begun.set()
        if len(ran) == 1:
            await go_on.wait()
        return {"try": len(ran)}

    [one] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(built, JobKind(Step.MAINTAIN, run), JobKind(Step.SEGMENT, run), heartbeat_seconds=0.05):
        await begun.wait()
        for id_ in [found.id for found in await built.services.work.page("ada", JobState.RUNNING, None, 1)]:
            await built.services.work.cancel("ada", id_)
            assert (await built.services.work.retry("ada", id_)).state is JobState.QUEUED
            go_on.set()
            [found] = await settled(built, ada, [id_])
            assert (found.state, found.attempts) == (JobState.SUCCEEDED, 1)
        await settled(built, ada, [one])
    assert (await job(built, ada, one)).state is JobState.SUCCEEDED
