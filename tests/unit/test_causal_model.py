"""A causal model in this process, on tiny models: side by side as alone, from a shared beginning as from the start."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedConfig

from app.domain.chat import Finish, Scored
from app.domain.errors import ContextOverflow, ProviderRefused, ProviderUnavailable
from app.providers.causal.engine import MOST_ROWS, Engine
from app.providers.causal.lane import Lane
from app.providers.causal.loading import Loaded
from app.providers.causal.rows import Row
from app.providers.chat_transformers import TransformersChat
from tests.unit import tiny_model
from tests.unit.tiny_model import prompt

CONFIGS = {"llama": tiny_model.LLAMA, "sliding": tiny_model.SLIDING, "gpt2": tiny_model.LEARNED_PLACES}
TEXTS = ["the cat", "an inner thing, then another", "er", "the the the the " * 6, "then 12 ants", "x", "in", "her hat"]
SCHEMA = {
    "title": "check",
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "items": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    },
    "required": ["name", "items"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module", params=CONFIGS)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    config: PreTrainedConfig = CONFIGS[request.param]
    return tiny_model.load(tiny_model.write(tmp_path_factory.mktemp("model"), config))


@pytest.fixture
async def chat(loaded: Loaded) -> AsyncIterator[TransformersChat]:
    made = TransformersChat(loaded)
    yield made
    made.close()


async def test_side_by_side_as_alone(chat: TransformersChat) -> None:
    prompts = [prompt(text, SCHEMA if place % 2 else None, 30 + 9 * place) for place, text in enumerate(TEXTS)]
    alone = [await chat.reply(each) for each in prompts]
    assert await asyncio.gather(*map(chat.reply, prompts)) == alone
    assert len({reply.text for reply in alone}) > 1


async def test_a_reply_is_heard_while_it_is_written(chat: TransformersChat) -> None:
    for schema in (None, SCHEMA):
        heard: list[str] = []
        reply = await chat.reply(prompt(TEXTS[1], schema, 30), heard.append)
        assert len(heard) > 3
        assert [len(text) for text in heard] == sorted(len(text) for text in heard)
        assert all(heard[-1].startswith(text) for text in heard)
        if reply.finish is Finish.STOP:
            assert reply.text == heard[-1]


async def test_who_comes_late_joins_those_at_work(loaded: Loaded) -> None:
    engine = Engine(loaded.model, loaded.device)
    alone = Lane(engine, 1)
    rows = [_row(loaded, text, 60) for text in TEXTS]
    [first] = await alone.run([_row(loaded, TEXTS[0], 60)])
    together = [asyncio.create_task(alone.run([row])) for row in rows[:2]]
    while len(rows[0].said) < 3:
        await asyncio.sleep(0)
    together += [asyncio.create_task(alone.run([row])) for row in rows[2:]]
    results = [said for [said] in await asyncio.gather(*together)]
    assert results[0].tokens == first.tokens
    assert results[0].logprobs == pytest.approx(first.logprobs, abs=1e-5)
    assert [len(said.tokens) for said in results] == [60] * len(TEXTS)
    await _at_rest(engine)
    alone.close()


async def _at_rest(engine: Engine) -> None:
    while engine.rows:
        await asyncio.sleep(0.001)


def _row(loaded: Loaded, text: str, max_tokens: int) -> Row:
    return Row(loaded.prompt("", text, max_tokens), max_tokens, frozenset(), scored=True)


async def _scores(chat: TransformersChat, prefix: str, probes: list[str], *, reuse: bool) -> list[Scored]:
    chat.reuse = reuse
    async with chat.scoring("Be brief.", prefix) as scoring:
        return [*await scoring.score(probes), *await scoring.score(probes[:1], max_tokens=5)]


@pytest.mark.parametrize("prefix", ["the ants of an inn and the " * 4, "x", "", "ends in th"])
async def test_reuse_changes_nothing(chat: TransformersChat, prefix: str) -> None:
    probes = ["e cat", "an inner thing, then", "", *TEXTS]
    reused = await _scores(chat, prefix, probes, reuse=True)
    whole = await _scores(chat, prefix, probes, reuse=False)
    assert len(reused) == len(probes) + 1
    assert len(reused) > MOST_ROWS
    for one, other in zip(reused, whole, strict=True):
        assert one.text == other.text
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)
    assert sum(one.tokens.read for one in reused) <= sum(other.tokens.read for other in whole)


async def test_log_probabilities_are_those_of_a_plain_pass(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    rows = [_row(loaded, text, 20) for text in TEXTS]
    for row, said in zip(rows, await lane.run(rows), strict=True):
        direct = tiny_model.direct_logprobs(loaded, row.prompt, said.tokens)
        assert said.logprobs == pytest.approx(direct, abs=1e-5)
    lane.close()


async def test_what_was_read_first_is_never_changed(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    prefix = await lane.read(loaded.beginning("", "the ants"))
    before = [layer.keys.clone() for layer in prefix.cache.layers]
    prompts = [loaded.prompt("", "the ants" + text, 9) for text in TEXTS]
    await lane.run([Row(each, 9, frozenset(), prefix=prefix, shared=prefix.shared_with(each)) for each in prompts])
    assert all(torch.equal(layer.keys, old) for layer, old in zip(prefix.cache.layers, before, strict=True))
    lane.close()


async def test_who_stops_waiting_is_dropped(loaded: Loaded) -> None:
    engine = Engine(loaded.model, loaded.device)
    lane = Lane(engine, 1)
    rows = [_row(loaded, text, 900) for text in TEXTS[:3]]
    running = [asyncio.create_task(lane.run([row])) for row in rows]
    while not rows[2].said:
        await asyncio.sleep(0)
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    await _at_rest(engine)
    assert all(len(row.said) < 900 for row in rows)
    assert len(await lane.run([_row(loaded, "x", 4)])) == 1
    lane.close()


async def test_more_than_fit_wait(loaded: Loaded) -> None:
    engine = Engine(loaded.model, loaded.device)
    lane = Lane(engine, 1)
    rows = [_row(loaded, text, 40) for text in TEXTS * 3]
    running = asyncio.create_task(lane.run(rows))
    most = 0
    while not running.done():
        most = max(most, len(engine.rows))
        await asyncio.sleep(0)
    assert 1 < most <= MOST_ROWS
    assert {len(said.tokens) for said in await running} == {40}
    lane.close()


async def test_a_prompt_fits_into_the_window_with_its_reply(chat: TransformersChat) -> None:
    window = (await chat.capabilities()).context_tokens
    assert window == tiny_model.WINDOW
    frame = 2 + 2 + len("Be brief.")
    room = window - frame - 40
    assert (await chat.reply(prompt("x" * (room - 4)))).tokens.read <= window - 40
    with pytest.raises(ContextOverflow):
        await chat.reply(prompt("x" * (room + 1)))
    with pytest.raises(ContextOverflow):
        async with chat.scoring("", "x" * window):
            pass
    async with chat.scoring("", "x" * (room - 4)) as scoring:
        with pytest.raises(ContextOverflow):
            await scoring.score(["y", "y" * 100])


async def test_a_closed_model_says_so(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    row = _row(loaded, "the", 900)
    waiting = asyncio.create_task(lane.run([row, _row(loaded, "the", 900)]))
    while not row.said:
        await asyncio.sleep(0)
    lane.close()
    with pytest.raises(ProviderUnavailable):
        await waiting
    with pytest.raises(ProviderUnavailable):
        await lane.run([_row(loaded, "the", 9)])
    with pytest.raises(ProviderUnavailable):
        await lane.read([1])


async def test_a_failure_of_torch_costs_only_what_was_at_work(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    for broken in ([0.5, 0.5], [0.5]):  # no tokens
        with pytest.raises(ProviderUnavailable, match="RuntimeError"):
            await lane.run([Row(broken, 5, frozenset())])  # type: ignore[arg-type]
        with pytest.raises(ProviderUnavailable, match="RuntimeError"):
            await lane.read(broken)  # type: ignore[arg-type]
    assert await lane.run([_row(loaded, "the", 4)])
    lane.close()


async def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    loaded = tiny_model.load(tiny_model.write(tmp_path))
    with torch.no_grad():
        loaded.model.lm_head.weight.fill_(float("nan"))
    chat = TransformersChat(loaded)
    with pytest.raises(ProviderRefused, match="CHAT_DTYPE"):
        await chat.reply(prompt("the"))
    chat.close()


async def test_a_schema_that_cannot_be_held_is_refused(chat: TransformersChat) -> None:
    with pytest.raises(ProviderRefused, match="schema"):
        await chat.reply(prompt("the", {"type": "array", "uniqueItems": True}))


async def test_even_noise_follows_a_schema(chat: TransformersChat) -> None:
    for text in TEXTS:
        reply = await chat.reply(prompt(text, SCHEMA, 120))
        data = json.loads(reply.text)
        assert list(data) == ["name", "items"]
        assert len(data["name"]) <= 12
        assert all(type(number) is int for number in data["items"])
        assert reply.finish is Finish.STOP
