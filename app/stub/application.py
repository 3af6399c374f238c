"""The endpoint: `/v1/models`, `/v1/chat/completions`, `/v1/embeddings`; `/faults` and `/calls` steer and watch it."""

import time
from collections import Counter, deque
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from app.domain.chat import Prompt, Reply, Scored, Stage, Tokens
from app.domain.errors import ContextOverflow
from app.providers.embeddings_openai import DIMENSIONS
from app.providers.schemas import schema_in
from app.providers.scripted import DIMENSION, ScriptedEmbedder
from app.providers.scripted_chat import WINDOW, ScriptedChat
from app.stub.breakage import broken, delivered, error, json_response, refused
from app.stub.faults import Fault, Kind, Plan, Unsteady
from app.stub.streaming import streamed
from app.stub.twists import choice, twist_text, twist_vectors

MODEL = "scripted"
REPLY_TOKENS = 1024  # of a request that sets no limit
KEPT_REQUESTS = 1000  # of the newest calls, for tests in the same process


class Message(BaseModel):
    """One message of a chat request."""

    role: str
    content: str


class ChatRequest(BaseModel):
    """What is read of a chat request; the rest is accepted and has no effect."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[Message]
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    response_format: dict[str, Any] | None = None
    logprobs: bool = False
    stream: bool = False


class EmbeddingsRequest(BaseModel):
    """What is read of an embeddings request."""

    model_config = ConfigDict(extra="allow")

    model: str
    input: str | list[str]
    dimensions: int | None = Field(None, ge=2)


class Instability(BaseModel):
    """Random faults in a share of the calls."""

    seed: int
    share: float = Field(ge=0, le=1)


class Orders(BaseModel):
    """What is to go wrong: with `repeat` at every call, else each fault once."""

    model_config = ConfigDict(extra="forbid")

    faults: list[Fault] = []
    repeat: bool = False
    retry_after: str | None = Field(None, description="Of a rate limit: seconds, or an HTTP date.")
    seconds: float | None = Field(None, ge=0, description="How long a slow drip lasts.")
    unsteady: Instability | None = None


@dataclass(slots=True)
class Calls:
    """What was asked so far."""

    counts: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    requests: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=KEPT_REQUESTS))

    def note(self, kind: str, body: Mapping[str, Any]) -> None:
        """Count a call."""
        self.counts[kind] += 1
        self.requests.append(body)

    def used(self, stage: str, tokens: Tokens) -> None:
        """Count what an answered chat call used."""
        self.stages[stage] += 1
        self.tokens.update(read=tokens.read, written=tokens.written)


def create_stub(plan: Plan | None = None, calls: Calls | None = None) -> FastAPI:
    """The endpoint as an ASGI application; `plan` and `calls` let a test in the same process steer and watch it."""
    plan, calls = plan or Plan(), calls or Calls()
    app = FastAPI(title="xMemory's scripted models", docs_url=None, redoc_url=None)
    _serve_models(app, plan, calls)
    _serve_steering(app, plan, calls)
    return app


def _serve_models(app: FastAPI, plan: Plan, calls: Calls) -> None:
    scripted = ScriptedChat()

    @app.get("/v1/models")
    async def list_models() -> dict[str, Any]:
        calls.note("models", {})
        entry = {"id": MODEL, "object": "model", "created": 0, "owned_by": "xmemory", "max_model_len": WINDOW}
        return {"object": "list", "data": [entry]}

    @app.post("/v1/chat/completions")
    async def complete_chat(asked: ChatRequest, request: Request) -> Response:
        body, faults = asked.model_dump(exclude_unset=True), plan.take(Kind.CHAT)
        calls.note(Kind.CHAT, body)
        if (wrong := refused(faults, body) or await broken(faults, plan, request, body)) is not None:
            return wrong
        try:
            payload = await _complete(scripted, asked, faults, calls)
        except ContextOverflow as overflow:
            return error(400, str(overflow), code="context_length_exceeded")
        if asked.stream and Fault.IGNORE_STREAM not in faults:
            return streamed(payload, faults, plan)
        return delivered(payload, faults, plan)

    @app.post("/v1/embeddings")
    async def embed(asked: EmbeddingsRequest, request: Request) -> Response:
        body, faults = asked.model_dump(exclude_unset=True), plan.take(Kind.EMBEDDINGS)
        calls.note(Kind.EMBEDDINGS, body)
        if (wrong := refused(faults, body) or await broken(faults, plan, request, body)) is not None:
            return wrong
        texts = [asked.input] if isinstance(asked.input, str) else asked.input
        embedder = ScriptedEmbedder(asked.dimensions or DIMENSIONS.get(asked.model, DIMENSION))
        vectors = (await embedder.embed(texts)).vectors.tolist()
        payload = {"object": "list", "model": asked.model, "data": twist_vectors(vectors, faults)}
        return delivered(payload | {"usage": {"prompt_tokens": 0, "total_tokens": 0}}, faults, plan)


def _serve_steering(app: FastAPI, plan: Plan, calls: Calls) -> None:
    @app.post("/faults")
    async def order_faults(orders: Orders) -> dict[str, Any]:
        (plan.always if orders.repeat else plan.then)(*orders.faults)
        plan.retry_after = plan.retry_after if orders.retry_after is None else orders.retry_after
        plan.seconds = plan.seconds if orders.seconds is None else orders.seconds
        if orders.unsteady is not None:
            plan.unsteady = Unsteady(orders.unsteady.seed, orders.unsteady.share)
        return _told(plan)

    @app.get("/faults")
    async def read_faults() -> dict[str, Any]:
        return _told(plan)

    @app.delete("/faults")
    async def mend_faults() -> dict[str, Any]:
        plan.mend()
        return _told(plan)

    @app.get("/calls")
    async def count_calls() -> Response:
        return json_response({**calls.counts, "stages": calls.stages, "tokens": calls.tokens})


def _told(plan: Plan) -> dict[str, Any]:
    return {"always": sorted(plan.lasting), "waiting": list(plan.waiting), "unsteady": plan.unsteady is not None}


async def _complete(scripted: ScriptedChat, asked: ChatRequest, faults: Set[Fault], calls: Calls) -> dict[str, Any]:
    prompt = _prompt(asked)
    reply: Reply | Scored
    logprobs: dict[str, Any] = {}
    if asked.logprobs and Fault.IGNORE_LOGPROBS not in faults:
        reply = await _scored(scripted, prompt)
        logprobs = {"logprobs": {"content": _token_entries(reply)}}
    else:
        reply = await scripted.reply(prompt)
    calls.used((prompt.schema or {}).get("title", "text"), reply.tokens)
    text = twist_text(reply.text, prompt.schema, faults)
    usage = {
        "prompt_tokens": reply.tokens.read,
        "completion_tokens": reply.tokens.written,
        "total_tokens": reply.tokens.read + reply.tokens.written,
    }
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [] if Fault.NO_CHOICES in faults else [choice(text, faults) | logprobs],
        "usage": usage,
    }


def _prompt(asked: ChatRequest) -> Prompt:
    """What was asked; the schema is in the request, or in the prompt where our own client puts it."""
    told = "\n".join(message.content for message in asked.messages if message.role == "system")
    said = "\n".join(message.content for message in asked.messages if message.role != "system")
    given = (asked.response_format or {}).get("json_schema", {}).get("schema")
    schema = given or schema_in(told) or schema_in(said)
    limit = asked.max_completion_tokens or asked.max_tokens or REPLY_TOKENS
    return Prompt(Stage.CHECK, "1", told, said, schema, limit)


async def _scored(scripted: ScriptedChat, prompt: Prompt) -> Scored:
    prefix, end, probe = prompt.user.rpartition("\n")
    async with scripted.scoring(prompt.system, prefix + end) as scoring:
        [scored] = await scoring.score([probe], prompt.max_tokens)
    return scored


def _token_entries(scored: Scored) -> list[dict[str, Any]]:
    tokens = scored.text.split()
    return [
        {"token": token, "logprob": logprob, "bytes": None, "top_logprobs": []}
        for token, logprob in zip(tokens, scored.logprobs, strict=True)
    ]
