"""How an OpenAI-compatible endpoint wants to be asked: found out by a few small calls.

Endpoints differ in how they name the limit of a reply, in whether they take a temperature or a system message, in
how far they hold a model to a schema, and in whether they return log-probabilities. Each call below changes one
thing, so that what is refused is known without reading an error's words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.chat import Finish, Prompt, Stage
from app.domain.errors import ProviderFault, ProviderRejected, UnusableReply
from app.providers.chat_replies import choice_of, finish_of, logprobs_of, reasoning_of, text_of
from app.providers.endpoint import Endpoint
from app.providers.protocols import Structured
from app.providers.schemas import name_of, unbounded, with_schema

COMPLETIONS = "/chat/completions"
UNKNOWN_WINDOW = 8192  # tokens; of an endpoint that does not say: the smallest that today's models have
SMALLEST_WINDOW = 256  # tokens; a smaller number in a list of models is something else
THINKING_TOKENS = 4096  # room to think, on top of a reply's own limit, for models that think first

# Tokens of a probe's reply: few, as a small local model fills them all. OpenAI's reasoning models, known by the name
# of their limit, refuse a request whose limit is used up by thoughts.
_PROBE_TOKENS = 48
_THINKING_PROBE_TOKENS = 1024
_SYSTEM = "You are asked whether you can be reached."
_USER = "Say that you are there."
_SCHEMA: Mapping[str, Any] = {
    "title": "check",
    "type": "object",
    "properties": {
        "ready": {"type": "string", "maxLength": 8},
        "names": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
        "numbers": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 3},
            "minItems": 1,
            "maxItems": 1,
        },
    },
    "required": ["ready", "names", "numbers"],
    "additionalProperties": False,
}
_PROBE = Prompt(Stage.CHECK, "1", _SYSTEM, _USER, _SCHEMA, _PROBE_TOKENS)
_WINDOWS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")


@dataclass(frozen=True, slots=True)
class Manner:
    """How one model at one endpoint is asked."""

    model: str
    limit: str = "max_tokens"  # reasoning models of OpenAI want it as max_completion_tokens
    temperature: bool = True  # 0 is accepted; else the endpoint's own
    system: bool = True  # a system message is accepted; else it begins the user's
    structured: Structured = Structured.PLAIN
    bounds: bool = True  # a schema may limit numbers and the length of strings and lists
    logprobs: bool = False
    thinks: bool = False
    window: int = UNKNOWN_WINDOW

    @property
    def probe_tokens(self) -> int:
        """Limit of a reply to one of the small calls here."""
        return _PROBE_TOKENS if self.limit == "max_tokens" else _THINKING_PROBE_TOKENS

    def body(self, system: str, user: str, max_tokens: int) -> dict[str, Any]:
        """A request. What is the same in many prompts stands first, so that servers can reuse what they read."""
        messages = [{"role": "system", "content": system}] if self.system and system else []
        merged = user if self.system or not system else f"{system}\n\n{user}"
        body = {"model": self.model, "messages": [*messages, {"role": "user", "content": merged}]}
        return body | {self.limit: max_tokens} | ({"temperature": 0} if self.temperature else {})

    def structured_body(self, form: Structured, prompt: Prompt, max_tokens: int) -> dict[str, Any]:
        """A request for a reply to `prompt` that keeps to its schema, if it has one."""
        schema = prompt.schema
        if schema is None:
            return self.body(prompt.system, prompt.user, max_tokens)
        if form is Structured.SCHEMA:
            sent = schema if self.bounds else unbounded(schema)
            wanted = {"name": name_of(schema), "schema": sent, "strict": True}
            body = self.body(prompt.system, prompt.user, max_tokens)
            return body | {"response_format": {"type": "json_schema", "json_schema": wanted}}
        body = self.body(with_schema(prompt.system, schema), prompt.user, max_tokens)
        return body | ({"response_format": {"type": "json_object"}} if form is Structured.JSON else {})


_MANNERS: Sequence[Mapping[str, Any]] = (
    {},
    {"limit": "max_completion_tokens"},
    {"temperature": False},
    {"limit": "max_completion_tokens", "temperature": False},
    {"system": False},
)
_FORMS: Sequence[Mapping[str, Any]] = (
    {"structured": Structured.SCHEMA},
    {"structured": Structured.SCHEMA, "bounds": False},
    {"structured": Structured.JSON},
)


async def discover(endpoint: Endpoint, model: str, window: int | None) -> Manner:
    """How to ask `model`; its window is asked for if it is not given.

    Raises ProviderUnavailable, and ProviderRefused where nothing works.
    """
    if window is None:
        window = await _window(endpoint, model)
    manner, thinks = await _accepted(endpoint, Manner(model, window=window))
    manner, thinks_in_form = await _structured(endpoint, manner)
    manner = replace(manner, thinks=thinks or thinks_in_form)
    return replace(manner, logprobs=not manner.thinks and await _logprobs(endpoint, manner))


async def _window(endpoint: Endpoint, model: str) -> int:
    try:
        listed = (await endpoint.get("/models")).get("data")
    except ProviderFault:  # some have no such list, or do not show it
        return UNKNOWN_WINDOW
    models = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, Sequence) else []
    named = [entry for entry in models if entry.get("id") == model] or (models if len(models) == 1 else [])
    return next((found for entry in named for found in _window_of(entry)), UNKNOWN_WINDOW)


def _window_of(entry: Mapping[str, Any]) -> list[int]:
    """The numbers in a model's entry that may be its window, the likeliest first."""
    meta = entry.get("meta")  # where llama.cpp puts them
    places = [entry, meta] if isinstance(meta, Mapping) else [entry]
    values = [place.get(name) for name in _WINDOWS for place in places]
    return [value for value in values if isinstance(value, int) and value >= SMALLEST_WINDOW]


async def _accepted(endpoint: Endpoint, manner: Manner) -> tuple[Manner, bool]:
    """The first manner in which the endpoint can be asked at all, and whether the model thinks aloud."""
    refused: ProviderRejected | None = None
    for changes in _MANNERS:
        candidate = replace(manner, **changes)
        try:
            body = await endpoint.post(COMPLETIONS, candidate.body(_SYSTEM, _USER, candidate.probe_tokens))
        except ProviderRejected as error:
            refused = refused or error
            continue
        return candidate, _thinks(body)
    assert refused is not None
    raise refused


async def _structured(endpoint: Endpoint, manner: Manner) -> tuple[Manner, bool]:
    """The manner with the surest form that passes, and whether the model thinks before it answers in it."""
    for changes in _FORMS:
        candidate = replace(manner, **changes)
        form = candidate.structured
        try:
            body = await endpoint.post(COMPLETIONS, candidate.structured_body(form, _PROBE, candidate.probe_tokens))
            if form is Structured.JSON or _keeps_to_the_schema(body):
                return candidate, _thinks(body)
        except (ProviderRejected, UnusableReply):
            continue
    return manner, False


def _keeps_to_the_schema(body: Mapping[str, Any]) -> bool:
    """Whether the key that only the schema names was written: an endpoint may accept a schema and ignore it.

    A model that was cut off while it thought has the benefit of the doubt.
    """
    choice = choice_of(body)
    return '"ready"' in text_of(choice) or (finish_of(choice) is Finish.LENGTH and _thinks(body))


async def _logprobs(endpoint: Endpoint, manner: Manner) -> bool:
    try:
        body = await endpoint.post(COMPLETIONS, manner.body(_SYSTEM, _USER, manner.probe_tokens) | {"logprobs": True})
        return logprobs_of(choice_of(body)) is not None
    except (ProviderRejected, UnusableReply):
        return False


def _thinks(body: Mapping[str, Any]) -> bool:
    """Whether a model thinks before it replies: that takes tokens, and their probabilities say nothing."""
    usage = body.get("usage")
    details = usage.get("completion_tokens_details") if isinstance(usage, Mapping) else None
    if isinstance(details, Mapping) and details.get("reasoning_tokens"):
        return True
    choice = choice_of(body)
    return bool(reasoning_of(choice)) or text_of(choice).lstrip().startswith("<think")
