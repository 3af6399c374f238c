"""Descriptions of models: what the settings say of them."""

from dataclasses import dataclass, field
from typing import Literal

MODELS_FOLDER = "~/.cache/xmemory/models"  # where `xmemory models pull` puts them, unless told otherwise

ChatKind = Literal["extractive", "openai", "transformers", "scripted"]


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """Which embedding model: minilm, openai[:MODEL[@DIMENSION]], hf:NAME@REVISION or scripted[:DIMENSION]."""

    name: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ChatSpec:
    """Which language model, and how to reach or load it."""

    kind: ChatKind
    model: str | None = None  # openai: its name at the endpoint; transformers: a hub name, a folder, smollm2-135m
    revision: str | None = None  # transformers: of a hub name; elsewhere a word that provenance records
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_tokens: int | None = None  # its window, where it does not say itself
    gguf_file: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    models_folder: str = MODELS_FOLDER
