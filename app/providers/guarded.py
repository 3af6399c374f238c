"""The models as services use them: every call guarded, counted, and told to the metrics."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from app.domain.chat import Prompt, Reply, Scored, Stage, Tokens
from app.domain.errors import BudgetExceeded, UnusableReply
from app.domain.late import WordVectors
from app.domain.vectors import Matrix
from app.providers.guard import Guard, GuardPolicy, Report
from app.providers.protocols import Asked, Capabilities, ChatModel, Embedded, Embedder, Heard, Scoring
from app.providers.structured import size_of
from app.telemetry import usage
from app.telemetry.metrics import Metrics

T = TypeVar("T")

BATCH = 64  # texts of one call: each has its own time, and a call that fails costs no more than these
TOLERANCE = 1e-3  # of a vector's length; half-precision models stay below it
PROBED = "ready?"
_CHECK = Prompt(Stage.CHECK, "1", "You answer in one word.", "Reply with the word: ready", schema=None, max_tokens=64)
NO_TOKENS = Tokens(0, 0)


class GuardedEmbedder:
    """An embedding model. Its vectors are checked: whoever serves it, they have the right form and length 1."""

    def __init__(self, inner: Embedder, policy: GuardPolicy, metrics: Metrics) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.max_tokens = inner.max_tokens
        self.tells_words = inner.tells_words
        self.guard = Guard("the embedding model", policy, lambda opened: metrics.circuit(usage.EMBEDDER, opened))
        self._metrics = metrics
        self._batches, self._queries = self.guard.lane(), self.guard.lane()

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """What it makes of texts. Raises ProviderUnavailable, ProviderRefused, ContextOverflow, UnusableReply."""
        vectors = [np.empty((0, self.profile.dimension), dtype=np.float32)]
        words: list[WordVectors] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]

            async def work(batch: Sequence[str] = batch) -> Embedded:
                made = await self.inner.embed(batch)
                return replace(made, vectors=self._checked(made.vectors, (len(batch), self.profile.dimension)))

            made = await self.guard.call(work, self._batches, self._report("batch", len(batch)))
            vectors.append(made.vectors)
            words += made.words or ()
        return Embedded(np.concatenate(vectors), tuple(words) if self.tells_words else None)

    async def embed_query(self, text: str) -> Asked:
        """What it makes of one question, in a lane of its own. Raises as `embed`."""
        return await self.guard.call(lambda: self._query(text), self._queries, self._report("query", 1))

    def close(self) -> None:
        """Release the model."""
        self.inner.close()

    async def is_well(self) -> bool:
        """Whether its last call succeeded; if that was a while ago, one small call is made to know."""
        return await self.guard.is_well(
            lambda: self.guard.once(lambda: self._query(PROBED), self._queries, self._report("query", 1))
        )

    async def _query(self, text: str) -> Asked:
        made = await self.inner.embed_query(text)
        return replace(made, vector=self._checked(made.vector, (self.profile.dimension,)))

    def _checked(self, vectors: Matrix, shape: tuple[int, ...]) -> Matrix:
        if vectors.shape != shape:
            raise UnusableReply(f"the embedding model gave {vectors.shape} numbers instead of {shape}")
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=-1)
        if not np.all(np.abs(lengths - 1.0) <= TOLERANCE):  # also not where one is no number
            raise UnusableReply("the embedding model gave a vector that is not of length 1")
        return vectors.astype(np.float32, copy=False)

    def _report(self, lane: str, texts: int) -> Report[Any]:
        def report(outcome: str, seconds: float, result: Embedded | Asked | None) -> None:
            done = 0 if result is None else texts
            self._metrics.embedding(lane, outcome, texts, seconds)
            usage.note(usage.EMBEDDER, self.profile.model, calls=1, texts=done, seconds=seconds)

        return report


class GuardedChat:
    """A language model. Each piece of work has a budget of tokens."""

    def __init__(self, inner: ChatModel, policy: GuardPolicy, metrics: Metrics) -> None:
        self.inner = inner
        self.name = inner.name
        self.revision = inner.revision
        self.tokenizer = inner.tokenizer
        self.guard = Guard("the language model", policy, lambda opened: metrics.circuit("chat", opened))
        self._metrics = metrics
        self._lane = self.guard.lane()
        self._capabilities: Capabilities | None = None

    async def capabilities(self) -> Capabilities:
        """What it can do. Raises ProviderUnavailable, ProviderRefused."""
        if self._capabilities is None:
            self._capabilities = await self.guarded(Stage.CHECK, self.inner.capabilities, lambda _: NO_TOKENS)
        return self._capabilities

    def count_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self.inner.count_tokens(text)

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        """A reply, after several tries if need be; `heard` is told of each.

        Raises ProviderUnavailable, ProviderRefused, ContextOverflow, UnusableReply, BudgetExceeded.
        """
        with self.budget(size_of(self, prompt) + prompt.max_tokens):
            return await self.guarded(prompt.stage, lambda: self.inner.reply(prompt, heard), _cost_of_reply)

    @asynccontextmanager
    async def scoring(self, system: str, prefix: str) -> AsyncIterator[Scoring]:
        """A scoring session whose calls are guarded too. Raises as `reply`."""
        shared = self.count_tokens(system) + self.count_tokens(prefix)
        reused = (await self.capabilities()).prefix_reuse
        async with AsyncExitStack() as stack:

            async def begin() -> Scoring:
                return await stack.enter_async_context(self.inner.scoring(system, prefix))

            with self.budget(shared):
                session = await self.guarded(Stage.GATE, begin, lambda _: NO_TOKENS)
            yield _GuardedScoring(self, session, 0 if reused else shared)

    def close(self) -> None:
        """Release the model."""
        self.inner.close()

    async def is_well(self) -> bool:
        """Whether its last call succeeded; if that was a while ago, one small call is made to know."""
        report = self._report(Stage.CHECK, _cost_of_reply)
        return await self.guard.is_well(
            lambda: self.guard.once(lambda: self.inner.reply(_CHECK), self.guard.lane(), report)
        )

    @contextmanager
    def budget(self, tokens: int) -> Iterator[None]:
        """Hold tokens for a call of the work that runs here. Raises BudgetExceeded."""
        meter, allowed = usage.running(), self.guard.policy.job_tokens
        if meter is None:
            yield
            return
        if meter.tokens + tokens > allowed:
            left = f"{meter.tokens:,} of {allowed:,} tokens (XMEMORY_MODELS__JOB_TOKENS) are used"
            raise BudgetExceeded(f"{left}, and the next call may need {tokens:,}")
        with meter.reserving(tokens):
            yield

    async def guarded(self, stage: Stage, work: Callable[[], Awaitable[T]], tokens: Callable[[T], Tokens]) -> T:
        """A call for `stage`, guarded and counted; `tokens` says what its result cost."""
        return await self.guard.call(work, self._lane, self._report(stage, tokens))

    def _report(self, stage: Stage, tokens: Callable[[T], Tokens]) -> Report[T]:
        def report(outcome: str, seconds: float, result: T | None) -> None:
            cost = NO_TOKENS if result is None else tokens(result)
            self._metrics.chat(stage, outcome, cost.read, cost.written, seconds)
            usage.note(stage, self.name, calls=1, tokens_in=cost.read, tokens_out=cost.written, seconds=seconds)

        return report


class _GuardedScoring:
    """A scoring session whose calls are guarded and counted."""

    def __init__(self, chat: GuardedChat, inner: Scoring, prefix_tokens: int) -> None:
        self._chat = chat
        self._inner = inner
        self._prefix_tokens = prefix_tokens

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        """The greedy answer to each probe. Raises as `GuardedChat.reply`."""
        each = self._prefix_tokens + max_tokens
        with self._chat.budget(sum(each + self._chat.count_tokens(probe) for probe in probes)):
            return await self._chat.guarded(Stage.GATE, lambda: self._inner.score(probes, max_tokens), _cost_of_scores)


def _cost_of_reply(reply: Reply) -> Tokens:
    return reply.tokens


def _cost_of_scores(scores: Sequence[Scored]) -> Tokens:
    return Tokens(sum(scored.tokens.read for scored in scores), sum(scored.tokens.written for scored in scores))
