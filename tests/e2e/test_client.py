"""docs/clients.md, word for word: its command makes a client, and its example runs against a live service."""

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from app.main import create_app
from app.settings import Settings
from tests.conftest import Api, serving

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"


def _blocks(language: str) -> list[str]:
    """The page's code in a language."""
    pieces = PAGE.read_text(encoding="utf-8").split("```")[1::2]
    return [piece.removeprefix(f"{language}\n") for piece in pieces if piece.startswith(f"{language}\n")]


async def _run(folder: Path, *command: str) -> str:
    """Run a command of this environment in a folder; return all that it prints. It must not fail."""
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, "PATH": places, "COLUMNS": "200", "PYTHONPATH": ""},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed = (await process.communicate())[0].decode()
    assert process.returncode == 0, printed
    return printed


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A service on a temporary SQLite file, without a model."""
    url = f"sqlite+aiosqlite:///{tmp_path}/memory.db"
    return Settings(_env_file=None, database_url=url, embedder="scripted", log_level="warning")


async def _generate(settings: Settings, folder: Path) -> str:
    (folder / "client").mkdir()
    document = create_app(settings).openapi()
    (folder / "client" / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    [shell] = _blocks("sh")
    [command] = [line for line in shell.splitlines() if line.startswith("openapi-python-client")]
    return await _run(folder, *shlex.split(command))


async def test_the_generator_understands_the_whole_document(settings: Settings, tmp_path: Path) -> None:
    printed = await _generate(settings, tmp_path)
    assert "warning" not in printed.lower(), printed
    operations = {path.stem for path in (tmp_path / "client" / "xmemory_client" / "api").glob("*/*.py")} - {"__init__"}
    paths = create_app(settings).openapi()["paths"]
    assert operations == {each["operationId"] for item in paths.values() for each in item.values()}


async def test_the_generated_client_remembers_and_answers(settings: Settings, tmp_path: Path) -> None:
    await _generate(settings, tmp_path)
    [example, streamed] = _blocks("python")
    async with serving(settings) as api:
        printed = await _run_example(api, example, tmp_path / "client")
        assert "Miso" in await _run_example(api, streamed, tmp_path / "client")
    accepted, settled, *context, answer, cited, status, missing = printed.splitlines()
    assert accepted == "3 accepted, up to sequence 3"
    assert settled == "settled: True"
    assert any("Ada: I moved to Lisbon last week." in line for line in context)
    assert "Miso" in answer
    assert "m3" in cited
    assert status.startswith("3 messages, ")
    assert missing == "404 Not found"


async def _run_example(api: Api, example: str, folder: Path) -> str:
    url = str(api.base_url).rstrip("/")
    assert "http://localhost:8000" in example
    (folder / "example.py").write_text(example.replace("http://localhost:8000", url), encoding="utf-8")
    return await _run(folder, sys.executable, "example.py")
