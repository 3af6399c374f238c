"""A language model behind an OpenAI-compatible endpoint: OpenAI, vLLM, llama.cpp, Ollama and their like."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from app.domain.chat import Prompt, Reply, Scored
from app.domain.errors import ContextOverflow, ProviderRefused, ProviderRejected, ProviderUnavailable, UnusableReply
from app.domain.text import TOKENIZER, count_tokens
from app.providers.chat_manner import COMPLETIONS, THINKING_TOKENS, Manner, discover
from app.providers.chat_replies import Growing, choice_of, finish_of, logprobs_of, text_of, tokens_of
from app.providers.endpoint import Endpoint, Patience
from app.providers.protocols import Capabilities, Heard, Scoring, Structured
from app.providers.schemas import name_of, with_schema
from app.providers.specs import ChatSpec

TEMPLATE_TOKENS = 16  # what an endpoint's chat template puts around two messages
RESERVED_SHARE = 8  # an eighth of the window, and at most so many tokens, are kept for a schema in the prompt:
RESERVED_TOKENS = 1024  # whoever fills a prompt up to the window that we tell must not overflow the real one
PROBES_AT_ONCE = 8  # of one scoring; the same number of connections

STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}

_FORMS = (Structured.SCHEMA, Structured.JSON, Structured.PLAIN)  # from the surest down


class OpenAIChat:
    """A `ChatModel`. What the endpoint can do is found out once, at the first call that needs to know."""

    tokenizer = TOKENIZER

    def __init__(self, endpoint: Endpoint, model: str, revision: str, window: int | None, seconds: float) -> None:
        self.name = model
        self.revision = revision
        self._endpoint = endpoint
        self._window = window
        self._seconds = seconds
        self._discovery: asyncio.Task[Manner] | None = None
        self._streams = True  # as far as anybody knows
        self._forms: dict[str, Structured] = {}
        """By schema: the form that passed where the usual one was refused."""

    async def capabilities(self) -> Capabilities:
        """What the endpoint can do. Raises ProviderUnavailable and ProviderRefused; then the next call asks again."""
        manner = await self._manner()
        reserved = min(RESERVED_TOKENS, manner.window // RESERVED_SHARE)
        return Capabilities(
            manner.structured, manner.logprobs, prefix_reuse=False, context_tokens=manner.window - reserved
        )

    def count_tokens(self, text: str) -> int:
        """An estimate: an endpoint's tokenizer is not at hand."""
        return count_tokens(text)

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        """One reply. Where a schema is refused that once was not, a looser form is tried, and kept if it passes."""
        manner = await self._manner()
        name = name_of(prompt.schema or {})
        first = self._forms.get(name, manner.structured)
        refused: ProviderRejected | None = None
        for form in _FORMS[_FORMS.index(first) :] if prompt.schema else (Structured.PLAIN,):
            try:
                reply = await self._ask(manner, form, prompt, heard)
            except ProviderRejected as error:
                refused = refused or error
                continue
            if refused is not None:
                self._forms[name] = form
            return reply
        assert refused is not None
        raise refused

    @asynccontextmanager
    async def scoring(self, system: str, prefix: str) -> AsyncIterator[Scoring]:
        """Probes of one beginning, side by side: a server that keeps what it read reads it once."""
        manner = await self._manner()
        if not manner.logprobs:
            raise ProviderRefused("the language model's endpoint returns no log-probabilities")
        yield _Scoring(self._endpoint, manner, system, prefix)

    def close(self) -> None:
        """Release the connections."""
        if self._discovery is not None:
            self._discovery.cancel()
        self._endpoint.close()

    async def _ask(self, manner: Manner, form: Structured, prompt: Prompt, heard: Heard | None) -> Reply:
        in_prompt = prompt.system if prompt.schema is None else with_schema(prompt.system, prompt.schema)
        read = _sized(manner, in_prompt, prompt.user, prompt.max_tokens)
        room = min(THINKING_TOKENS, manner.window - read - prompt.max_tokens) if manner.thinks else 0
        body = await self._complete(manner.structured_body(form, prompt, prompt.max_tokens + room), heard)
        choice = choice_of(body)
        text = text_of(choice)
        if prompt.schema is None and not text.strip():
            raise UnusableReply("the model's reply is empty")
        return Reply(text, finish_of(choice), tokens_of(body, read, choice))

    async def _complete(self, request: Mapping[str, Any], heard: Heard | None) -> Mapping[str, Any]:
        """The endpoint's answer, told of as it comes; at once where it refuses to stream."""
        if heard is None or not self._streams:
            return await self._endpoint.post(COMPLETIONS, request)
        growing = Growing(heard)
        try:
            await self._endpoint.stream(COMPLETIONS, {**request, **STREAMED}, growing.take)
        except ProviderRejected:
            whole = await self._endpoint.post(COMPLETIONS, request)  # raises the same if that was not the reason
            self._streams = False
            return whole
        return growing.body()

    async def _manner(self) -> Manner:
        """Found out by the first who asks; others wait for the same calls, and none of them can cut those short."""
        if self._discovery is None or (self._discovery.done() and not _succeeded(self._discovery)):
            self._discovery = asyncio.create_task(self._discover())
        return await asyncio.shield(self._discovery)

    async def _discover(self) -> Manner:
        try:
            async with asyncio.timeout(self._seconds):
                return await discover(self._endpoint, self.name, self._window)
        except TimeoutError:
            raise ProviderUnavailable("the language model took too long to say what it can do") from None


class _Scoring:
    """A `Scoring`. It keeps nothing: what is reused is kept by the server."""

    def __init__(self, endpoint: Endpoint, manner: Manner, system: str, prefix: str) -> None:
        self._endpoint = endpoint
        self._manner = manner
        self._system = system
        self._prefix = prefix
        self._turn = asyncio.Semaphore(PROBES_AT_ONCE)

    async def score(self, probes: Sequence[str], max_tokens: int = 20) -> Sequence[Scored]:
        """One call for each probe. Where one fails the others are given up."""
        calls = [asyncio.create_task(self._score(probe, max_tokens)) for probe in probes]
        try:
            return await asyncio.gather(*calls)
        finally:
            for call in calls:
                call.cancel()

    async def _score(self, probe: str, max_tokens: int) -> Scored:
        user = self._prefix + probe
        read = _sized(self._manner, self._system, user, max_tokens)
        async with self._turn:
            request = self._manner.body(self._system, user, max_tokens) | {"logprobs": True}
            body = await self._endpoint.post(COMPLETIONS, request)
        choice = choice_of(body)
        logprobs = logprobs_of(choice)
        if logprobs is None:
            raise UnusableReply("the model's reply came without its log-probabilities")
        return Scored(text_of(choice), logprobs, tokens_of(body, read, choice))


def open_chat(spec: ChatSpec, patience: Patience | None = None) -> OpenAIChat:
    """The model that `spec` names. Calls nothing. Raises ConfigurationError."""
    patience = patience or Patience()
    endpoint = Endpoint("the language model", spec.base_url, spec.api_key, patience)
    assert spec.model is not None
    return OpenAIChat(endpoint, spec.model, spec.revision or "api", spec.context_tokens, patience.discovery)


def _succeeded(task: asyncio.Task[Manner]) -> bool:
    return not task.cancelled() and task.exception() is None


def _sized(manner: Manner, system: str, user: str, max_tokens: int) -> int:
    """Tokens of a prompt, about. Raises ContextOverflow if with its reply it is longer than the window."""
    read = count_tokens(system) + count_tokens(user) + TEMPLATE_TOKENS
    if read + max_tokens > manner.window:
        raise ContextOverflow(
            f"the prompt has about {read} tokens, its reply may have {max_tokens}, and the model's window is "
            f"{manner.window}"
        )
    return read
