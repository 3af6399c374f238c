"""What is used of the models: counted by stage on jobs and answers, summed by namespace, and never twice."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from app.container import Container, build
from app.domain.chat import Prompt, Stage
from app.domain.errors import ProviderUnavailable, UnusableReply
from app.domain.jobs import Attempt, JobState, Step
from app.jobs.registry import JobKind, Retry
from app.providers.scripted import ScriptedEmbedder
from app.providers.scripted_chat import ScriptedChat
from app.services.spending import spending
from app.settings import ModelSettings, Settings
from tests.conftest import WAIT, Api
from tests.integration.faults import no_database
from tests.integration.support import (
    enqueue,
    job,
    kinds,
    namespace_id,
    over_http,
    post,
    rows,
    runner,
    settled,
    status,
)

SOON = Retry(attempts=3, first_delay=timedelta(0))
WRITE = Prompt(Stage.STATEMENTS, "1", "Write.", "I moved to Lisbon.", schema=None, max_tokens=50)
Numbers = Mapping[str, Any]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"chat": "scripted", "models": ModelSettings(attempts=1, job_tokens=500)})


@pytest.fixture
async def api(built: Container, settings: Settings) -> AsyncIterator[Api]:
    async with over_http(built, settings) as client:
        yield client


def _chat(built: Container) -> ScriptedChat:
    assert built.chat is not None
    assert isinstance(built.chat.inner, ScriptedChat)
    return built.chat.inner


def _writing(built: Container, retry: Retry = SOON, calls: int = 1) -> JobKind:
    """A job that asks the language model, and fails if that does."""

    async def run(_: Attempt) -> Mapping[str, Any]:
        assert built.chat is not None
        for _ in range(calls):
            await built.chat.reply(WRITE)
        return {}

    return JobKind(Step.MAINTAIN, run, retry)


def _counts(used: Mapping[str, Numbers]) -> dict[str, tuple[int, ...]]:
    """Calls, texts, tokens in and out, by stage."""
    names = ("calls", "texts", "tokens_in", "tokens_out")
    return {stage: tuple(numbers[name] for name in names) for stage, numbers in used.items()}


async def test_a_namespace_sums_what_its_jobs_used(built: Container, api: Api) -> None:
    await post(built, "ada", "I moved to Lisbon last week.", "I like peanuts.")
    assert (await status(api, "ada"))["usage"] == {}
    assert isinstance(built.embedder.inner, ScriptedEmbedder)
    built.embedder.inner.faults.fail(ProviderUnavailable("down"), times=1)
    await enqueue(built, await namespace_id(built, "ada"), "a", kind=Step.MAINTAIN)
    quick = [JobKind(kind.step, kind.run, SOON) for kind in kinds(built).values() if kind.step is not Step.MAINTAIN]
    async with runner(built, *quick, _writing(built)):
        await built.services.flush.flush("ada", None, WAIT)
    jobs = await api.all("/v1/namespaces/ada/jobs")
    assert max(found["attempts"] for found in jobs) == 2, "one was tried again"
    by_jobs: dict[str, tuple[int, ...]] = {}
    for found in jobs:
        for stage, counts in _counts(found["usage"] or {}).items():
            by_jobs[stage] = tuple(map(sum, zip(by_jobs.get(stage, (0, 0, 0, 0)), counts, strict=True)))
    summed = (await status(api, "ada"))["usage"]
    assert _counts(summed) == by_jobs
    assert by_jobs.keys() >= {"embedder", "statements"}
    assert {numbers["model"] for numbers in summed.values()} == {"scripted"}
    assert all(numbers["seconds"] > 0 for numbers in summed.values())


async def test_failed_tries_count_and_stay_counted_after_a_retry(built: Container, api: Api) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    ada = await namespace_id(built, "ada")
    _chat(built).faults.fail(UnusableReply("rubbish"))
    [made] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(built, _writing(built), JobKind(Step.SEGMENT, _nothing)):
        [found] = await settled(built, ada, [made])
        assert (found.state, found.failures, (found.error or {})["code"]) == (JobState.FAILED, 2, "unusable_reply")
        assert (await status(api, "ada"))["usage"]["statements"]["calls"] == 3
        _chat(built).faults.mend()
        await built.services.work.retry("ada", made)
        await settled(built, ada, [made])
    assert (await status(api, "ada"))["usage"]["statements"]["calls"] == 4
    assert ((await job(built, ada, made)).usage or {})["statements"]["calls"] == 4


async def _nothing(_: Attempt) -> Mapping[str, Any]:
    return {}


async def test_what_a_cancelled_job_used_was_used(built: Container, api: Api) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    ada = await namespace_id(built, "ada")
    begun = asyncio.Event()

    async def run(_: Attempt) -> Mapping[str, Any]:
        assert built.chat is not None
        await built.chat.reply(WRITE)
        begun.set()
        return await asyncio.get_running_loop().create_future()

    [made] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(
        built, JobKind(Step.MAINTAIN, run), JobKind(Step.SEGMENT, _nothing), heartbeat_seconds=0.05
    ) as worker:
        await begun.wait()
        await built.services.work.cancel("ada", made)
        async with asyncio.timeout(WAIT):
            while not (used := (await status(api, "ada"))["usage"]):
                await asyncio.sleep(0.02)
        worker.stop()
    assert used["statements"]["calls"] == 1


async def test_usage_is_counted_once_although_the_database_was_away(built: Container, settings: Settings) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    ada = await namespace_id(built, "ada")
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def run(_: Attempt) -> Mapping[str, Any]:
        assert built.chat is not None
        await built.chat.reply(WRITE)
        asked.set()
        await go_on.wait()
        return {}

    [made] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(built, JobKind(Step.MAINTAIN, run), JobKind(Step.SEGMENT, _nothing)):
        await asked.wait()
        async with no_database(built, settings):
            go_on.set()
            await asyncio.sleep(0.3)
        await settled(built, ada, [made])
    assert (await built.services.namespaces.status("ada")).usage["statements"]["calls"] == 1


async def test_a_job_over_its_budget_fails_with_a_clear_cause(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    ada = await namespace_id(built, "ada")
    [made] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(built, _writing(built, calls=100), JobKind(Step.SEGMENT, _nothing)):
        [found] = await settled(built, ada, [made])
    assert (found.state, found.attempts) == (JobState.FAILED, 1)
    assert found.error is not None
    assert found.error["code"] == "budget_exceeded"
    assert "of 500 tokens (XMEMORY_MODELS__JOB_TOKENS) are used" in found.error["detail"]
    used = (found.usage or {})["statements"]
    assert 500 - 57 < used["tokens_in"] + used["tokens_out"] <= 500


async def test_what_an_answer_used_is_added_without_a_new_revision(
    built: Container, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    assert built.chat is not None
    await post(built, "ada", "I moved to Lisbon last week.")
    before = await built.services.namespaces.status("ada")
    async with spending(built.storage, "ada") as meter:
        await built.embedder.embed_query("Where does Ada live?")
    assert set(meter.total) == {"embedder"}
    assert (await built.services.namespaces.status("ada")).usage == {}, "a question's vector is not worth a write"

    async def ask(fault: Exception | None = None) -> None:
        assert built.chat is not None
        async with spending(built.storage, "ada"):
            await built.chat.reply(Prompt(Stage.ANSWER, "1", "Answer.", "Where?", schema=None, max_tokens=20))
            if fault is not None:
                raise fault

    await ask()
    with pytest.raises(UnusableReply):
        await ask(UnusableReply("rubbish"))
    after = await built.services.namespaces.status("ada")
    assert after.usage["answer"]["calls"] == 2, "also where it ends in an error"
    assert after.namespace.revision == before.namespace.revision
    async with no_database(built, settings):
        await ask()
    ours = [(record.levelno, record.message) for record in caplog.records if record.name == "app.services.spending"]
    assert ours == [(logging.WARNING, "the usage of a question was not counted")]


async def test_usage_goes_with_its_namespace(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    ada = await namespace_id(built, "ada")
    made = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
    async with runner(
        built, _writing(built), JobKind(Step.SEGMENT, _nothing), JobKind(Step.FORGET, kinds(built)[Step.FORGET].run)
    ):
        await settled(built, ada, made)
        assert (await rows(built))["usage"] == 1
        receipt = (await built.services.forgetting.retire("ada")).id
        async with asyncio.timeout(WAIT):
            while (await built.services.forgetting.receipt(receipt)).state != "done":
                await asyncio.sleep(0.02)
    assert (await rows(built))["usage"] == 0
    assert (await built.services.forgetting.receipt(receipt)).erased["usage"] == 1


async def test_a_changed_model_is_named_beside_the_old_one(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon last week.")
    used = {"calls": 1, "tokens_in": 10, "tokens_out": 5, "seconds": 0.5}
    async with built.storage.write("ada") as unit:
        await unit.usage.add({"label": {"model": "a" * 300, **used}})
        await unit.usage.add({"label": {"model": "b", **used}})
        await unit.usage.add({"label": {"model": "b", **used}})
        await unit.commit(revises_memory=False)
    found = (await built.services.namespaces.status("ada")).usage["label"]
    assert found == {
        "model": f"{'a' * 200}, b", "calls": 3, "texts": 0, "tokens_in": 30, "tokens_out": 15, "seconds": 1.5,
    }  # fmt: skip


# Health ------------------------------------------------------------------------------------------------------


async def test_a_language_model_is_looked_at_and_named(built: Container, api: Api) -> None:
    assert built.chat is not None
    ready = await api.get("/health/ready")
    assert ready.json()["checks"]["chat"] == "ok"
    version = (await api.get("/version")).json()
    assert (version["chat"], version["chat_model"], version["chat_revision"]) == ("scripted", "scripted", "1")
    assert (version["settings"]["admit_mode"], version["settings"]["segment_mode"]) == ("direct", "model")
    _chat(built).faults.fail(ProviderUnavailable("down"))
    with pytest.raises(ProviderUnavailable):
        await built.chat.reply(WRITE)
    ready = await api.get("/health/ready")
    assert (ready.status_code, ready.json()["status"], ready.json()["checks"]["chat"]) == (200, "ok", "failing")
    shown = (await api.get("/metrics")).text
    assert 'xmemory_chat_calls_total{outcome="failed",stage="statements"} 1.0' in shown
    assert 'xmemory_model_circuit_open{model="chat"} 0.0' in shown


async def test_a_service_starts_although_its_models_are_down(settings: Settings) -> None:
    nowhere = {"chat": "openai", "chat_model": "some", "chat_base_url": "http://127.0.0.1:9/v1"}
    async with build(settings.model_copy(update=nowhere)) as built, over_http(built, settings) as api:
        ready = await api.get("/health/ready")
        assert (ready.status_code, ready.json()["checks"]["chat"]) == (200, "failing")
        assert (await api.get("/version")).json()["chat_model"] == "some"
        await post(built, "ada", "I moved to Lisbon last week.")
        ada = await namespace_id(built, "ada")
        [made] = await enqueue(built, ada, "a", kind=Step.MAINTAIN)
        waits = Retry(attempts=3, first_delay=timedelta(minutes=1))
        async with runner(built, _writing(built, waits), JobKind(Step.SEGMENT, _nothing)):
            found = await job(built, ada, made)
            while found.error is None:
                await asyncio.sleep(0.02)
                found = await job(built, ada, made)
        assert (found.state, found.error["code"]) == (JobState.QUEUED, "provider_unavailable")
