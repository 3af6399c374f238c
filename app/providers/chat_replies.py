"""What an OpenAI-compatible endpoint's chat completion says, read with no trust in its form."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.chat import Finish, Tokens
from app.domain.errors import ProviderRefused, UnusableReply
from app.domain.text import count_tokens

_CUT_OFF = {"length", "max_tokens", "model_length"}  # finish reasons
_REASONING = ("reasoning_content", "reasoning")  # where endpoints put what a model thought


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
