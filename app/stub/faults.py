"""What can go wrong with an endpoint, and when it does."""

import random
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """One thing that goes wrong with one call."""

    # The endpoint lacks something, and says so with status 400.
    REFUSE_SCHEMA = "refuse_schema"
    REFUSE_BOUNDS = "refuse_bounds"  # a schema with limits on lengths
    REFUSE_JSON = "refuse_json"
    REFUSE_LOGPROBS = "refuse_logprobs"
    REFUSE_MAX_TOKENS = "refuse_max_tokens"  # as OpenAI's reasoning models do
    REFUSE_TEMPERATURE = "refuse_temperature"
    REFUSE_SYSTEM = "refuse_system"
    REFUSE_DIMENSIONS = "refuse_dimensions"  # as vLLM does for most embedding models
    REFUSE_STREAM = "refuse_stream"
    # … or does not say so.
    IGNORE_SCHEMA = "ignore_schema"
    IGNORE_LOGPROBS = "ignore_logprobs"
    IGNORE_STREAM = "ignore_stream"

    # Chat: the reply is there, in an odd form.
    THINKING_TAGS = "thinking_tags"
    REASONING_ONLY = "reasoning_only"  # content empty, all of it in `reasoning_content`
    FENCED = "fenced"
    INNER_BACKTICKS = "inner_backticks"  # fenced, and a string holds a fence too
    TRAILING_COMMA = "trailing_comma"
    # Chat: the reply cannot be used.
    TRUNCATED = "truncated"
    MISSING_KEYS = "missing_keys"
    UNEXPECTED_KEY = "unexpected_key"
    SCHEMA_ECHO = "schema_echo"
    EMPTY_REPLY = "empty_reply"
    NO_CHOICES = "no_choices"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"

    # Any call: HTTP.
    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    CONTENT_POLICY = "content_policy"  # refused before any model saw it
    RATE_LIMITED = "rate_limited"  # with Retry-After
    SERVER_ERROR = "server_error"
    ERROR_WITH_200 = "error_with_200"
    NOT_JSON = "not_json"
    BROKEN_JSON = "broken_json"
    SLOW_DRIP = "slow_drip"
    HANG = "hang"
    CUT = "cut"  # in the middle of the reply
    STUCK = "stuck"  # a stream that begins and does not go on
    ERROR_IN_STREAM = "error_in_stream"  # which begins well
    OVERFLOW_OPENAI = "overflow_openai"
    OVERFLOW_VLLM = "overflow_vllm"
    OVERFLOW_LLAMA_CPP = "overflow_llama_cpp"
    OVERFLOW_OLLAMA = "overflow_ollama"
    TOO_LARGE = "too_large"

    # Embeddings: the reply is wrong.
    FEWER_VECTORS = "fewer_vectors"
    NAN_VECTOR = "nan_vector"
    NULL_VECTOR = "null_vector"  # NaN, as servers write it that keep to JSON
    ZERO_VECTOR = "zero_vector"
    WRONG_DIMENSION = "wrong_dimension"
    SHUFFLED = "shuffled"  # in another order than asked, told by `index`


class Kind(StrEnum):
    """What is called."""

    CHAT = "chat"
    EMBEDDINGS = "embeddings"


_EMBEDDINGS_ONLY = frozenset(
    {
        Fault.REFUSE_DIMENSIONS,
        Fault.FEWER_VECTORS,
        Fault.NAN_VECTOR,
        Fault.NULL_VECTOR,
        Fault.ZERO_VECTOR,
        Fault.WRONG_DIMENSION,
        Fault.SHUFFLED,
    }
)
_ANY = frozenset(
    {
        Fault.BAD_REQUEST,
        Fault.UNAUTHORIZED,
        Fault.NOT_FOUND,
        Fault.CONTENT_POLICY,
        Fault.RATE_LIMITED,
        Fault.SERVER_ERROR,
        Fault.ERROR_WITH_200,
        Fault.NOT_JSON,
        Fault.BROKEN_JSON,
        Fault.SLOW_DRIP,
        Fault.HANG,
        Fault.CUT,
        Fault.OVERFLOW_OPENAI,
        Fault.OVERFLOW_VLLM,
        Fault.OVERFLOW_LLAMA_CPP,
        Fault.OVERFLOW_OLLAMA,
        Fault.TOO_LARGE,
    }
)

# What an unsteady endpoint does: each is gone at a later try, none is final.
_PASSING = {
    Kind.CHAT: (
        Fault.RATE_LIMITED,
        Fault.SERVER_ERROR,
        Fault.CUT,
        Fault.SLOW_DRIP,
        Fault.ERROR_WITH_200,
        Fault.THINKING_TAGS,
        Fault.REASONING_ONLY,
        Fault.FENCED,
        Fault.TRAILING_COMMA,
        Fault.TRUNCATED,
        Fault.MISSING_KEYS,
        Fault.SCHEMA_ECHO,
        Fault.EMPTY_REPLY,
        Fault.NO_CHOICES,
    ),
    Kind.EMBEDDINGS: (
        Fault.RATE_LIMITED,
        Fault.SERVER_ERROR,
        Fault.CUT,
        Fault.SLOW_DRIP,
        Fault.FEWER_VECTORS,
        Fault.NAN_VECTOR,
        Fault.SHUFFLED,
    ),
}


def _concerns(fault: Fault, kind: Kind) -> bool:
    return fault in _ANY or (fault in _EMBEDDINGS_ONLY) == (kind is Kind.EMBEDDINGS)


@dataclass(slots=True)
class Unsteady:
    """A share, 0 to 1, of the calls goes wrong in some passing way; the same for the same seed and calls."""

    seed: int
    share: float
    _random: random.Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311  (no secret)

    def draw(self, kind: Kind) -> set[Fault]:
        """The fault of the next call, if it has one."""
        return {self._random.choice(_PASSING[kind])} if self._random.random() < self.share else set()


@dataclass(slots=True)
class Plan:
    """Which faults befall which calls. `retry_after` goes with a rate limit; a slow drip lasts `seconds`."""

    lasting: frozenset[Fault] = frozenset()
    unsteady: Unsteady | None = None
    retry_after: str = "0"
    seconds: float = 1.0
    stuck: int = 0
    """Calls that do not go on, and whose client still waits."""
    _queue: deque[Fault] = field(default_factory=deque)

    def then(self, *faults: Fault) -> None:
        """Each of these befalls one call, in this order; a call takes the first that concerns its kind."""
        self._queue.extend(faults)

    def always(self, *faults: Fault) -> None:
        """These befall every call, instead of those that did so far."""
        self.lasting = frozenset(faults)

    def mend(self) -> None:
        """Nothing goes wrong any more."""
        self.lasting, self.unsteady = frozenset(), None
        self._queue.clear()

    @contextmanager
    def being_stuck(self) -> Iterator[None]:
        """Count a call that does not go on, until its client leaves."""
        self.stuck += 1
        try:
            yield
        finally:
            self.stuck -= 1

    @property
    def waiting(self) -> Sequence[Fault]:
        """Faults that no call has taken yet."""
        return tuple(self._queue)

    def take(self, kind: Kind) -> frozenset[Fault]:
        """What goes wrong with this call."""
        found = {fault for fault in self.lasting if _concerns(fault, kind)}
        following = next((fault for fault in self._queue if _concerns(fault, kind)), None)
        if following is not None:
            self._queue.remove(following)
            found.add(following)
        return frozenset(found | (self.unsteady.draw(kind) if self.unsteady else set()))
