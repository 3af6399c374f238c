"""What an OpenAI-compatible endpoint's chat completion says, read with no trust in its form."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.chat import Finish, Tokens
from app.domain.errors import ProviderRefused, ProviderUnavailable, UnusableReply
from app.domain.text import count_tokens
from app.providers.protocols import Heard

_CUT_OFF = {"length", "max_tokens", "model_length"}  # finish reasons
_REASONING = ("reasoning_content", "reasoning")  # where endpoints put what a model thought


class Growing:
    """A chat completion that comes in parts. `heard` is told of the text, each time there is more."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._said = dict.fromkeys(("content", *_REASONING, "refusal"), "")
        self._ended: object = None
        self._rest: dict[str, Any] = {}

    def take(self, part: Mapping[str, Any]) -> None:
        """Add a part."""
        self._rest |= {key: value for key, value in part.items() if value is not None and key != "choices"}
        choices = part.get("choices")
        choice = choices[0] if isinstance(choices, Sequence) and choices else None
        if not isinstance(choice, Mapping):
            return  # such as the last part of all, which only counts tokens
        self._ended = choice.get("finish_reason") or self._ended
        said = choice.get("delta") or choice.get("message")  # the latter of an endpoint that does not stream
        if isinstance(said, Mapping):
            for name in self._said:
                self._said[name] += _text(said.get(name))
            if self._said["content"]:
                self._heard(self._said["content"])

    def body(self) -> Mapping[str, Any]:
        """The same as if it had come at once. Raises ProviderUnavailable if its end is missing."""
        if self._ended is None:
            raise ProviderUnavailable("the language model's reply was cut before its end")
        return self._rest | {"choices": [{"message": self._said, "finish_reason": self._ended}]}


def choice_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice. Raises UnusableReply if there is none, ProviderRefused if the model declined."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, Sequence) and choices else None
    if not isinstance(choice, Mapping) or not isinstance(choice.get("message"), Mapping):
        raise UnusableReply("the model's reply has no choices")
    if choice["message"].get("refusal") or choice.get("finish_reason") == "content_filter":
        raise ProviderRefused("the model declined to reply to this content")
    return choice


def text_of(choice: Mapping[str, Any]) -> str:
    """What the model said; where that is empty, what it thought: some endpoints put all of a reply there."""
    return _text(choice["message"].get("content")) or reasoning_of(choice)


def reasoning_of(choice: Mapping[str, Any]) -> str:
    """What the model thought before it spoke, if the endpoint tells."""
    return next((text for name in _REASONING if (text := _text(choice["message"].get(name)))), "")


def finish_of(choice: Mapping[str, Any]) -> Finish:
    """Why the reply ended."""
    return Finish.LENGTH if choice.get("finish_reason") in _CUT_OFF else Finish.STOP


def tokens_of(body: Mapping[str, Any], read: int, choice: Mapping[str, Any]) -> Tokens:
    """Tokens as the endpoint counts them, else `read` and an estimate of what was written."""
    usage = body.get("usage")
    counted = usage if isinstance(usage, Mapping) else {}
    written = counted.get("completion_tokens")
    return Tokens(
        _whole(counted.get("prompt_tokens"), read),
        _whole(written, -1) if _whole(written, -1) >= 0 else count_tokens(text_of(choice)),
    )


def logprobs_of(choice: Mapping[str, Any]) -> tuple[float, ...] | None:
    """The log-probability of each token of the reply; None if the endpoint does not tell all of them."""
    logprobs = choice.get("logprobs")
    listed = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(listed, Sequence) or not listed:
        return None
    found = [token.get("logprob") if isinstance(token, Mapping) else None for token in listed]
    known = [float(value) for value in found if isinstance(value, int | float) and math.isfinite(value)]
    return tuple(known) if len(known) == len(found) else None


def _text(content: object) -> str:
    """Text that is given as such, or as a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str))


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
