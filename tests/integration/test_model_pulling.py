"""Fetching models from a hub: one on this machine that serves what the hub library asks for."""

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.providers.causal.loading import load_model
from app.providers.model_files import manifests, place_of
from app.providers.model_pulling import pull
from app.providers.specs import ChatSpec
from tests.unit import tiny_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LATER = "f" * 40


class Hub(ThreadingHTTPServer):
    """Serves one repository from a folder, at two commits with the same files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.fetched: list[str] = []
        self.failing: str | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        revisions = {"main": LATER, COMMIT: COMMIT, LATER: LATER}
        api = "/api/models/someone/tiny"
        if path.startswith(f"{api}/revision/") and (commit := revisions.get(path.rpartition("/")[2])):
            self._send(json.dumps({"id": "someone/tiny", "modelId": "someone/tiny", "sha": commit, "siblings": []}))
        elif path.startswith(f"{api}/tree/"):
            self._send(json.dumps([self._entry(file) for file in sorted(self.server.folder.iterdir())]))
        elif path.startswith("/someone/tiny/resolve/"):
            self._send_file(path.removeprefix("/someone/tiny/resolve/").partition("/")[2], path.split("/")[4])
        else:
            self.send_error(404)

    def _entry(self, file: Path) -> dict[str, object]:
        return {"type": "file", "path": file.name, "size": file.stat().st_size, "oid": _hash(file.read_bytes())}

    def _send_file(self, name: str, commit: str) -> None:
        if name == self.server.failing:
            self.send_error(404)
            return
        if self.command == "GET":
            self.server.fetched.append(name)
        self._send((self.server.folder / name).read_bytes(), {"X-Repo-Commit": commit})

    def _send(self, body: str | bytes, headers: dict[str, str] | None = None) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(200)
        for name, value in {"Content-Length": str(len(data)), "ETag": f'"{_hash(data)}"', **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


def _hash(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    folder = tiny_model.write(tmp_path / "repository")
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    (folder / "README.md").write_text("hello")
    with Hub(folder) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class Reports:
    """What a pull tells on its way."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    def __call__(self, step: str, done: int, total: int) -> None:
        self.told.append((step, done, total))


def test_a_pulled_model_can_be_loaded(hub: Hub, tmp_path: Path) -> None:
    models, reports = tmp_path / "models", Reports()
    folder, manifest = pull(f"someone/tiny@{COMMIT}", models, reports, hub.url)
    assert (manifest.name, manifest.revision) == ("someone/tiny", COMMIT)
    assert "pytorch_model.bin" not in hub.fetched
    assert {path.name for path in folder.iterdir()} == {*hub.fetched, "xmemory.json"}
    step, done, total = reports.told[-1]
    assert step == "Downloading"
    assert done == total == sum((hub.folder / name).stat().st_size for name in hub.fetched)
    loaded = load_model(ChatSpec("transformers", "someone/tiny", revision=COMMIT, models_folder=str(models)))
    assert (loaded.name, loaded.revision) == ("someone/tiny", COMMIT)


def test_without_a_revision_the_newest_commit_is_pinned(hub: Hub, tmp_path: Path) -> None:
    _, manifest = pull("someone/tiny", tmp_path / "models", Reports(), hub.url)
    assert manifest.revision == LATER


def test_what_is_here_is_not_fetched_again(hub: Hub, tmp_path: Path) -> None:
    first = pull(f"someone/tiny@{COMMIT}", tmp_path / "models", Reports(), hub.url)
    fetched = len(hub.fetched)
    assert pull(f"someone/tiny@{COMMIT}", tmp_path / "models", Reports(), hub.url) == first
    assert len(hub.fetched) == fetched
    assert manifests(tmp_path / "models") == [first]


def test_a_pull_that_breaks_off_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    hub.failing = "tokenizer.json"
    with pytest.raises(ProviderUnavailable, match=r"someone/tiny.* cannot be fetched"):
        pull(f"someone/tiny@{COMMIT}", tmp_path / "models", Reports(), hub.url)
    assert list((tmp_path / "models").iterdir()) == []
    hub.failing = None
    pull(f"someone/tiny@{COMMIT}", tmp_path / "models", Reports(), hub.url)


def test_why_a_model_cannot_be_pulled(hub: Hub, tmp_path: Path) -> None:
    for name in ("someone/else", "someone/tiny@nonsense", "not a name"):
        with pytest.raises(ProviderUnavailable, match="cannot be fetched"):
            pull(name, tmp_path, Reports(), hub.url)
    with pytest.raises(ProviderUnavailable, match="cannot be fetched"):
        pull("someone/tiny", tmp_path, Reports(), "http://127.0.0.1:9")
    (hub.folder / "model.safetensors").unlink()
    with pytest.raises(ConfigurationError, match="safetensors"):
        pull("someone/tiny", tmp_path, Reports(), hub.url)


def test_a_model_that_is_not_here_comes_from_the_hub_at_its_revision() -> None:
    place = place_of(ChatSpec("transformers", "someone/tiny", revision=COMMIT, models_folder="/nowhere"))
    assert (place.source, place.hub_revision) == ("someone/tiny", COMMIT)
