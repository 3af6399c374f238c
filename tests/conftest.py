"""What all tests share: real databases, and the service over real HTTP.

Every test that asks for `settings`, `built` or `api` runs twice, on SQLite and on Postgres, each time on a
fresh database. `TEST_POSTGRES_URL` names a server to use instead of the one from the package index;
`TEST_WAIT_SECONDS` bounds the waiting for what does not come.
"""

import asyncio
import os
import shutil
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from uuid import uuid4

import httpx
import hypothesis
import psycopg
import pytest
import uvicorn

from app.container import Container, build
from app.main import configured, create_app
from app.settings import DatabaseSettings, LimitSettings, ModelSettings, ReadSettings, Settings
from app.storage import migrate
from tests.servers import database_of, postgres_server
from tests.smollm2 import models_folder

__all__ = ["models_folder"]

RAM = Path("/dev/shm")
ROOM = 2**30  # bytes; far more than the tests need

# Longest a test waits for what is to come, in seconds: a bound for what hangs, not for what is slow.
WAIT = int(os.environ.get("TEST_WAIT_SECONDS", "240"))

# The same examples in every run, and no verdict by the clock: a test is red because of a change, not of a busy
# machine. `--hypothesis-profile=default` looks for new ones.
hypothesis.settings.register_profile(
    "steady", derandomize=True, deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


# Files that take long, the longest first: one that is left for the end keeps one process waiting for the other.
LONG_FILES = (
    "e2e/test_locomo.py",
    "e2e/test_crash.py",
    "e2e/test_reembed.py",
    "integration/test_dialogues.py",
    "e2e/test_kill.py",
    "integration/test_smollm2.py",
    "e2e/test_wheel.py",
    "integration/test_doctor.py",
    "e2e/test_compose.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first; the order within each stays."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a Postgres server with pgvector."""
    with postgres_server() as url:
        yield url


def _async_url(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


@contextmanager
def _administrator(server: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> str:
    """Name of a migrated database that others are cloned from."""
    name = f"template_{uuid4().hex[:12]}"
    with _administrator(postgres) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    migrate.upgrade(_async_url(database_of(postgres, name)))
    return name


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that others are copied from."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate.upgrade(f"sqlite+aiosqlite:///{path}")
    return path


@contextmanager
def sqlite_copy(template: Path) -> Iterator[str]:
    """URL of a copy of an SQLite file; in memory, where the machine has a folder there: no commit waits for a disk."""
    place = RAM if RAM.is_dir() and shutil.disk_usage(RAM).free > ROOM else None
    with TemporaryDirectory(prefix="xm-", dir=place) as folder:
        path = Path(folder) / "memory.db"
        shutil.copy(template, path)
        yield f"sqlite+aiosqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a fresh, migrated database."""
    if request.param == "sqlite":
        with sqlite_copy(request.getfixturevalue("sqlite_template")) as url:
            yield url
        return
    server, template = request.getfixturevalue("postgres"), request.getfixturevalue("postgres_template")
    name = f"test_{uuid4().hex[:12]}"
    with _administrator(server) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield _async_url(database_of(server, name))
    with _administrator(server) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def settings_for(database_url: str) -> Settings:
    """A service with hash vectors instead of a model, in which only jobs try again, and nobody is impatient."""
    return Settings(
        _env_file=None,
        database_url=database_url,
        embedder="scripted",
        models=ModelSettings(attempts=1),
        database=DatabaseSettings(connection_seconds=60, lock_seconds=60, clean_rest_seconds=0),
        read=ReadSettings(wait_seconds=60),
        limits=LimitSettings(key_requests=0, namespace_requests=0),
        log_level="warning",
    )


@pytest.fixture
def settings(database_url: str) -> Settings:
    """Settings of a fast service on a database of its own."""
    return settings_for(database_url)


@pytest.fixture
async def built(settings: Settings) -> AsyncIterator[Container]:
    """A built service without HTTP; nothing runs jobs unless the test does."""
    async with build(settings) as container:
        yield container


@pytest.fixture
def time_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets seconds pass for guarded models, without waiting for them."""
    passed = 0.0

    def let_pass(seconds: float) -> None:
        nonlocal passed
        passed += seconds

    monkeypatch.setattr("app.providers.guard.time", SimpleNamespace(monotonic=lambda: time.monotonic() + passed))
    return let_pass


class Api(httpx.AsyncClient):
    """An HTTP client of the service under test."""

    async def settle(self, namespace: str, **body: object) -> dict[str, object]:
        """Flush and wait until all background work is done."""
        reply = await self.post(f"/v1/namespaces/{namespace}/flush", json={"wait_seconds": WAIT, **body})
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def say(self, namespace: str, *contents: str, conversation: str = "chat", **fields: object) -> dict:
        """Post messages of one speaker."""
        messages = [{"role": "user", "content": content, **fields} for content in contents]
        path = f"/v1/namespaces/{namespace}/conversations/{conversation}/messages"
        reply = await self.post(path, json={"messages": messages})
        assert reply.status_code == 202, reply.text
        return reply.json()

    async def all(self, path: str, **params: object) -> list[dict]:
        """Every item of a list, page by page."""
        items: list[dict] = []
        cursor: dict[str, str] = {}
        while True:
            reply = await self.get(path, params={"limit": 100, **params, **cursor})
            assert reply.status_code == 200, reply.text
            items += reply.json()["items"]
            if reply.json()["next_cursor"] is None:
                return items
            cursor = {"cursor": reply.json()["next_cursor"]}


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Api]:
    """The service on a free port of this machine, in this process."""
    # The protocol is named, or asyncio would not turn off Nagle's algorithm: 40 ms more for each request.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        app = create_app(settings)
        server = uvicorn.Server(configured(app, settings))
        async with app.router.lifespan_context(app):
            running = asyncio.create_task(server.serve([listener]))
            try:
                async with Api(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=WAIT + 30) as client:
                    yield client
            finally:
                server.should_exit = True
                await running


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[Api]:
    """The service over HTTP, with background work running."""
    async with serving(settings) as client:
        yield client
