"""One sequence on its way through a model: what it reads, what it has said, and when it is over."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from app.domain.chat import Finish
from app.domain.errors import AppError, ProviderRefused
from app.providers.causal.constraint import Constraint
from app.providers.causal.watch import loops


@dataclass(frozen=True, slots=True)
class Prefix:
    """The beginning of several prompts, read once. Never written to."""

    tokens: tuple[int, ...]
    cache: Cache

    def shared_with(self, tokens: Sequence[int]) -> int:
        """How many tokens of a prompt need not be read again; one at least is, to say what follows it."""
        pairs = enumerate(zip(self.tokens, tokens, strict=False))
        same = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(self.tokens), len(tokens)))
        return min(same, len(tokens) - 1)


@dataclass(frozen=True, slots=True)
class Said:
    """What came of a row: the tokens without the one that ends it. `logprobs` are natural logarithms."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Finish


@dataclass(eq=False, slots=True)
class Row:
    """A prompt and its reply, chosen greedily. `outcome` is set by the thread that runs it; cancelling it ends it.

    A reply held to a schema may be longer than `max_tokens` by what can only follow.
    """

    prompt: Sequence[int]
    max_tokens: int
    ends: frozenset[int]
    constraint: Constraint | None = None
    scored: bool = False  # whether log-probabilities are wanted
    prefix: Prefix | None = None
    shared: int = 0  # tokens of the prompt that need not be read again, as `prefix` has them
    heard: Callable[[Sequence[int]], None] | None = None  # told of all tokens said so far, in that thread
    outcome: "Future[Said]" = field(default_factory=Future)
    pending: list[int] = field(default_factory=list)
    """Tokens that the model has still to read before it says the next one."""
    said: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """How long the sequence may become."""
        return len(self.prompt) + self.max_tokens

    @property
    def over(self) -> bool:
        """Whether its outcome is known, or nobody waits for it."""
        return self.outcome.done()

    def choose(self, scores: Tensor) -> None:
        """Say the likeliest token. `scores` has one number for each of the vocabulary, after all that was read."""
        try:
            self._take(int(self._masked(scores).argmax()), scores)
        except AppError as error:
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """It cannot go on."""
        with suppress(InvalidStateError):  # cancelled meanwhile
            self.outcome.set_exception(error)

    def _masked(self, scores: Tensor) -> Tensor:
        if self.constraint is None:
            return scores
        allowed = torch.from_numpy(self.constraint.allowed()[: len(scores)])
        return scores.masked_fill(~allowed.to(scores.device), -math.inf)

    def _take(self, token: int, scores: Tensor) -> None:
        if bool(scores[token].isnan()):
            raise ProviderRefused("the model does not compute numbers: set another XMEMORY_CHAT_DTYPE")
        if token in self.ends:
            self._end(Finish.STOP)
            return
        if self.scored:
            self.logprobs.append(float(scores.float().log_softmax(-1)[token]))
        followers = [] if self.constraint is None else self.constraint.take(token)
        self.said += (token, *followers)
        self.pending = [token, *followers]
        if self.heard is not None:
            self.heard(self.said)
        self._stop_in_time()

    def _stop_in_time(self) -> None:
        if self.constraint is not None and self.constraint.complete:
            self._end(Finish.STOP)
        elif len(self.said) >= self.max_tokens or self._goes_in_circles():
            self._end(Finish.LENGTH)

    def _goes_in_circles(self) -> bool:
        return self.constraint is None and not self.scored and loops(self.said)

    def _end(self, finish: Finish) -> None:
        said = Said(tuple(self.said), tuple(self.logprobs), finish)
        with suppress(InvalidStateError):  # cancelled meanwhile
            self.outcome.set_result(said)
