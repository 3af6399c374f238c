"""Health, version, and what a process refuses to start on."""

import re
from pathlib import Path

import pytest
from sqlalchemy import text

from app import __version__
from app.container import build
from app.domain.errors import ConfigurationError
from app.services.configured import CONSTANTS
from app.settings import Settings
from app.storage.engine import create_engines
from tests.conftest import Api
from tests.integration.support import post


async def _set_revision(settings: Settings, revision: str) -> None:
    engines = create_engines(settings.database_url)
    async with engines.write.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})
    await engines.dispose()


async def test_live_ready_and_version(api: Api, settings: Settings) -> None:
    assert (await api.get("/health/live")).json() == {"status": "ok"}
    ready = await api.get("/health/ready")
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert ready.json()["checks"]["database"] == ready.json()["checks"]["schema"] == "ok"
    kind = "sqlite" if settings.database_url.startswith("sqlite") else "postgres"
    version = (await api.get("/version")).json()
    assert re.fullmatch("[0-9a-f]{12}", version["settings"].pop("constants"))
    assert version == {
        "version": __version__,
        "embedding_profile": "scripted@1/64",
        "embedding_profile_next": None,
        "chat": "extractive",
        "chat_model": None,
        "chat_revision": None,
        "database": kind,
        "settings": {
            "admit_mode": "extractive",
            "segment_mode": "signals",
            "segment_gap_seconds": 1800,
            "segment_idle_close_seconds": 1800,
            "segment_max_messages": 25,
            "segment_max_tokens": 2048,
            "read_gate": "evidence",
            "read_probes": 16,
            "read_gate_seconds": 10,
            "read_max_tokens": 2000,
        },
    }


def test_every_process_tells_the_constants_alike() -> None:
    told = repr(CONSTANTS).replace("mappingproxy({", "")
    assert " at 0x" not in told
    assert "{" not in told  # of a set, whose order differs


async def test_a_service_on_another_schema_is_not_ready(api: Api, settings: Settings) -> None:
    await _set_revision(settings, "another")
    ready = await api.get("/health/ready")
    assert ready.status_code == 503
    assert ready.json() == {"status": "failing", "checks": {"database": "ok", "schema": "failing", "embedder": "ok"}}
    assert (await api.get("/health/live")).status_code == 200


async def test_a_postgres_that_is_behind_is_refused(settings: Settings) -> None:
    if settings.database_url.startswith("sqlite"):
        pytest.skip("an SQLite file migrates itself")
    await _set_revision(settings, "another")
    with pytest.raises(ConfigurationError, match="xmemory migrate"):
        async with build(settings):
            pass


async def test_a_new_sqlite_file_migrates_itself(tmp_path: Path) -> None:
    fresh = Settings(_env_file=None, database_url=f"sqlite+aiosqlite:///{tmp_path}/new/memory.db", embedder="scripted")
    async with build(fresh) as built:
        await post(built, "ada", "I like tea.")


async def test_one_server_owns_an_sqlite_file(settings: Settings) -> None:
    if not settings.database_url.startswith("sqlite"):
        pytest.skip("many processes may share a Postgres")
    async with build(settings):
        with pytest.raises(ConfigurationError, match="in use by process"):
            async with build(settings):
                pass
    async with build(settings):
        pass
