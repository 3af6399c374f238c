"""The whole service with its models behind an endpoint that fails: success, or a failed job with its cause."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from app.container import Container
from app.domain.jobs import JobState
from app.jobs.registry import JobKind, Retry
from app.settings import Settings
from app.stub.faults import Fault
from tests.conftest import Api
from tests.integration.stubbed import KEY, Stub, stubbed
from tests.integration.support import assert_whole, kinds, over_http, post, rest, runner

FACTS = ("My sister Ines is allergic to peanuts.", "I moved to Lisbon last week.", "My bike is called Rosinante.")
SOON = Retry(attempts=2, first_delay=timedelta(milliseconds=20))
ONE_DATABASE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # the faults are not its own

# What a fault that lasts makes of the job: None where the reply is there, only in an odd form.
OF_CHAT = {
    Fault.REFUSE_SCHEMA: None,
    Fault.REFUSE_JSON: None,
    Fault.THINKING_TAGS: None,
    Fault.REASONING_ONLY: None,
    Fault.FENCED: None,
    Fault.INNER_BACKTICKS: None,
    Fault.TRAILING_COMMA: None,
    Fault.TRUNCATED: "reply_cut_off",
    Fault.MISSING_KEYS: "unusable_reply",
    Fault.UNEXPECTED_KEY: "unusable_reply",
    Fault.SCHEMA_ECHO: "unusable_reply",
    Fault.EMPTY_REPLY: "unusable_reply",
    Fault.NO_CHOICES: "unusable_reply",
    Fault.REFUSAL: "provider_refused",
    Fault.CONTENT_FILTER: "provider_refused",
    Fault.BAD_REQUEST: "provider_rejected",
    Fault.UNAUTHORIZED: "provider_refused",
    Fault.RATE_LIMITED: "provider_unavailable",
    Fault.SERVER_ERROR: "provider_unavailable",
    Fault.CUT: "provider_unavailable",
    Fault.OVERFLOW_LLAMA_CPP: "context_overflow",
}
OF_EMBEDDINGS = {
    Fault.SHUFFLED: None,
    Fault.FEWER_VECTORS: "unusable_reply",
    Fault.NAN_VECTOR: "unusable_reply",
    Fault.WRONG_DIMENSION: "provider_refused",
    Fault.SERVER_ERROR: "provider_unavailable",
}


@pytest.fixture(scope="module")
async def servers() -> AsyncIterator[tuple[Stub, Stub]]:
    """One endpoint for the language model, one for embeddings: each fails by itself."""
    async with stubbed() as chat, stubbed() as embeddings:
        yield chat, embeddings


@pytest.fixture
async def stub(servers: tuple[Stub, Stub]) -> AsyncIterator[Stub]:
    yield servers[0]
    for server in servers:
        server.reset()


@pytest.fixture
def settings(settings: Settings, servers: tuple[Stub, Stub]) -> Settings:
    models = {"embedder": "openai:tiny@16", "chat": "openai", "chat_model": "tiny", "chat_api_key": KEY}
    urls = {"chat_base_url": servers[0].url, "embedder_base_url": servers[1].url}
    return Settings(**settings.model_dump() | models | urls, _env_file=None)


@pytest.fixture
async def api(built: Container, settings: Settings) -> AsyncIterator[Api]:
    async with over_http(built, settings) as client:
        yield client


def _quick(built: Container) -> list[JobKind]:
    return [replace(kind, retry=SOON) for kind in kinds(built).values()]


async def _settle(built: Container, api: Api) -> None:
    """Close what is open and run all jobs to their end, a good one or not."""
    async with runner(built, *_quick(built)):
        await built.services.flush.flush("ada", None, 0)
        await rest(api, "ada")


async def _failed(api: Api) -> list[dict]:
    return [job for job in await api.all("/v1/namespaces/ada/jobs") if job["state"] == JobState.FAILED]


async def test_from_messages_to_statements(api: Api, built: Container, stub: Stub) -> None:
    await post(built, "ada", *FACTS)
    await _settle(built, api)
    memory = await assert_whole(api, "ada")
    assert (len(memory["messages"]), len(memory["episodes"])) == (3, 1)
    assert len(memory["statements"]) == 3
    assert {one["made_by"]["model"] for one in memory["statements"]} == {"tiny"}
    assert stub.calls.stages["statements"] == 1
    assert await _failed(api) == []


@ONE_DATABASE
@pytest.mark.parametrize(("fault", "code"), OF_CHAT.items())
async def test_a_fault_of_the_language_model_is_seen_and_nothing_is_lost(
    api: Api, built: Container, stub: Stub, fault: Fault, code: str | None
) -> None:
    assert built.chat is not None
    await built.chat.capabilities()
    await _fails_and_recovers(api, built, stub, fault, code)


@ONE_DATABASE
@pytest.mark.parametrize(("fault", "code"), OF_EMBEDDINGS.items())
@pytest.mark.usefixtures("stub")
async def test_a_fault_of_the_embedding_model_is_seen_and_nothing_is_lost(
    api: Api, built: Container, servers: tuple[Stub, Stub], fault: Fault, code: str | None
) -> None:
    await _fails_and_recovers(api, built, servers[1], fault, code)


async def _fails_and_recovers(api: Api, built: Container, stub: Stub, fault: Fault, code: str | None) -> None:
    stub.plan.always(fault)
    await post(built, "ada", *FACTS)
    await _settle(built, api)
    failed = await _failed(api)
    assert {job["error"]["code"] for job in failed} == ({code} if code else set())
    assert not any(word in str(failed) for word in ("Ines", "Lisbon", "Rosinante", KEY))
    assert bool(await api.all("/v1/namespaces/ada/statements")) is (code is None)

    stub.plan.mend()
    for job in failed:
        assert (await api.post(f"/v1/namespaces/ada/jobs/{job['id']}/retry")).is_success
    await _settle(built, api)
    memory = await assert_whole(api, "ada")
    assert (len(memory["messages"]), len(memory["episodes"]), len(memory["statements"])) == (3, 1, 3)
    assert await _failed(api) == []
