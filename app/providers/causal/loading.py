"""From a folder or a hub name to a model that is ready to run. Nothing that is read is ever run."""

import inspect
from dataclasses import dataclass
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.utils.logging import disable_progress_bar

from app.domain.errors import ConfigurationError, ContextOverflow
from app.providers.causal.constraint import Grammars
from app.providers.causal.framing import Frame, Words, frame_of
from app.providers.model_files import Place, place_of
from app.providers.specs import ChatSpec

FAILURES = (OSError, ValueError, ImportError, RuntimeError, KeyError, SafetensorError)
WINDOWS = ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length")
"""What configurations call the longest sequence."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loaded:
    """A model and all that is known of it. `window` is in its tokens, prompt and reply together."""

    model: Any
    device: torch.device
    name: str
    revision: str
    window: int
    words: Words
    frame: Frame
    grammars: Grammars
    ends: frozenset[int]
    """Tokens that end a reply."""

    def beginning(self, system: str, user: str) -> list[int]:
        """Tokens of a prompt whose user's text goes on. Raises ContextOverflow."""
        return self._fitting(self.frame.until(self.words.of_text(system), self.words.of_text(user)), 1)

    def prompt(self, system: str, user: str, max_tokens: int) -> list[int]:
        """Tokens of a whole prompt. Raises ContextOverflow if there is no room for a reply of `max_tokens`."""
        return self._fitting(self.frame.around(self.words.of_text(system), self.words.of_text(user)), max_tokens)

    def _fitting(self, tokens: list[int], reply: int) -> list[int]:
        if len(tokens) + reply > self.window:
            raise ContextOverflow(
                f"the prompt has {len(tokens)} tokens, its reply may have {reply}, and the model's window is "
                f"{self.window}"
            )
        return tokens


def load_model(spec: ChatSpec) -> Loaded:
    """The model that `spec` names, on its device. Blocking. Raises ConfigurationError."""
    place = place_of(spec)
    disable_progress_bar()
    device, dtype = _device(spec.device), _dtype(spec.dtype)
    if dtype == "auto" and device.type == "cpu":
        dtype = torch.float32  # half precision blurs log-probabilities, and most CPUs are no faster with it
    at = {"revision": place.hub_revision, "gguf_file": spec.gguf_file}
    try:
        tokenizer = AutoTokenizer.from_pretrained(place.source, trust_remote_code=False, **at)
        model = AutoModelForCausalLM.from_pretrained(
            place.source, dtype=dtype, use_safetensors=True, trust_remote_code=False, **at
        )
        model = model.eval().to(device)
    except FAILURES as error:
        raise ConfigurationError(f"the language model {place.name} cannot be loaded: {_told(error)}") from error
    return _described(spec, place, model, tokenizer, device)


def _described(spec: ChatSpec, place: Place, model: Any, tokenizer: Any, device: torch.device) -> Loaded:  # noqa: ANN401
    _require_plain_cache(model, place.name)
    if not getattr(tokenizer, "is_fast", False):
        raise ConfigurationError(f"{place.name} has no tokenizer.json: convert its tokenizer first")
    words = Words(tokenizer)
    ends = _ends(model, tokenizer)
    return Loaded(
        model=model,
        device=device,
        name=place.name,
        revision=place.revision or getattr(model.config, "_commit_hash", None) or place.hub_revision or "",
        window=_window(spec, model.config, place.name),
        words=words,
        frame=frame_of(tokenizer, words, place.name),
        grammars=Grammars(tokenizer, model.get_output_embeddings().weight.shape[0], sorted(ends)),
        ends=ends,
    )


def _require_plain_cache(model: Any, name: str) -> None:  # noqa: ANN401
    """What a model remembers of a sequence must be keys and values, which can be cut, copied and laid side by side."""
    layers = DynamicCache(config=model.config).layers
    plain = all(type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
    if not plain or "cache" not in inspect.signature(model.forward).parameters:
        raise ConfigurationError(f"{name} keeps more than keys and values of what it read; this is not supported")


def _device(name: str) -> torch.device:
    try:
        if name == "auto":
            return torch.accelerator.current_accelerator(check_available=True) or torch.device("cpu")
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for the device
        raise ConfigurationError(f"XMEMORY_CHAT_DEVICE={name} cannot be used: {_told(error)}") from error
    return device


def _dtype(name: str) -> Any:  # noqa: ANN401
    return name if name == "auto" else getattr(torch, name)


def _window(spec: ChatSpec, config: Any, name: str) -> int:  # noqa: ANN401
    text = config.get_text_config()
    told = next((value for key in WINDOWS if isinstance(value := getattr(text, key, None), int) and value > 0), None)
    window = min((value for value in (told, spec.context_tokens) if value), default=None)
    if window is None:
        raise ConfigurationError(f"{name} does not say how much it can read: set XMEMORY_CHAT_CONTEXT_TOKENS")
    return window


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:  # noqa: ANN401
    """The tokens that end a reply."""
    named = [getattr(model.generation_config, "eos_token_id", None), tokenizer.eos_token_id]
    return frozenset(
        token for each in named for token in (each if isinstance(each, list) else [each]) if token is not None
    )


def _told(error: BaseException) -> str:
    """An error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
