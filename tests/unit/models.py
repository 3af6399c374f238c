"""A language model for tests of what stands around one: it says what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from app.domain.chat import Finish, Prompt, Reply, Scored, Stage, Tokens
from app.providers.guard import GuardPolicy
from app.providers.guarded import GuardedChat
from app.providers.protocols import Capabilities, Heard, Scoring, Structured
from app.telemetry.metrics import Metrics, Readings

Act = str | Exception | Reply | Callable[[], Any]
"""What one call does: says a text, raises, replies, or awaits what a function returns."""


def prompt(stage: Stage = Stage.STATEMENTS, **values: object) -> Prompt:
    fields: dict[str, Any] = {
        "version": "1",
        "system": "Be brief.",
        "user": "What was said?",
        "schema": None,
        "max_tokens": 100,
    }
    return Prompt(stage, **(fields | values))


class ActingChat:
    """Performs one act a call, the last one again and again."""

    name, revision, tokenizer = "acting", "1", "characters/4"

    def __init__(self, *acts: Act, window: int = 4096) -> None:
        self.acts = list(acts)
        self.prompts: list[Prompt] = []
        self.asked = 0
        self.under_way = self.most_under_way = 0
        self.closed = False
        self.window = window

    async def capabilities(self) -> Capabilities:
        self.asked += 1
        return Capabilities(Structured.PLAIN, logprobs=True, prefix_reuse=True, context_tokens=self.window)

    def count_tokens(self, text: str) -> int:
        return -(-len(text) // 4)

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        self.prompts.append(prompt)
        reply = await self._act()
        if heard is not None:
            heard(reply.text)
        return reply

    @asynccontextmanager
    async def scoring(self, system: str, prefix: str) -> AsyncIterator[Scoring]:
        await self._act()
        yield self

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        await self._act()
        return [Scored(probe, (-0.5,), Tokens(10, 1)) for probe in probes]

    def close(self) -> None:
        self.closed = True

    async def _act(self) -> Reply:
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(0)
            if isinstance(act, Exception):
                raise act
            said = await act() if callable(act) else act
        finally:
            self.under_way -= 1
        return said if isinstance(said, Reply) else Reply(str(said), Finish.STOP, Tokens(30, 5))


QUICK = GuardPolicy(call_seconds=30, first_delay=0.01, opens_after=100)


def guarded(*acts: Act, metrics: Metrics | None = None, **policy: float) -> tuple[GuardedChat, ActingChat]:
    """A guarded model that performs these acts, and the model inside."""
    inner = ActingChat(*acts)
    return GuardedChat(inner, replace(QUICK, **policy), metrics or Metrics()), inner


async def hang() -> Reply:
    """An act that never ends."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError


def shown(metrics: Metrics, name: str) -> dict[str, float]:
    """The samples of a metric, by their labels as they are printed."""
    lines = metrics.render(Readings()).decode().splitlines()
    found = (line.rpartition(" ") for line in lines if line.startswith(f"{name}{{"))
    return {labels.removeprefix(name): float(value) for labels, _, value in found}
