"""The models of a configuration: from settings to embedders and a language model that are guarded and counted."""

from contextlib import ExitStack

from app.providers.build import build_chat, build_embedder
from app.providers.embedders import Embedders
from app.providers.guard import GuardPolicy
from app.providers.guarded import GuardedChat, GuardedEmbedder
from app.providers.protocols import Embedder
from app.providers.specs import ChatSpec, EmbedderSpec
from app.settings import Settings
from app.telemetry.metrics import Metrics

CHAT_RECENT_SECONDS = 120.0  # a look at a language model's health costs tokens: rarely, where nothing else is asked
CHAT_PROBE_SECONDS = 5.0  # a dozen tokens of a slow local model


def open_embedders(settings: Settings, stack: ExitStack) -> Embedders[Embedder]:
    """The embedding models of `settings`; they are closed with `stack`. Raises ConfigurationError."""
    current, wanted = build_embedder(embedder_spec(settings)), next_embedder_spec(settings)
    stack.callback(current.close)
    if wanted is None:
        return Embedders(current)
    coming = build_embedder(wanted)
    stack.callback(coming.close)
    return Embedders(current, coming)


def embedder_spec(settings: Settings) -> EmbedderSpec:
    """The embedding model that is configured."""
    key = settings.embedder_api_key or settings.chat_api_key
    secret = None if key is None else key.get_secret_value()
    return EmbedderSpec(settings.embedder, settings.embedder_base_url or settings.chat_base_url, secret)


def next_embedder_spec(settings: Settings) -> EmbedderSpec | None:
    """The one that vectors are being changed to, if there is one."""
    if settings.embedder_next is None:
        return None
    present, key = embedder_spec(settings), settings.embedder_next_api_key
    return EmbedderSpec(
        settings.embedder_next,
        settings.embedder_next_base_url or present.base_url,
        present.api_key if key is None else key.get_secret_value(),
    )


def guarded(embedders: Embedders[Embedder], settings: Settings, metrics: Metrics) -> Embedders[GuardedEmbedder]:
    """The same models, each called with patience and counted."""
    policy = GuardPolicy(
        call_seconds=settings.models.embed_seconds,
        attempts=settings.models.attempts,
        concurrency=settings.models.concurrency,
    )
    return embedders.each(lambda embedder: GuardedEmbedder(embedder, policy, metrics))


def open_chat(settings: Settings, metrics: Metrics) -> GuardedChat | None:
    """The language model of `settings`, guarded; None if there is none. Raises ConfigurationError."""
    inner = build_chat(chat_spec(settings))
    if inner is None:
        return None
    policy = GuardPolicy(
        call_seconds=settings.models.chat_seconds,
        attempts=settings.models.attempts,
        concurrency=settings.models.concurrency,
        recent_seconds=CHAT_RECENT_SECONDS,
        probe_seconds=CHAT_PROBE_SECONDS,
        one_at_a_time=True,
        job_tokens=settings.models.job_tokens,
    )
    return GuardedChat(inner, policy, metrics)


def chat_spec(settings: Settings) -> ChatSpec:
    """The language model that is configured."""
    return ChatSpec(
        kind=settings.chat,
        model=settings.chat_model,
        revision=settings.chat_revision,
        base_url=settings.chat_base_url,
        api_key=None if settings.chat_api_key is None else settings.chat_api_key.get_secret_value(),
        context_tokens=settings.chat_context_tokens,
        gguf_file=settings.chat_gguf_file,
        device=settings.chat_device,
        dtype=settings.chat_dtype,
        models_folder=settings.models_folder,
    )
