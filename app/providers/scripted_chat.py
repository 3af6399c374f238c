"""A language model's double that ships with the service: instant, deterministic, plausible, never wrong in form."""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property

from app.domain.chat import Finish, Prompt, Reply, Scored, Tokens
from app.domain.errors import ContextOverflow
from app.domain.text import TOKENIZER, count_tokens, terms
from app.providers import scripted_replies
from app.providers.protocols import Capabilities, Heard, Scoring, Structured
from app.providers.scripted import Faults

PIECE = re.compile(r"\s*\S+\s*")
WINDOW = 8192  # tokens
RUBBISH = "Certainly! As I was saying, the weather in the mountains is {lovely: this, time of year"
SURE, UNSURE = 0.05, 2.5  # nats of a token: where the prefix and the probe share words, and where they do not


class ChatFaults(Faults):
    """What goes wrong with the double."""

    def __init__(self) -> None:
        super().__init__()
        self.babbles = False
        self.stalled = False
        self._pieces: int | None = None

    def babble(self) -> None:
        """It answers, and not what was asked: every reply is rubbish."""
        self.babbles = True

    def stall(self, pieces: int) -> None:
        """Every reply stops after so many pieces, and never ends."""
        self._pieces = pieces

    def mend(self) -> None:
        """All is well again."""
        super().mend()
        self.babbles, self._pieces = False, None

    async def utter(self, pieces: int) -> None:
        """Called by the double when it has said so many pieces of a reply. `stalled` tells that it got stuck."""
        if pieces == self._pieces:
            self.stalled = True
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.stalled = False


@dataclass(frozen=True, slots=True)
class ScriptedScoring:
    """Probes after one prefix."""

    system: str
    prefix: str
    faults: ChatFaults

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        """Answers from the lines shown, and made-up log-probabilities: always the same for the same texts."""
        await self.faults.strike()
        return [self._score(probe, max_tokens) for probe in probes]

    def _score(self, probe: str, max_tokens: int) -> Scored:
        lines = [*self.prefix.splitlines(), *probe.splitlines()]
        words = scripted_replies.answer_text(probe, lines).split()[:max_tokens] or ["unknown"]
        seen, asked = set(terms(self.prefix)), set(terms(probe))
        unsure = UNSURE - (UNSURE - SURE) * len(seen & asked) / max(1, len(asked))
        logprobs = tuple(-unsure * _fraction(self.system, self.prefix, probe, str(at)) for at in range(len(words)))
        return Scored(" ".join(words), logprobs, Tokens(count_tokens(self.system + self.prefix + probe), len(words)))


class ScriptedChat:
    """Answers each stage of app/prompts, which it knows by the schema's title, from the text between the tags."""

    name = "scripted"
    revision = "1"
    tokenizer = TOKENIZER

    @cached_property
    def faults(self) -> ChatFaults:
        """What goes wrong with it."""
        return ChatFaults()

    async def capabilities(self) -> Capabilities:
        """All there is."""
        return Capabilities(Structured.SCHEMA, logprobs=True, prefix_reuse=True, context_tokens=WINDOW)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return count_tokens(text)

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        """One reply, said word by word. Raises ContextOverflow beyond its window, as a real model does."""
        await self.faults.strike()
        schema = prompt.schema or {}
        read = count_tokens(prompt.system + prompt.user) + (count_tokens(json.dumps(dict(schema))) if schema else 0)
        if read + prompt.max_tokens > WINDOW:
            raise ContextOverflow(f"{read} tokens and a reply of {prompt.max_tokens} are more than {WINDOW}")
        said = scripted_replies.reply(schema, prompt.user)
        text = RUBBISH if self.faults.babbles else json.dumps(said, ensure_ascii=False)
        for pieces, piece in enumerate(PIECE.finditer(text), start=1):
            if heard is not None:
                heard(text[: piece.end()])
            await self.faults.utter(pieces)
        return Reply(text, Finish.STOP, Tokens(read, count_tokens(text)))

    @asynccontextmanager
    async def scoring(self, system: str, prefix: str) -> AsyncIterator[Scoring]:
        """Probes after one prefix."""
        yield ScriptedScoring(system, prefix, self.faults)

    def close(self) -> None:
        """Nothing to release."""


def _fraction(*parts: str) -> float:
    """A number in (0, 1] that always is the same for the same texts."""
    digest = hashlib.sha256("\0".join(parts).encode(errors="replace")).digest()
    return (1 + int.from_bytes(digest[:4])) / 2**32
