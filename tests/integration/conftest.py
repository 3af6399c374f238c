"""A service that many tests share: each has namespaces of its own, so none sees another's."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import make_url

from app.container import Container, build
from app.settings import Settings
from tests.conftest import Api, serving, settings_for, sqlite_copy
from tests.integration.keyed import ADMIN_KEY, asking_for_keys, showing
from tests.integration.reembed import remember
from tests.integration.stubbed import Stub, stubbed
from tests.servers import database_of


@contextmanager
def database(request: pytest.FixtureRequest, kind: str | None = None) -> Iterator[str]:
    """URL of a migrated database of its own: of this kind, or for a fixture with the params sqlite and postgres."""
    if (kind or request.param) == "sqlite":
        with sqlite_copy(request.getfixturevalue("sqlite_template")) as url:
            yield url
        return
    with _clone(request.getfixturevalue("postgres"), request.getfixturevalue("postgres_template")) as url:
        yield url


@contextmanager
def copy_of(url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a copy of a database to which nobody is connected."""
    source = make_url(url).database
    assert source is not None
    if url.startswith("sqlite"):
        with sqlite_copy(Path(source)) as copy:
            yield copy
        return
    with _clone(request.getfixturevalue("postgres"), source) as copy:
        yield copy


@contextmanager
def _clone(server: str, template: str) -> Iterator[str]:
    name = f"shared_{uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield database_of(server, name).replace("postgresql://", "postgresql+psycopg://", 1)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
async def shared(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """One service over HTTP for the whole run, on each database; it starts once instead of for every test."""
    with database(request) as url:
        async with serving(settings_for(url)) as client:
            yield client


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
async def locked(request: pytest.FixtureRequest) -> AsyncIterator[Api]:
    """The same of a service that asks for keys; this client has the administrator's."""
    with database(request) as url:
        async with serving(asking_for_keys(settings_for(url))) as client, showing(client, ADMIN_KEY) as admin:
            yield admin


@pytest.fixture(scope="module")
async def server() -> AsyncIterator[Stub]:
    """An OpenAI-compatible endpoint."""
    async with stubbed() as running:
        yield running


@pytest.fixture
async def stub(server: Stub) -> AsyncIterator[Stub]:
    """The endpoint, as if it had just begun."""
    yield server
    server.reset()


@pytest.fixture
def ada() -> str:
    """The name of a namespace that nobody has used."""
    return f"ada-{uuid4().hex[:8]}"


@pytest.fixture
def bob() -> str:
    """Another one."""
    return f"bob-{uuid4().hex[:8]}"


@pytest.fixture
async def changing(settings: Settings) -> Settings:
    """Settings that change the model, of a database with memory in it."""
    async with build(settings) as built:
        await remember(built)
    return settings.model_copy(update={"embedder_next": "scripted:96"})


@pytest.fixture
async def both(changing: Settings) -> AsyncIterator[Container]:
    """A service with both models; nothing runs its jobs unless the test does."""
    async with build(changing) as built:
        yield built
