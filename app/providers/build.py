"""From a description of a model to the model. SDKs and torch are imported only where one is used."""

from app.domain.errors import ConfigurationError
from app.providers.protocols import ChatModel, Embedder
from app.providers.scripted import ScriptedEmbedder
from app.providers.specs import ChatSpec, EmbedderSpec


def build_embedder(spec: EmbedderSpec) -> Embedder:
    """The embedder that a description names. Raises ConfigurationError."""
    kind, _, rest = spec.name.partition(":")
    if kind == "scripted":
        return ScriptedEmbedder(int(rest)) if rest else ScriptedEmbedder()
    if kind == "openai":
        from app.providers import embeddings_openai  # noqa: PLC0415

        return embeddings_openai.open_embedder(spec)
    from app.providers import embeddings  # noqa: PLC0415  (torch takes seconds)

    if kind == "minilm":
        return embeddings.minilm()
    model, _, revision = rest.rpartition("@")
    return embeddings.hugging_face(model, revision)


def build_chat(spec: ChatSpec) -> ChatModel | None:
    """The language model that a description names; None for the extractive form. Raises ConfigurationError."""
    if spec.kind == "extractive":
        return None
    if spec.kind == "scripted":
        from app.providers.scripted_chat import ScriptedChat  # noqa: PLC0415

        return ScriptedChat()
    if spec.model is None:
        raise ConfigurationError(f"XMEMORY_CHAT={spec.kind} needs XMEMORY_CHAT_MODEL")
    if spec.kind == "openai":
        from app.providers import chat_openai  # noqa: PLC0415

        return chat_openai.open_chat(spec)
    from app.providers import chat_transformers  # noqa: PLC0415  (torch takes seconds)

    return chat_transformers.load(spec)
