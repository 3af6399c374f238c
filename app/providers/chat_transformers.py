"""A Hugging Face causal model in this process: replies held to a schema, and probes with their log-probabilities."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from app.domain.chat import Finish, Prompt, Reply, Scored, Tokens
from app.providers.causal.engine import Engine
from app.providers.causal.lane import Lane
from app.providers.causal.loading import Loaded, load_model
from app.providers.causal.rows import Prefix, Row, Said
from app.providers.protocols import Capabilities, Heard, Structured
from app.providers.specs import ChatSpec

UNFINISHED = "\ufffd"  # stands at the end for a character of which not all bytes are there yet
KEPT_TOKENS = 16_384  # of shared beginnings, of all requests together; further ones are read with every probe


class TransformersChat:
    """A `ChatModel`. One thread runs the model; calls that come at the same time are run side by side."""

    def __init__(self, loaded: Loaded, *, reuse: bool = True) -> None:
        self.name = loaded.name
        self.revision = loaded.revision
        self.tokenizer = loaded.name
        self.reuse = reuse
        """Whether the shared beginning of probes is read once. Off, the answers are the same: for comparison."""
        self._loaded = loaded
        self._lane = Lane(Engine(loaded.model, loaded.device), max(1, (os.cpu_count() or 2) - 1))
        self._kept = 0

    async def capabilities(self) -> Capabilities:
        """Known since it was loaded."""
        return Capabilities(
            Structured.SCHEMA, logprobs=True, prefix_reuse=self.reuse, context_tokens=self._loaded.window
        )

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, by the model's own tokenizer."""
        return len(self._loaded.words.of_text(text))

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        """The likeliest reply, held to the prompt's schema also where it is cut off, if at all possible."""
        row = await asyncio.to_thread(self._row, prompt)
        row.heard = None if heard is None else self._telling(heard)
        [said] = await self._lane.run([row])
        text = self._loaded.words.to_text(said.tokens)
        if row.constraint is not None:
            cut_off = said.finish is Finish.LENGTH
            text = await asyncio.to_thread(row.constraint.text_of, text, cut_off=cut_off)
        return Reply(text, said.finish, Tokens(len(row.prompt), len(said.tokens)))

    @asynccontextmanager
    async def scoring(self, system: str, prefix: str) -> AsyncIterator["PrefixScoring"]:
        """Probes of one beginning, which is read here, once; what is kept of it is let go at the end."""
        tokens = await asyncio.to_thread(self._loaded.beginning, system, prefix)
        kept = len(tokens) if self.reuse and self._kept + len(tokens) <= KEPT_TOKENS else 0
        self._kept += kept
        try:
            read = await self._lane.read(tokens) if kept else None
            scoring = PrefixScoring(self._loaded, self._lane, (system, prefix), read)
            try:
                yield scoring
            finally:
                scoring.forget()
        finally:
            self._kept -= kept

    def close(self) -> None:
        """End the thread; whoever waits for a reply is told."""
        self._lane.close()

    def _telling(self, heard: Heard) -> Callable[[Sequence[int]], None]:
        loop = asyncio.get_running_loop()

        def tell(tokens: Sequence[int]) -> None:
            text = self._loaded.words.to_text(tokens).rstrip(UNFINISHED)
            loop.call_soon_threadsafe(heard, text)

        return tell

    def _row(self, prompt: Prompt) -> Row:
        tokens = self._loaded.prompt(prompt.system, prompt.user, prompt.max_tokens)
        grammars = self._loaded.grammars
        held = None if prompt.schema is None else grammars.constraint(prompt.schema, prompt.max_tokens)
        return Row(tokens, prompt.max_tokens, self._loaded.ends, held)


class PrefixScoring:
    """A `Scoring`. It holds what was read of its beginning, `read`; None if every probe is read whole."""

    def __init__(self, loaded: Loaded, lane: Lane, beginning: tuple[str, str], read: Prefix | None) -> None:
        self._loaded = loaded
        self._lane = lane
        self._system, self._prefix = beginning
        self._read = read
        self._unpaid = 0 if read is None else len(read.tokens)

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        """The greedy answer to each probe. What reading the beginning took is counted once, with the first of all."""
        rows = await asyncio.to_thread(lambda: [self._row(probe, max_tokens) for probe in probes])
        scores = [self._scored(row, said) for row, said in zip(rows, await self._lane.run(rows), strict=True)]
        if scores:
            tokens = scores[0].tokens
            scores[0] = replace(scores[0], tokens=replace(tokens, read=tokens.read + self._unpaid))
            self._unpaid = 0
        return scores

    def forget(self) -> None:
        """Let go of what was read of the beginning."""
        self._read = None

    def _row(self, probe: str, max_tokens: int) -> Row:
        tokens = self._loaded.prompt(self._system, self._prefix + probe, max_tokens)
        shared = 0 if self._read is None else self._read.shared_with(tokens)
        return Row(tokens, max_tokens, self._loaded.ends, scored=True, prefix=self._read, shared=shared)

    def _scored(self, row: Row, said: Said) -> Scored:
        tokens = Tokens(len(row.prompt) - row.shared, len(said.tokens))
        return Scored(self._loaded.words.to_text(said.tokens).strip(), said.logprobs, tokens)


def load(spec: ChatSpec) -> TransformersChat:
    """The model that `spec` names, loaded. Blocking, seconds to minutes. Raises ConfigurationError."""
    return TransformersChat(load_model(spec))
