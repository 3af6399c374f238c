"""A service that many tests share: each has namespaces of its own, so none sees another's."""

import shutil
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from app.settings import Settings
from tests.conftest import Api, _administrator, _async_url, _database, serving


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
async def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    """One service over HTTP for the whole run, on each database; it starts once instead of for every test."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("shared") / "memory.db"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        url = f"sqlite+aiosqlite:///{path}"
    else:
        url = _shared_postgres(request.getfixturevalue("postgres"), request.getfixturevalue("postgres_template"))
    async with serving(Settings(_env_file=None, database_url=url, embedder="scripted", log_level="warning")) as client:
        yield client


def _shared_postgres(server: str, template: str) -> str:
    name = f"shared_{uuid4().hex[:12]}"
    with _administrator(server) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return _async_url(_database(server, name))


@pytest.fixture
def ada() -> str:
    """The name of a namespace that nobody has used."""
    return f"ada-{uuid4().hex[:8]}"


@pytest.fixture
def bob() -> str:
    """Another one."""
    return f"bob-{uuid4().hex[:8]}"
