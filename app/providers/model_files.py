"""Model files in the models folder: where a language model is, and which are here.

A model that was pulled is a folder of its own: configuration, safetensors, tokenizer, and `xmemory.json`, which says
what it is. It is written elsewhere and then renamed: a folder that is here is whole.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from app.domain.errors import ConfigurationError
from app.providers.specs import ChatSpec

SMOLLM2 = "smollm2-135m"
MANIFEST = "xmemory.json"
WEIGHTS = "model.safetensors"  # of a model that was converted here

Report = Callable[[str, int, int], None]
"""Told while a model is fetched: what is being done, how much of it is done, and how much there is (0: not known)."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a pulled model is. `weights_sha256` is of a converted model's one file of weights; empty for others."""

    name: str
    revision: str
    source: str
    weights_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is loaded from, and what its texts are recorded with."""

    source: str  # a folder, or a hub name
    name: str
    revision: str | None  # None: the hub tells which commit it is
    hub_revision: str | None = None  # of a model that comes from a hub


def place_of(spec: ChatSpec) -> Place:
    """The place of the model that `spec` names. Raises ConfigurationError."""
    assert spec.model is not None
    if spec.model == SMOLLM2:
        return _converted(models_folder(spec.models_folder) / SMOLLM2)
    if Path(spec.model).expanduser().is_dir():
        folder = Path(spec.model).expanduser().resolve()
        return Place(str(folder), folder.name, spec.revision or _fingerprint(folder))
    if not spec.revision:
        raise ConfigurationError(
            f"XMEMORY_CHAT_MODEL={spec.model} is no folder here, and a hub model needs XMEMORY_CHAT_REVISION: "
            f"`xmemory models pull {spec.model}` fetches it and says which"
        )
    pulled = models_folder(spec.models_folder) / folder_name(spec.model, spec.revision)
    if pulled.is_dir():
        return Place(str(pulled), spec.model, spec.revision)
    return Place(spec.model, spec.model, None, spec.revision)


def models_folder(setting: str) -> Path:
    """The models folder."""
    return Path(setting).expanduser()


def folder_name(name: str, revision: str) -> str:
    """The folder of a hub model."""
    return f"{name.replace('/', '--')}@{revision}"


def manifests(models: Path) -> list[tuple[Path, Manifest]]:
    """The models that are here, by name."""
    found = [(path.parent, read_manifest(path.parent)) for path in sorted(models.glob(f"*/{MANIFEST}"))]
    return [(folder, manifest) for folder, manifest in found if manifest is not None]


def read_manifest(folder: Path) -> Manifest | None:
    """What the model in a folder is; None if it was not pulled by us."""
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Say what the model in a folder is."""
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _converted(folder: Path) -> Place:
    manifest = read_manifest(folder)
    if manifest is None:
        raise ConfigurationError(f"{SMOLLM2} is not here yet: run `xmemory models pull {SMOLLM2}`")
    if not (folder / WEIGHTS).is_file() or sha256_of(folder / WEIGHTS) != manifest.weights_sha256:
        raise ConfigurationError(f"the files of {SMOLLM2} are damaged: run `xmemory models pull {SMOLLM2}` again")
    return Place(str(folder), manifest.name, manifest.revision)


def _fingerprint(folder: Path) -> str:
    """A folder's weights, told from others: a hash over the hashes of its files."""
    whole = hashlib.sha256()
    for path in sorted([*folder.glob("*.safetensors"), *folder.glob("*.gguf")]):
        whole.update(f"{path.name} {sha256_of(path)}\n".encode())
    return whole.hexdigest()[:8]
