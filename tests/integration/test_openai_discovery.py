"""What an OpenAI-compatible endpoint can do is found out over real HTTP: once, together, and again if it failed."""

import asyncio
from dataclasses import replace

import pytest

from app.domain.errors import ProviderRefused, ProviderUnavailable
from app.providers.protocols import Structured
from app.providers.structured import ask
from app.stub.faults import Fault, Kind
from tests.integration.stubbed import PATIENCE, READY, Stub, checked, question


async def test_discovery_is_made_once_and_shared(stub: Stub) -> None:
    chat = stub.chat()
    found = await asyncio.gather(*(chat.capabilities() for _ in range(10)))
    assert len(set(found)) == 1
    assert found[0].structured is Structured.SCHEMA
    assert found[0].logprobs
    assert found[0].context_tokens == 8192 - 1024
    assert stub.calls.counts == {"models": 1, Kind.CHAT: 3}
    await asyncio.gather(*(chat.reply(question()) for _ in range(3)))
    assert stub.calls.counts[Kind.CHAT] == 6


async def test_who_gives_up_waiting_does_not_end_the_discovery_of_others(stub: Stub) -> None:
    chat = stub.chat()
    first, second = asyncio.create_task(chat.capabilities()), asyncio.create_task(chat.capabilities())
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).logprobs
    assert stub.calls.counts["models"] == 1


@pytest.mark.parametrize(
    ("faults", "structured", "logprobs"),
    [
        ({Fault.REFUSE_SCHEMA}, Structured.JSON, True),
        ({Fault.IGNORE_SCHEMA}, Structured.JSON, True),
        ({Fault.REFUSE_BOUNDS}, Structured.SCHEMA, True),
        ({Fault.REFUSE_SCHEMA, Fault.REFUSE_JSON}, Structured.PLAIN, True),
        ({Fault.REFUSE_LOGPROBS}, Structured.SCHEMA, False),
        ({Fault.IGNORE_LOGPROBS}, Structured.SCHEMA, False),
        ({Fault.THINKING_TAGS}, Structured.SCHEMA, False),
        ({Fault.REASONING_ONLY}, Structured.SCHEMA, False),
        ({Fault.REFUSE_MAX_TOKENS, Fault.REFUSE_TEMPERATURE}, Structured.SCHEMA, True),
        ({Fault.REFUSE_SYSTEM}, Structured.SCHEMA, True),
        ({Fault.REFUSE_SCHEMA, Fault.REFUSE_JSON, Fault.REFUSE_SYSTEM}, Structured.PLAIN, True),
    ],
)
async def test_what_an_endpoint_lacks_is_found_out(
    stub: Stub, faults: set[Fault], structured: Structured, *, logprobs: bool
) -> None:
    stub.plan.always(*faults)
    chat = stub.chat()
    found = await chat.capabilities()
    assert (found.structured, found.logprobs) == (structured, logprobs)
    stub.plan.always(*faults - {Fault.IGNORE_SCHEMA})
    asked = stub.asked
    assert await ask(chat, question(), checked) == READY
    assert stub.asked == asked + 1


async def test_a_wrong_key_is_told_and_a_right_one_helps(stub: Stub) -> None:
    chat = stub.chat()
    stub.plan.always(Fault.UNAUTHORIZED)
    with pytest.raises(ProviderRefused, match="401"):
        await chat.capabilities()
    stub.plan.mend()
    assert (await chat.capabilities()).logprobs


async def test_an_endpoint_that_is_not_there_is_asked_again(stub: Stub) -> None:
    chat = stub.chat()
    stub.plan.then(Fault.SERVER_ERROR)
    with pytest.raises(ProviderUnavailable):
        await chat.capabilities()
    assert (await chat.capabilities()).structured is Structured.SCHEMA


async def test_a_discovery_that_takes_too_long_ends(stub: Stub) -> None:
    stub.plan.then(Fault.SLOW_DRIP)
    stub.plan.seconds = 30
    with pytest.raises(ProviderUnavailable, match="too long"):
        await stub.chat(patience=replace(PATIENCE, discovery=0.3)).capabilities()
