"""Causal language models of a few thousand random numbers: real code on every path, in milliseconds."""

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    PreTrainedConfig,
    PreTrainedTokenizerFast,
)
from transformers.utils.logging import disable_progress_bar

from app.domain.chat import Prompt, Stage
from app.providers.causal.loading import Loaded, load_model
from app.providers.specs import ChatSpec

MARKERS = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MERGES = [("e", "r"), ("t", "h"), ("th", "e"), ("Ġ", "the"), ("a", "n"), ("i", "n"), ('"', ","), ('"', ":")]
WINDOW = 1024
VOCABULARY = 288  # some more than the tokenizer has, as real models have

SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": WINDOW,
    "bos_token_id": None,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
LLAMA = LlamaConfig(**SIZES)
SLIDING = MistralConfig(**SIZES, sliding_window=24)
LEARNED_PLACES = GPT2Config(
    vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4, n_positions=WINDOW, bos_token_id=0, eos_token_id=0
)


def tokenizer(template: str | None = TEMPLATE) -> PreTrainedTokenizerFast:
    """Bytes, a few merges and the markers of a chat template."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = [*MARKERS, *alphabet, *("".join(pair) for pair in MERGES)]
    made = Tokenizer(models.BPE({word: place for place, word in enumerate(words)}, MERGES))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=MARKERS[0], additional_special_tokens=list(MARKERS[1:])
    )
    fast.chat_template = template
    return fast


def write(folder: Path, config: PreTrainedConfig = LLAMA, template: str | None = TEMPLATE, seed: int = 0) -> Path:
    """A model in a folder, as a hub would have it."""
    disable_progress_bar()
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # the usual small numbers would make all tokens about as likely
    model.save_pretrained(folder)
    tokenizer(template).save_pretrained(folder)
    return folder


def load(folder: Path, **spec: object) -> Loaded:
    """The model in a folder."""
    return load_model(ChatSpec("transformers", model=str(folder), device="cpu", **spec))


def prompt(user: str, schema: dict[str, object] | None = None, max_tokens: int = 40) -> Prompt:
    return Prompt(Stage.CHECK, "1", "Be brief.", user, schema, max_tokens)


def direct_logprobs(loaded: Loaded, tokens: Sequence[int], said: Sequence[int]) -> list[float]:
    """The log-probability of each said token, from one plain pass: no cache, no batch, no padding."""
    with torch.inference_mode():
        logits = loaded.model(torch.tensor([[*tokens, *said]])).logits[0, len(tokens) - 1 : -1]
        return logits.float().log_softmax(-1)[torch.arange(len(said)), torch.tensor(said)].tolist()
