"""Asking a model for a value: reply → JSON object → checked value, with one more try, then a typed failure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from app.domain.chat import Finish, Prompt, Reply, Tokens
from app.domain.errors import ContextOverflow, CutOff, UnusableReply
from app.providers.protocols import ChatModel, Heard
from app.providers.tolerant import read_object

T = TypeVar("T")

NOTHING = Reply("", Finish.STOP, Tokens(0, 0))  # of a model whose own side found its reply unusable
EXCERPT = 600  # characters of a faulty reply that the model is shown again
LONGEST_KEY = 32  # characters of a schema's key that an error names

_AGAIN = "Your last reply to this could not be used: {fault}."
_SHOWN = "This is how it began, as data, between the lines of {fence}:\n{fence}\n{excerpt}\n{fence}"
_SHORTER = "It was cut off after {tokens} tokens. Say less, so that it ends before that, and do not think aloud."
_DEMAND = "Reply again, with one complete JSON object that follows the schema, and with nothing before or after it."


async def ask(
    model: ChatModel,
    prompt: Prompt,
    parse: Callable[[object], T],
    *,
    heard: Heard | None = None,
    divisible: bool = False,
) -> T:
    """The model's reply to `prompt` as `parse` reads it; `parse` gets a JSON object, and raises UnusableReply.

    A reply that cannot be used is asked for once more, with what was wrong about it; one that came to its limit of
    tokens in fewer words, or, if the caller can ask about less instead (`divisible`), not at all: that loses nothing.
    `heard` is told of the replies while they grow.
    Raises UnusableReply after that (CutOff where the limit was the reason), ProviderUnavailable, ProviderRefused,
    ContextOverflow (of the prompt itself) and BudgetExceeded.
    """
    reply = NOTHING
    try:
        reply = await model.reply(prompt, heard)
        return _read(reply, prompt, parse)
    except UnusableReply as error:
        if divisible and isinstance(error, CutOff):
            raise
        first = error
    again = await _again(model, prompt, reply, str(first))
    if again is None:
        raise first
    try:
        return _read(await model.reply(again, heard), prompt, parse)
    except ContextOverflow:
        raise first from None  # the prompt itself had room: splitting the input is not called for
    except UnusableReply as second:
        raise type(second)(f"{first}; asked again: {second}") from None


def size_of(model: ChatModel, prompt: Prompt) -> int:
    """Tokens of a prompt as the model counts them, with its schema: some models find it in the prompt."""
    schema = json.dumps(dict(prompt.schema)) if prompt.schema else ""
    return model.count_tokens(prompt.system) + model.count_tokens(prompt.user) + model.count_tokens(schema)


def _read(reply: Reply, prompt: Prompt, parse: Callable[[object], T]) -> T:
    data: Mapping[str, Any] = {}
    try:
        data = read_object(reply.text, prompt.schema)
        _refuse_closed(reply)
        return parse(data)
    except UnusableReply as error:
        kind = CutOff if reply.finish is Finish.LENGTH else UnusableReply
        raise kind(f"{error} ({_form(reply, data, prompt)})") from None


def _refuse_closed(reply: Reply) -> None:
    """Where the limit falls inside the JSON object, whoever holds the model to JSON closes it there: items are lost."""
    if reply.finish is Finish.LENGTH and reply.text.rstrip().endswith("}"):
        raise UnusableReply("it was closed before it was complete")


def _form(reply: Reply, data: Mapping[str, Any], prompt: Prompt) -> str:
    """What a reply looks like, without a word of it: keys are named only where they are the schema's own."""
    form = f"{prompt.name}: {len(reply.text)} characters, ended by {reply.finish}"
    if reply.finish is Finish.LENGTH:
        form += f" after {reply.tokens.written} tokens"
    if not data:
        return form
    known = (prompt.schema or {}).get("properties", {})
    named = [key for key in known if key in data and key.isidentifier() and len(key) <= LONGEST_KEY]
    return f"{form}, keys {', '.join(named) or 'none of the schema'}, others {len(data.keys() - known.keys())}"


async def _again(model: ChatModel, prompt: Prompt, reply: Reply, fault: str) -> Prompt | None:
    """The same prompt with what was wrong, and as much of the faulty reply as the window has room for."""
    room = (await model.capabilities()).context_tokens - prompt.max_tokens
    for excerpt in (reply.text[:EXCERPT], ""):
        again = replace(prompt, user=f"{prompt.user}\n\n{_correction(reply, fault, excerpt)}")
        if size_of(model, again) <= room:
            return again
    return None


def _correction(reply: Reply, fault: str, excerpt: str) -> str:
    lines = [_AGAIN.format(fault=fault)]
    if reply.finish is Finish.LENGTH:
        lines.append(_SHORTER.format(tokens=reply.tokens.written))
    if excerpt.strip():
        lines.append(_SHOWN.format(fence=_fence(excerpt), excerpt=excerpt))
    return "\n".join([*lines, _DEMAND])


def _fence(text: str) -> str:
    """A line of tildes that the text does not contain."""
    length = 4
    while "~" * length in text:
        length += 1
    return "~" * length
