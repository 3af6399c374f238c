"""Guarded models over real HTTP, an endpoint that does everything wrong: a value, or a failure in time."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from app.domain.errors import AppError, ContextOverflow, ProviderRefused, ProviderUnavailable, UnusableReply
from app.providers.guarded import GuardedChat, GuardedEmbedder
from app.providers.structured import ask
from app.stub.faults import Fault, Kind, Plan
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT
from tests.integration.stubbed import KEY, READY, SECRET, Stub, checked, question, stubbed
from tests.unit.models import QUICK

POLICY = replace(QUICK, call_seconds=2)
BRIEF = 0.4  # seconds; of a call that will not come to an end
LONG = 3600.0  # seconds: nobody waits so long
ENDLESS = {Fault.HANG, Fault.SLOW_DRIP}
NOT_HERE = {Fault.REFUSE_DIMENSIONS}  # is no passing matter: test_openai_embeddings.py


def _of(kind: Kind) -> list[Fault]:
    """The faults that a call of this kind can meet."""
    return [fault for fault in Fault if Plan(frozenset({fault})).take(kind) and fault not in NOT_HERE]


FINAL = {
    ProviderRefused: {
        *(Fault.UNAUTHORIZED, Fault.NOT_FOUND, Fault.CONTENT_POLICY, Fault.CONTENT_FILTER, Fault.REFUSAL),
        Fault.WRONG_DIMENSION,
    },
    ContextOverflow: {
        *(Fault.OVERFLOW_OPENAI, Fault.OVERFLOW_VLLM, Fault.OVERFLOW_LLAMA_CPP, Fault.OVERFLOW_OLLAMA),
        *(Fault.TOO_LARGE,),
    },
}
HARMLESS = {  # what costs a value nothing, however long it lasts
    *(Fault.REFUSE_SCHEMA, Fault.REFUSE_BOUNDS, Fault.REFUSE_JSON, Fault.REFUSE_LOGPROBS, Fault.REFUSE_MAX_TOKENS),
    *(Fault.REFUSE_TEMPERATURE, Fault.REFUSE_SYSTEM, Fault.IGNORE_LOGPROBS),
    *(Fault.THINKING_TAGS, Fault.REASONING_ONLY, Fault.FENCED, Fault.INNER_BACKTICKS, Fault.TRAILING_COMMA),
    *(Fault.REFUSE_STREAM, Fault.IGNORE_STREAM, Fault.STUCK, Fault.ERROR_IN_STREAM),  # nothing is streamed here
}

TOLD_AT_THE_START = {Fault.REFUSE_MAX_TOKENS, Fault.REFUSE_TEMPERATURE, Fault.REFUSE_SYSTEM}


@pytest.fixture(scope="module")
async def endpoint() -> AsyncIterator[Stub]:
    async with stubbed() as running:
        yield running


@pytest.fixture
async def stub(endpoint: Stub) -> AsyncIterator[Stub]:
    endpoint.plan.seconds = 30.0
    yield endpoint
    endpoint.reset()
    await asyncio.sleep(0)  # connections are closed


def _seconds(fault: Fault) -> float:
    """Of a call."""
    return BRIEF if fault in ENDLESS else POLICY.call_seconds


async def _chat(stub: Stub, **policy: float) -> GuardedChat:
    chat = GuardedChat(stub.chat(), replace(POLICY, **policy), Metrics())
    await chat.capabilities()  # what goes wrong after the start is what we look at
    return chat


async def _said(chat: GuardedChat) -> dict:
    """A value, or an error that gives nothing away, in time."""
    async with asyncio.timeout(WAIT):
        [said] = await asyncio.gather(ask(chat, question(), checked), return_exceptions=True)
    if isinstance(said, BaseException):
        assert SECRET not in str(said)
        assert KEY not in str(said)
        raise said
    said["word"] = said["word"].rpartition("`")[2]  # one fault adds a fence of its own
    return said


def _fate(fault: Fault) -> type[AppError] | None:
    """How a call ends that meets this once."""
    return next((kind for kind, faults in FINAL.items() if fault in faults), None)


@pytest.mark.parametrize("fault", _of(Kind.CHAT))
async def test_a_fault_that_passes_costs_a_call_or_is_final(stub: Stub, fault: Fault) -> None:
    chat = await _chat(stub)
    stub.plan.then(fault)
    fate = _fate(fault)
    if fate is None:
        assert await _said(chat) == READY
    else:
        with pytest.raises(fate):
            await _said(chat)
    stub.plan.mend()
    assert await _said(chat) == READY


@pytest.mark.parametrize("fault", _of(Kind.CHAT))
async def test_a_fault_that_lasts_ends_in_a_value_or_a_failure(stub: Stub, fault: Fault) -> None:
    if fault in TOLD_AT_THE_START:
        stub.plan.always(fault)
    chat = await _chat(stub)
    chat.guard.policy = replace(POLICY, call_seconds=_seconds(fault))
    stub.plan.always(fault)
    if fault in HARMLESS:
        assert await _said(chat) == READY
    else:
        with pytest.raises(_fate(fault) or (ProviderUnavailable, UnusableReply, ProviderRefused)):
            await _said(chat)
    stub.plan.mend()
    chat.guard.policy = POLICY
    assert await _said(chat) == READY


@pytest.mark.parametrize("fault", _of(Kind.EMBEDDINGS))
async def test_vectors_are_right_or_refused(stub: Stub, fault: Fault) -> None:
    right = (await stub.embedder().embed(["one", "two", "three"])).vectors
    embedder = GuardedEmbedder(stub.embedder(), replace(POLICY, call_seconds=_seconds(fault)), Metrics())
    stub.plan.always(fault)
    if fault is Fault.SHUFFLED:
        assert ((await embedder.embed(["one", "two", "three"])).vectors == right).all()
    else:
        with pytest.raises(_fate(fault) or (ProviderUnavailable, UnusableReply, ProviderRefused)) as caught:
            await embedder.embed(["one", "two", "three"])
        assert KEY not in str(caught.value)
        assert not await embedder.is_well() or _fate(fault) is ContextOverflow
    stub.plan.mend()
    embedder.guard.policy = POLICY
    assert ((await embedder.embed(["one", "two", "three"])).vectors == right).all()
    assert await embedder.is_well()


async def test_an_endpoint_that_asks_for_a_rest_gets_it(stub: Stub) -> None:
    chat = await _chat(stub)
    stub.plan.retry_after = "1"
    stub.plan.then(Fault.RATE_LIMITED)
    begun = time.monotonic()
    assert await _said(chat) == READY
    assert time.monotonic() - begun >= 1
    stub.plan.retry_after = "600"
    stub.plan.always(Fault.RATE_LIMITED)
    with pytest.raises(ProviderUnavailable) as caught:
        await _said(chat)  # within WAIT: the job waits instead
    assert caught.value.retry_after == 600


async def test_a_slow_drip_does_not_outlive_its_time(stub: Stub) -> None:
    chat = await _chat(stub, attempts=1)
    chat.guard.policy = replace(chat.guard.policy, call_seconds=BRIEF)
    stub.plan.always(Fault.SLOW_DRIP)
    stub.plan.seconds = LONG
    with pytest.raises(ProviderUnavailable):
        await _said(chat)
    assert not await chat.is_well()


async def test_an_endpoint_that_is_down_is_left_alone(stub: Stub, time_passes: Callable[[float], None]) -> None:
    chat = await _chat(stub, opens_after=4, open_seconds=LONG)
    stub.plan.always(Fault.SERVER_ERROR)
    before = stub.asked
    outcomes = await asyncio.gather(*(_said(chat) for _ in range(8)), return_exceptions=True)
    assert all(isinstance(outcome, ProviderUnavailable) for outcome in outcomes)
    tried = stub.asked - before
    assert tried < 8 * 3
    for _ in range(20):
        with pytest.raises(ProviderUnavailable, match="in a row"):
            await _said(chat)
    assert stub.asked - before == tried
    stub.plan.mend()
    time_passes(LONG)
    assert await _said(chat) == READY
