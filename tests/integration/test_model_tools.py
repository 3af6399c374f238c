"""`xmemory models`, as it is typed."""

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.cli import app
from app.providers.model_files import Manifest, write_manifest
from tests.unit import tiny_model


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XMEMORY_EMBEDDER", "scripted")
    monkeypatch.setenv("XMEMORY_MODELS_FOLDER", str(tmp_path / "models"))
    return tmp_path / "models"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["models", *arguments])


def test_list_says_how_to_get_a_model() -> None:
    result = run("list")
    assert result.exit_code == 0
    assert "xmemory models pull smollm2-135m" in result.output
    assert "extractive" in result.output


def test_list_shows_models_that_are_whole(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XMEMORY_CHAT", "transformers")
    monkeypatch.setenv("XMEMORY_CHAT_MODEL", "someone/tiny[b]")
    for name in ("whole", "half"):
        (environment / name).mkdir(parents=True)
        (environment / name / "model.safetensors").write_bytes(b"x" * 5_000_000)
    write_manifest(environment / "whole", Manifest("someone/tiny", "abc", "hub"))
    output = run("list").output
    assert "someone/tiny  abc       hub   5 MB" in output
    assert "half" not in output
    assert "transformers someone/tiny[b]" in output


def test_pull_says_why_it_cannot() -> None:
    result = run("pull", "not a name")
    assert result.exit_code == 1
    assert "not a name cannot be fetched" in result.stderr
    assert result.stdout == ""


def test_check_without_a_language_model() -> None:
    result = run("check")
    assert result.exit_code == 0
    assert result.output.count(" ok ") == 4


def test_check_of_the_double(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XMEMORY_CHAT", "scripted")
    result = run("check")
    assert result.exit_code == 0
    for call in ("embed a question", "capabilities", "reply in words", "reply in JSON", "log-probabilities"):
        assert call in result.output


def test_check_of_a_local_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XMEMORY_CHAT", "transformers")
    monkeypatch.setenv("XMEMORY_CHAT_MODEL", str(tiny_model.write(tmp_path / "tiny")))
    result = run("check")
    assert "1,024 tokens" in result.output
    assert "prefix reuse" in result.output
    assert "nats a token" in result.output


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"CHAT": "openai", "CHAT_MODEL": "x", "CHAT_BASE_URL": "http://127.0.0.1:9/v1"}, "provider_unavailable"),
        ({"CHAT": "transformers", "CHAT_MODEL": "smollm2-135m"}, "xmemory models pull smollm2-135m"),
        ({"EMBEDDER": "hf:nowhere/nothing@1", "CHAT": "scripted"}, "cannot be loaded"),
    ],
)
def test_check_fails_for_what_does_not_work(
    settings: dict[str, str], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "nowhere" / "nothing").mkdir(parents=True)  # a folder: nothing is looked for elsewhere
    for name, value in settings.items():
        monkeypatch.setenv(f"XMEMORY_{name}", value)
    result = run("check")
    assert result.exit_code == 1
    assert "failed" in result.output
    assert told in " ".join(result.output.split())
