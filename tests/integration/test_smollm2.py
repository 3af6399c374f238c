"""A real language model in this process: true log-probabilities, valid JSON, and an event loop that is never held."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from itertools import starmap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch

from app.domain.chat import Reply, Scored
from app.providers.causal.engine import Engine
from app.providers.causal.lane import Lane
from app.providers.causal.loading import Loaded, load_model
from app.providers.causal.rows import Row
from app.providers.chat_transformers import TransformersChat
from app.providers.specs import ChatSpec
from tests.unit.tiny_model import direct_logprobs, prompt

pytestmark = [pytest.mark.models, pytest.mark.slow]

LINES = "\n".join(
    [
        "Anna: I took Rex to the lake on Monday, the water was already warm.",
        "Ben: Lucky dog! I finally bought the red car, for 12000 dollars.",
        "Anna: And your new job in Porto, when does it begin?",
        "Ben: On 3 June 2024. I am learning Portuguese, it is harder than Spanish.",
    ]
)
QUESTIONS = [
    "Where did Anna take her dog?",
    "What is the dog's name?",
    "What did Ben buy?",
    "How much was the car?",
    "When does Ben's job begin?",
    "Which language is Ben learning?",
    "Who has a dog?",
    "Is Portuguese easy?",
    "What colour is the car?",
    "In which city is the job?",
]
TALK = f"These lines were said:\n{LINES}\n\n"


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _some(items: dict[str, Any], most: int, least: int = 0) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


NULLABLE = {"anyOf": [{"type": "string", "maxLength": 10}, {"type": "null"}]}
FACT = _object(
    text={"type": "string", "minLength": 1, "maxLength": 60},
    cites=_some({"type": "integer", "minimum": 1, "maximum": 4}, 2, 1),
    kind={"enum": ["event", "plan", "fact"]},
    date=NULLABLE,
)
SCHEMAS: dict[str, dict[str, Any]] = {
    "nested": _object(title={"type": "string", "maxLength": 30}, facts=_some(FACT, 2, 1)),
    "unbounded": _object(words={"type": "string"}, number={"type": "integer"}, more=_some({"type": "string"}, 2)),
    "deep": _object(a=_object(b=_some(_object(c=_some({"enum": [1, None, "x", True]}, 3)), 2, 2))),
    "defined": {
        "$defs": {"day": {"type": "string", "pattern": "^20[0-9]{2}-[01][0-9]-[0-3][0-9]$"}},
        **_object(when={"$ref": "#/$defs/day"}, sure={"type": "boolean"}, share={"type": "number", "maximum": 1}),
    },
    "odd names": _object(**{'with "quotes"': {"const": 'a\\"b'}, "größe": {"type": ["integer", "null"]}}),
}


@pytest.fixture(scope="module")
def loaded(models_folder: Path) -> Loaded:
    torch.set_num_threads(1)  # of this thread too: on two shared cores, two threads mostly wait for each other
    return load_model(ChatSpec("transformers", "smollm2-135m", device="cpu", models_folder=str(models_folder)))


@pytest.fixture
async def chat(loaded: Loaded) -> AsyncIterator[TransformersChat]:
    made = TransformersChat(loaded)
    yield made
    made.close()


async def test_log_probabilities_equal_a_direct_computation(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    rows = [
        Row(loaded.prompt("Answer briefly.", TALK + question, 20), 20, loaded.ends, scored=True)
        for question in QUESTIONS
    ]
    answers = await lane.run(rows)
    lane.close()
    assert len({said.tokens for said in answers}) > 5
    for row, said in zip(rows, answers, strict=True):
        assert said.tokens
        assert said.logprobs == pytest.approx(direct_logprobs(loaded, row.prompt, said.tokens), abs=1e-4)


async def _scores(chat: TransformersChat, *, reuse: bool) -> list[Scored]:
    chat.reuse = reuse
    async with chat.scoring("Answer briefly.", TALK * 3) as scoring:
        return list(await scoring.score(QUESTIONS[:4], max_tokens=8))


async def test_reading_the_beginning_once_changes_only_the_cost(chat: TransformersChat) -> None:
    whole, reused = await _scores(chat, reuse=False), await _scores(chat, reuse=True)
    assert [one.text for one in reused] == [other.text for other in whole]
    for one, other in zip(reused, whole, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)
    assert sum(one.tokens.read for one in reused) < 0.4 * sum(one.tokens.read for one in whole)


async def test_every_reply_follows_its_schema(chat: TransformersChat) -> None:
    async def reply(name: str, schema: dict[str, Any]) -> Reply:
        return await chat.reply(prompt(f"{TALK}Fill in the form: {name}.", schema, 240))

    replies = await asyncio.gather(*starmap(reply, SCHEMAS.items()))
    for schema, said in zip(SCHEMAS.values(), replies, strict=True):
        jsonschema.validate(json.loads(said.text), schema)


async def test_side_by_side_as_alone(chat: TransformersChat) -> None:
    prompts = [
        prompt(f"{TALK}{question}", SCHEMAS["nested"] if place == 1 else None, 24 + place)
        for place, question in enumerate(QUESTIONS[:2])
    ]
    alone = [await chat.reply(each) for each in prompts]
    assert await asyncio.gather(*map(chat.reply, prompts)) == alone


async def test_the_event_loop_is_never_held(loaded: Loaded, chat: TransformersChat) -> None:
    threads: set[int] = set()
    watch = loaded.model.register_forward_pre_hook(lambda *_: threads.add(threading.get_ident()))
    working = asyncio.create_task(chat.reply(prompt(TALK * 6, SCHEMAS["nested"], 120)))
    turns = 0
    while not working.done():
        await asyncio.sleep(0.005)
        turns += 1
    watch.remove()
    assert (await working).tokens.read > 400
    assert len(threads) > 0
    assert threading.get_ident() not in threads, "the model's steps are off the loop"
    assert turns > 10, "others had their turns meanwhile"
