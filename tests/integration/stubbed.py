"""The stub endpoint on a free port of this machine, in this process, and models that speak to it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn

from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.providers.chat_openai import OpenAIChat, open_chat
from app.providers.embeddings_openai import OpenAIEmbedder, open_embedder
from app.providers.endpoint import Patience
from app.providers.specs import ChatSpec, EmbedderSpec
from app.stub.application import Calls, create_stub
from app.stub.faults import Kind, Plan

KEY = "sk-proj-1f9c-very-secret"
SECRET = "the otter sleeps at Rosinante's"  # memory text: no error may repeat it
SCHEMA = {
    "title": "check",
    "type": "object",
    "properties": {"ready": {"type": "boolean"}, "word": {"type": "string"}},
    "required": ["ready", "word"],
}
READY = {"ready": True, "word": "ready"}  # what the scripted model says to that
PATIENCE = Patience(connect=10.0, read=1.0, discovery=30.0)  # seconds; of a test: only what hangs is waited for


@dataclass(slots=True)
class Stub:
    """A running endpoint, and what was opened to it."""

    url: str
    plan: Plan
    calls: Calls
    opened: list[OpenAIChat | OpenAIEmbedder] = field(default_factory=list)

    def chat(self, **fields: object) -> OpenAIChat:
        """A language model at the endpoint."""
        patience = fields.pop("patience", PATIENCE)
        spec = ChatSpec(**{"kind": "openai", "model": "tiny", "base_url": self.url, "api_key": KEY} | fields)
        return self._kept(open_chat(spec, patience))

    def embedder(self, name: str = "openai:tiny@16", **fields: object) -> OpenAIEmbedder:
        """An embedding model at the endpoint."""
        return self._kept(open_embedder(EmbedderSpec(name, self.url, KEY, **fields), PATIENCE))

    def _kept(self, model: OpenAIChat | OpenAIEmbedder) -> OpenAIChat | OpenAIEmbedder:
        self.opened.append(model)
        return model

    def reset(self) -> None:
        """As if it had just begun."""
        self.plan.mend()
        self.plan.retry_after, self.plan.seconds = Plan().retry_after, Plan().seconds
        for counted in (self.calls.counts, self.calls.stages, self.calls.tokens, self.calls.requests):
            counted.clear()
        while self.opened:
            self.opened.pop().close()

    @property
    def asked(self) -> int:
        """Chat and embeddings calls so far."""
        return self.calls.counts[Kind.CHAT] + self.calls.counts[Kind.EMBEDDINGS]


def question(user: str = SECRET, schema: dict | None = SCHEMA, max_tokens: int = 200) -> Prompt:
    """A prompt, by default one that wants an object of `SCHEMA`."""
    return Prompt(Stage.CHECK, "1", "Read what is said.", user, schema, max_tokens)


def checked(data: object) -> dict:
    """A reply that has the keys of `SCHEMA`."""
    if not isinstance(data, dict) or data.keys() != READY.keys():
        raise UnusableReply("the keys are others")
    return data


@asynccontextmanager
async def stubbed() -> AsyncIterator[Stub]:
    """The endpoint, for as long as the block runs."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        plan, calls = Plan(), Calls()
        config = uvicorn.Config(create_stub(plan, calls), lifespan="off", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listener]))
        stub = Stub(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", plan, calls)
        yield stub
        stub.reset()
        server.should_exit = True
        await running
