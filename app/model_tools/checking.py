"""One call of each kind to every model that is configured."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np

from app import models
from app.domain.chat import Prompt, Stage
from app.domain.errors import AppError, UnusableReply
from app.domain.pieces import Piece
from app.domain.vectors import Matrix
from app.prompts import boundary
from app.providers.build import build_chat, build_embedder
from app.providers.protocols import ChatModel, Embedder
from app.providers.specs import EmbedderSpec
from app.providers.structured import ask
from app.settings import Settings

T = TypeVar("T")

WORDS = ("The cat sleeps on the warm roof.", "Der Zug fährt um neun Uhr ab.")
QUESTION = Prompt(
    Stage.CHECK, "1", "You answer in a few words.", "What is the capital of France?", schema=None, max_tokens=32
)
TALK = (
    "Ann: The cat sleeps on the roof again.",
    "Ben: She likes the sun.",
    "Ann: Something else: when does your train leave tomorrow?",
    "Ben: At nine.",
)
PROBES = ("Where does the cat sleep?", "When does the train leave?")
SHOWN = 40  # characters of a reply


@dataclass(frozen=True, slots=True)
class Found:
    """How one call went. `told` is what came of it, or why nothing did."""

    model: str
    call: str
    ok: bool
    told: str
    seconds: float


async def check(settings: Settings) -> AsyncIterator[Found]:
    """What every configured model does, as it is found out. Never raises for what a model does."""
    for spec in (models.embedder_spec(settings), models.next_embedder_spec(settings)):
        if spec is not None:
            async for found in _check_embedder(spec, settings.models.embed_seconds):
                yield found
    async for found in _check_chat(settings):
        yield found


async def _check_embedder(spec: EmbedderSpec, seconds: float) -> AsyncIterator[Found]:
    loading, model = await _loaded(spec.name, lambda: build_embedder(spec))
    if model is None:
        yield loading
        return
    try:
        yield replace(loading, told=f"{model.profile}, reads {model.max_tokens} tokens")
        yield await _tried(spec.name, "embed texts", lambda: _embed(model), seconds)
        yield await _tried(spec.name, "embed a question", lambda: _embed_query(model), seconds)
    finally:
        model.close()


async def _embed(model: Embedder) -> str:
    return _of_length_one((await model.embed(WORDS)).vectors, (len(WORDS), model.profile.dimension))


async def _embed_query(model: Embedder) -> str:
    return _of_length_one((await model.embed_query(WORDS[0])).vector, (model.profile.dimension,))


def _of_length_one(vectors: Matrix, shape: tuple[int, ...]) -> str:
    if vectors.shape != shape or not np.allclose(np.linalg.norm(vectors, axis=-1), 1.0, atol=1e-3):
        raise UnusableReply(f"vectors of shape {vectors.shape}, wanted {shape}, of length 1")
    return "1 vector" if len(shape) == 1 else f"{shape[0]} vectors"


async def _check_chat(settings: Settings) -> AsyncIterator[Found]:
    spec = models.chat_spec(settings)
    if spec.kind == "extractive":
        yield Found("extractive", "-", ok=True, told="no language model is configured", seconds=0.0)
        return
    name = spec.model or spec.kind
    loading, model = await _loaded(name, lambda: build_chat(spec))
    if model is None:
        yield loading
        return
    try:
        yield replace(loading, told=f"{model.name}@{model.revision}")
        async for found in _check_calls(name, model, settings.models.chat_seconds):
            yield found
    finally:
        model.close()


async def _check_calls(name: str, model: ChatModel, seconds: float) -> AsyncIterator[Found]:
    found = await _tried(name, "capabilities", lambda: _described(model), seconds)
    yield found
    if not found.ok:
        return
    able = await model.capabilities()  # kept since the first time
    yield await _tried(name, "reply in words", lambda: _reply(model), seconds)
    yield await _tried(name, "reply in JSON", lambda: _structured(model), seconds)
    if able.logprobs:
        yield await _tried(name, "log-probabilities", lambda: _scores(model), seconds)


async def _described(model: ChatModel) -> str:
    able = await model.capabilities()
    has = [
        f"JSON by {able.structured}",
        "log-probabilities" if able.logprobs else "no log-probabilities",
        *(["prefix reuse"] if able.prefix_reuse else []),
        f"window {able.context_tokens:,} tokens",
    ]
    return ", ".join(has)


async def _reply(model: ChatModel) -> str:
    reply = await model.reply(QUESTION)
    if not reply.text.strip():
        raise UnusableReply("an empty reply")
    return f"“{' '.join(reply.text.split())[:SHOWN]}”, {reply.tokens.written} tokens, {reply.finish}"


async def _structured(model: ChatModel) -> str:
    now = datetime.now(UTC)
    prompt = boundary.render([Piece(number, text, now) for number, text in enumerate(TALK, 1)])
    return f"follows the schema: begins {await ask(model, prompt, boundary.parse)}"


async def _scores(model: ChatModel) -> str:
    async with model.scoring(QUESTION.system, "\n".join([*TALK, ""])) as scoring:
        scores = await scoring.score(PROBES)
    if not all(score.logprobs for score in scores):
        raise UnusableReply("an answer without log-probabilities")
    return "uncertainty " + " and ".join(f"{score.uncertainty:.2f}" for score in scores) + " nats a token"


async def _loaded(name: str, build: Callable[[], T | None]) -> tuple[Found, T | None]:
    made: list[T | None] = [None]

    async def load() -> str:
        made[0] = await asyncio.to_thread(build)
        return ""

    found = await _tried(name, "load", load, None)
    return found, made[0]


async def _tried(model: str, call: str, work: Callable[[], Awaitable[str]], seconds: float | None) -> Found:
    begun = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            told, ok = await work(), True
    except TimeoutError:
        told, ok = f"nothing came in {seconds:g} seconds", False
    except AppError as error:
        told, ok = f"{error.code}: {error}", False
    return Found(model, call, ok, told, time.monotonic() - begun)
