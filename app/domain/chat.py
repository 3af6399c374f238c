"""What a language model is asked, and what it says: plain values, the same for every provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """What a call is for; usage is counted by it."""

    BOUNDARY = "boundary"  # where a window of messages is cut
    EPISODE = "episode"  # title and narrative alone
    PREDICT = "predict"  # what an episode probably says, from what is known
    STATEMENTS = "statements"  # title, narrative and statements of an episode
    LABEL = "label"  # labels and summaries of themes
    ANSWER = "answer"
    DATA = "data"  # an answer in the caller's form
    GATE = "gate"  # probes of the reader's uncertainty
    VERDICT = "verdict"  # whether an answer is right: asked by the evaluation only
    CHECK = "check"  # whether the model is there


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model. `user` holds memory text, fenced; `system` never does.

    `schema` is the JSON schema of the reply, with a `title`; None asks for plain text. `max_tokens` bounds the
    reply. Made by app/prompts, whose `version` is recorded with whatever comes of it.
    """

    stage: Stage
    version: str
    system: str
    user: str
    schema: Mapping[str, Any] | None
    max_tokens: int

    @property
    def name(self) -> str:
        """`stage/version`, as provenance records it."""
        return f"{self.stage}/{self.version}"


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"  # cut off at `max_tokens`, or at the end of the model's window


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written, as the model's side counts them; estimated where it does not say."""

    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said to one prompt."""

    text: str
    finish: Finish
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Scored:
    """A greedy answer with the natural logarithm of each of its tokens' probabilities."""

    text: str
    logprobs: tuple[float, ...]
    tokens: Tokens = field(default=Tokens(0, 0))

    @property
    def uncertainty(self) -> float:
        """Mean negative log-probability of a token, in nats, 0 for a sure reader; 0 also for an empty answer."""
        return -sum(self.logprobs) / len(self.logprobs) if self.logprobs else 0.0
