"""Guarding: calls end in time, are tried again where that helps, and leave a failing model alone."""

import asyncio
import time
from collections.abc import Callable

import pytest

from app.domain.chat import Reply, Stage
from app.domain.errors import ContextOverflow, ProviderRefused, ProviderUnavailable, UnusableReply
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT
from tests.unit.models import Act, guarded, hang, prompt, shown

LONG = 3600.0  # seconds: nobody waits so long
DOWN = ProviderUnavailable("down")


async def _drip() -> Reply:
    while True:
        await asyncio.sleep(0.01)  # something arrives all the time, and never the end


# In time, and again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [hang, _drip])
async def test_no_call_outlives_its_time(act: Act) -> None:
    chat, inner = guarded(act, call_seconds=0.05, attempts=1)
    async with asyncio.timeout(WAIT):
        with pytest.raises(ProviderUnavailable, match=r"the language model took longer than 0\.05 s"):
            await chat.reply(prompt())
    assert inner.under_way == 0


async def test_an_outage_that_passes_is_not_noticed() -> None:
    chat, inner = guarded(DOWN, hang, "yes", call_seconds=1)
    assert (await chat.reply(prompt())).text == "yes"
    assert len(inner.prompts) == 3


async def test_the_last_try_tells_why() -> None:
    chat, inner = guarded(DOWN, DOWN, ProviderUnavailable("still down"), "yes")
    with pytest.raises(ProviderUnavailable, match="still down"):
        await chat.reply(prompt())
    assert len(inner.prompts) == 3


@pytest.mark.parametrize(
    "error", [ProviderRefused("wrong key"), ContextOverflow("too long"), UnusableReply("no JSON"), ValueError("a bug")]
)
async def test_what_will_not_go_better_is_not_tried_again(error: Exception) -> None:
    chat, inner = guarded(error, "yes")
    with pytest.raises(type(error), match=str(error)):
        await chat.reply(prompt())
    assert len(inner.prompts) == 1


async def test_a_model_that_asks_for_a_rest_gets_it() -> None:
    chat, _ = guarded(ProviderUnavailable("busy", retry_after=0.2), "yes", jitter=0.0)
    begun = time.monotonic()
    await chat.reply(prompt())
    assert time.monotonic() - begun >= 0.2


async def test_a_long_rest_is_left_to_the_job() -> None:
    chat, inner = guarded(ProviderUnavailable("busy", retry_after=60), "yes", patience_seconds=20)
    with pytest.raises(ProviderUnavailable, match="busy") as caught:
        await chat.reply(prompt())
    assert caught.value.retry_after == 60
    assert len(inner.prompts) == 1


async def test_delays_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []
    sleep, here = asyncio.sleep, asyncio.current_task()

    async def noted(seconds: float) -> None:
        ours = asyncio.current_task() is here  # else a server of another test, in a thread of its own
        delays.extend([seconds] if seconds and ours else [])
        await sleep(0 if ours else seconds)

    monkeypatch.setattr("app.providers.guard.asyncio.sleep", noted)
    for _ in range(20):
        chat, _ = guarded(DOWN, attempts=4, first_delay=1.0, jitter=0.5)
        with pytest.raises(ProviderUnavailable):
            await chat.reply(prompt())
    for first, expected in enumerate((1.0, 2.0, 4.0)):
        assert all(expected <= delay <= expected * 1.5 for delay in delays[first::3])
        assert len(set(delays[first::3])) > 1


# Side by side ------------------------------------------------------------------------------------------------


async def test_only_so_many_calls_at_once() -> None:
    chat, inner = guarded("yes", concurrency=3)
    await asyncio.gather(*(chat.reply(prompt()) for _ in range(12)))
    assert inner.most_under_way == 3


async def test_whoever_waits_for_another_try_does_not_stand_in_the_way() -> None:
    chat, inner = guarded(DOWN, "yes", concurrency=1, first_delay=LONG)
    first = asyncio.create_task(chat.reply(prompt()))
    while not inner.prompts:
        await asyncio.sleep(0)
    async with asyncio.timeout(WAIT):
        await chat.reply(prompt())
    assert not first.done()
    first.cancel()
    await asyncio.wait({first})


# A failing model is left alone -------------------------------------------------------------------------------


async def test_a_circuit_opens_lets_one_through_and_closes(time_passes: Callable[[float], None]) -> None:
    metrics = Metrics()
    answer = asyncio.Event()

    async def slowly() -> str:
        await answer.wait()
        return "yes"

    policy = {"attempts": 1, "opens_after": 3, "open_seconds": LONG}
    chat, inner = guarded(*[DOWN] * 4, slowly, "yes", metrics=metrics, **policy)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable, match="down"):
            await chat.reply(prompt())
    assert shown(metrics, "xmemory_model_circuit_open") == {'{model="chat"}': 1.0}
    with pytest.raises(ProviderUnavailable, match=r"failed 3 times in a row") as caught:
        await chat.reply(prompt())
    assert caught.value.retry_after is not None
    assert not await chat.is_well()
    assert len(inner.prompts) == 3, "nothing was asked of it"

    time_passes(LONG)
    with pytest.raises(ProviderUnavailable, match="down"):
        await chat.reply(prompt())  # let through, and failed: open again
    with pytest.raises(ProviderUnavailable, match="in a row"):
        await chat.reply(prompt())
    time_passes(LONG)
    trial = asyncio.create_task(chat.reply(prompt()))
    while len(inner.prompts) < 5:
        await asyncio.sleep(0)
    with pytest.raises(ProviderUnavailable, match="in a row"):
        await chat.reply(prompt())  # one at a time
    answer.set()
    assert (await trial).text == "yes"
    assert (await chat.reply(prompt())).text == "yes"
    assert shown(metrics, "xmemory_model_circuit_open") == {'{model="chat"}': 0.0}
    assert await chat.is_well()


async def test_an_open_circuit_is_not_waited_for_in_the_call() -> None:
    chat, inner = guarded(DOWN, attempts=5, opens_after=2)
    with pytest.raises(ProviderUnavailable, match="down"):
        await chat.reply(prompt())
    assert len(inner.prompts) == 2


async def test_a_cancelled_trial_lets_another_one_through(time_passes: Callable[[float], None]) -> None:
    chat, inner = guarded(DOWN, hang, "yes", attempts=1, opens_after=1, open_seconds=LONG)
    with pytest.raises(ProviderUnavailable):
        await chat.reply(prompt())
    time_passes(LONG)
    trial = asyncio.create_task(chat.reply(prompt()))
    while len(inner.prompts) < 2:
        await asyncio.sleep(0)
    trial.cancel()
    await asyncio.wait({trial})
    assert (await chat.reply(prompt())).text == "yes"


async def test_only_failures_in_a_row_count() -> None:
    chat, _ = guarded(
        DOWN, "yes", DOWN, ContextOverflow("long"), DOWN, ProviderRefused("no"), DOWN, attempts=1, opens_after=2
    )
    outcomes = [(await asyncio.gather(chat.reply(prompt()), return_exceptions=True))[0] for _ in range(7)]
    assert not any("in a row" in str(outcome) for outcome in outcomes)


# Health ------------------------------------------------------------------------------------------------------


async def test_health_is_the_last_outcome() -> None:
    chat, inner = guarded("yes", DOWN, hang, attempts=1)
    assert await chat.is_well()
    assert [asked.stage for asked in inner.prompts] == [Stage.CHECK], "nothing was known, so one small call was made"
    with pytest.raises(ProviderUnavailable):
        await chat.reply(prompt())
    assert not await chat.is_well()
    hanging = asyncio.create_task(chat.reply(prompt()))
    while len(inner.prompts) < 3:
        await asyncio.sleep(0)
    hanging.cancel()
    await asyncio.wait({hanging})
    assert not await chat.is_well(), "who asked went away: that says nothing"
    assert len(inner.prompts) == 3


async def test_many_looks_at_health_are_one_call_that_does_nothang() -> None:
    chat, inner = guarded(hang, probe_seconds=0.05)
    assert await asyncio.gather(*(chat.is_well() for _ in range(5))) == [False] * 5
    assert len(inner.prompts) == 1


@pytest.mark.parametrize(("then", "well"), [("yes", True), (ProviderRefused("wrong key"), False)])
async def test_a_refusal_is_of_one_text_or_of_all(then: Act, well: bool) -> None:
    chat, inner = guarded(ProviderRefused("no"), then)
    with pytest.raises(ProviderRefused):
        await chat.reply(prompt())
    assert await chat.is_well() is well
    assert len(inner.prompts) == 2


async def test_a_model_that_does_one_call_at_a_time_is_not_asked_while_it_works() -> None:
    chat, inner = guarded("yes", hang, recent_seconds=0, one_at_a_time=True, attempts=1)
    await chat.reply(prompt())
    working = asyncio.create_task(chat.reply(prompt()))
    while len(inner.prompts) < 2:
        await asyncio.sleep(0)
    assert await chat.is_well()
    assert len(inner.prompts) == 2
    working.cancel()
    await asyncio.wait({working})
