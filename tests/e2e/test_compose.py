"""`docker/` without an engine: the compose file against its schema, and its commands, natively, in its order."""

import asyncio
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
import yaml

from tests.conftest import WAIT
from tests.e2e.processes import READY_SECONDS, STOP_SECONDS, free_port
from tests.servers import database_of

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker" / "compose.yaml"
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
SERVICES: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
OURS = [name for name in SERVICES if name != "postgres"]
IMAGE = dict(re.findall(r"^(?:ENV)? +(XMEMORY_\w+)=(\S+)", DOCKERFILE, re.MULTILINE))  # what containers have besides
ADMIN_KEY = "k" * 32
ASKED_FOR = re.compile(r"\$\{XMEMORY_ADMIN_KEY:\?[^}]+\}")  # compose refuses to start without it


def test_the_compose_file_meets_its_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ports_are_published_on_loopback_only() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_whoever_listens_asks_for_keys() -> None:
    listening = [name for name in OURS if "ports" in SERVICES[name]]
    assert listening == ["api", "embedded"]
    for name in listening:
        assert SERVICES[name]["environment"]["XMEMORY_AUTH"] == "keys"
        assert ASKED_FOR.fullmatch(SERVICES[name]["environment"]["XMEMORY_ADMIN_KEY"])
    assert "ALLOW_UNAUTHENTICATED_BIND" not in COMPOSE.read_text()


def test_every_variable_is_a_setting() -> None:
    listed = re.findall(r"^(?:# )?(XMEMORY_\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    used = {name for service in OURS for name in SERVICES[service]["environment"]}
    used |= set(re.findall(r"(XMEMORY_\w+)=", DOCKERFILE))
    assert used <= set(listed)


def test_services_start_in_order() -> None:
    """Nothing serves or works before the schema is there; nothing waits for what has no health check."""
    waits = {name: service.get("depends_on", {}) for name, service in SERVICES.items()}
    assert waits["migrate"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("api", "worker"):
        assert waits[name] == {"migrate": {"condition": "service_completed_successfully"}}
    assert "healthcheck" in SERVICES["postgres"]
    assert SERVICES["migrate"]["restart"] == "no"  # or it would never have completed
    assert [name for name in OURS if "profiles" in SERVICES[name]] == ["embedded"]


def test_the_image_is_built_from_what_the_project_says() -> None:
    [torch] = [
        one
        for one in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        if one.startswith("torch==")
    ]
    assert f"uv pip install --system --no-cache {torch} " in DOCKERFILE
    sources = {source for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.MULTILINE) for source in line.split()}
    kept = (ROOT / "docker" / "Dockerfile.dockerignore").read_text()
    assert all((ROOT / source).exists() and f"!{source}\n" in kept for source in sources)
    assert DOCKERFILE.index("\nUSER xmemory") < DOCKERFILE.index("\nENTRYPOINT")
    assert "/health/ready" in DOCKERFILE


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """URL of a database as a new volume has it."""
    name = f"compose_{uuid4().hex[:12]}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield database_of(postgres, name).replace("postgresql://", "postgresql+psycopg://", 1)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def started(service: str, **other: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A service's command with its environment; `other` is what only holds here."""
    written = {name: ASKED_FOR.sub(ADMIN_KEY, value) for name, value in SERVICES[service]["environment"].items()}
    given = {**IMAGE, **written, "XMEMORY_EMBEDDER": "scripted", **other}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("XMEMORY_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app.cli", *SERVICES[service]["command"], env={**clean, **given}, cwd=ROOT,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await asyncio.wait_for(process.wait(), STOP_SECONDS)


async def ready(process: asyncio.subprocess.Process, client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(READY_SECONDS):
        while True:
            assert process.returncode is None
            try:
                if (await client.get("/health/ready")).is_success:
                    return
            except httpx.TransportError:
                await asyncio.sleep(0.1)


async def tell_and_ask(client: httpx.AsyncClient) -> None:
    message = {"role": "user", "speaker": "Ada", "content": "I moved to Lisbon in 2021."}
    reply = await client.post("/v1/namespaces/ada/conversations/c/messages", json={"messages": [message]})
    assert reply.status_code == 202, reply.text
    reply = await client.post("/v1/namespaces/ada/flush", json={"wait_seconds": WAIT})
    assert reply.json()["settled"], reply.text
    reply = await client.get("/v1/namespaces/ada/answer", params={"q": "When did Ada move to Lisbon?"})
    assert "2021" in reply.json()["answer"], reply.text


@asynccontextmanager
async def client_of(place: Mapping[str, str]) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the admin key."""
    url, headers = f"http://127.0.0.1:{place['XMEMORY_PORT']}", {"Authorization": f"Bearer {ADMIN_KEY}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=WAIT + 30) as client:
        yield client


def here(database: str) -> dict[str, str]:
    """Only the address differs from the compose file."""
    return {"XMEMORY_DATABASE_URL": database, "XMEMORY_HOST": "127.0.0.1", "XMEMORY_PORT": str(free_port())}


@pytest.mark.slow
async def test_postgres_api_and_worker(empty_database: str) -> None:
    place = here(empty_database)
    async with started("api", **place) as early:
        assert await asyncio.wait_for(early.wait(), READY_SECONDS) == 2
        assert early.stderr is not None
        assert b"xmemory migrate" in await early.stderr.read()
    async with started("migrate", XMEMORY_DATABASE_URL=empty_database) as migrate:
        assert await asyncio.wait_for(migrate.wait(), READY_SECONDS) == 0
    async with started("api", **place) as api, client_of(place) as client:
        await ready(api, client)
        assert (await client.get("/v1/namespaces", headers={"Authorization": ""})).status_code == 401
        # WORKER=off: it accepts, and leaves the work to others.
        message = {"messages": [{"role": "user", "content": "Hello."}]}
        await client.post("/v1/namespaces/ben/conversations/c/messages", json=message)
        assert not (await client.post("/v1/namespaces/ben/flush", json={"wait_seconds": 2})).json()["settled"]
        async with started("worker", XMEMORY_DATABASE_URL=empty_database):
            await tell_and_ask(client)
            assert (await client.post("/v1/namespaces/ben/flush", json={"wait_seconds": WAIT})).json()["settled"]


@pytest.mark.slow
async def test_one_container_on_sqlite(tmp_path: Path) -> None:
    place = here(f"sqlite+aiosqlite:///{tmp_path}/xmemory.db")
    async with started("embedded", **place) as api, client_of(place) as client:
        await ready(api, client)
        await tell_and_ask(client)
