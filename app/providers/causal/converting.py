"""From a GGUF file to a folder of safetensors with a fast tokenizer: `python converting.py GGUF FOLDER`.

Loading a GGUF file takes a quarter of a minute every time, most of it for its tokenizer; the folder loads in two
seconds. Weights are written as float32, which is exactly what the file's four bits and scales say: half precision
would round them, and float32 is mapped into memory as it is. A program of its own: it needs a gigabyte for a while.
"""

import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

OF_THE_FILE = ("quantization_config", "_name_or_path")  # in its configuration, and not true of the folder


def convert(gguf: Path, target: Path) -> None:
    """Write the model in `gguf` to the new folder `target`."""
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    AutoTokenizer.from_pretrained(**source, trust_remote_code=False).save_pretrained(target)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32, trust_remote_code=False)
    _plain(model).save_pretrained(target)


def _plain(model: Any) -> Any:  # noqa: ANN401
    """The same model, without a trace of the file: transformers does not save one that came from a GGUF file."""
    told = {key: value for key, value in model.config.to_dict().items() if key not in OF_THE_FILE}
    with torch.device("meta"):
        plain = AutoModelForCausalLM.from_config(type(model.config).from_dict(told))
    plain.load_state_dict(model.state_dict(), assign=True)
    plain.tie_weights()
    plain.generation_config = model.generation_config
    return plain


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
