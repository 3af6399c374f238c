"""384 → 1024 → 3072 dimensions, with real processes: refused, changed by `xmemory reembed`, killed in the middle."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from app.container import build_doctor
from app.settings import Settings
from app.storage.engine import create_engines
from app.storage.tables import embeddings, messages, namespaces, themes
from tests.conftest import WAIT
from tests.e2e.processes import Member

NAMES = ("ada", "ben", "eve")
EACH = 24  # messages of a namespace: several turns of work


def content(number: int) -> str:
    """A message of some forty words that no other message has."""
    return f"Locker {number} holds the badge N{number}. {' '.join(f'w{number}x{word}' for word in range(40))}."


@asynccontextmanager
async def served(database_url: str, log: Path, **settings: str) -> AsyncIterator[tuple[Member, httpx.AsyncClient]]:
    member = Member("serve", database_url, log, inline=True, models=settings)
    await member.start()
    try:
        async with httpx.AsyncClient(base_url=member.url, timeout=WAIT, trust_env=False) as client:
            yield member, client
    finally:
        await member.stop()


async def say(client: httpx.AsyncClient, namespace: str, numbers: range) -> None:
    drafts = [{"role": "user", "speaker": "Ada", "external_id": str(n), "content": content(n)} for n in numbers]
    path = f"/v1/namespaces/{namespace}/conversations/chat/messages"
    (await client.post(path, json={"messages": drafts})).raise_for_status()


async def settle(client: httpx.AsyncClient, namespace: str) -> None:
    flushed = await client.post(f"/v1/namespaces/{namespace}/flush", json={"wait_seconds": WAIT})
    assert flushed.json()["settled"], flushed.text
    assert flushed.json()["jobs"]["failed"] == 0


async def finds(client: httpx.AsyncClient, namespace: str, number: int, strategy: str) -> None:
    question = {
        "query": f"Which badge is w{number}x1 w{number}x2 w{number}x3 w{number}x4?",
        "strategy": strategy,
        "levels": ["message"],
    }
    found = await client.post(f"/v1/namespaces/{namespace}/search", json=question)
    assert found.status_code == 200, found.text
    assert f"N{number}." in found.json()["items"][0]["text"]


async def profile(client: httpx.AsyncClient, namespace: str) -> str:
    return (await client.get(f"/v1/namespaces/{namespace}")).json()["embedding_profile"]


async def xmemory(*arguments: str, **settings: str) -> tuple[int, str, str]:
    """A command as a process: status, output, errors."""
    environment = [f"XMEMORY_{name}={value}" for name, value in settings.items()]
    process = await asyncio.create_subprocess_exec(
        "/usr/bin/env", "COLUMNS=200", *environment, sys.executable, "-m", "app.cli", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(WAIT):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def assert_sound(database_url: str, dimension: int, embedder: str) -> None:
    """All vectors are of this dimension, none is left of another, nothing is lost, and the doctor is content."""
    engines = create_engines(database_url)
    async with engines.read.connect() as connection:
        for column in (embeddings.c.vector, themes.c.vector_sum, themes.c.centroid):
            assert {len(vector) for vector in (await connection.execute(select(column))).scalars()} == {dimension}
        sequences = (await connection.execute(select(messages.c.sequence))).scalars().all()
        assert len(sequences) == len(NAMES) * EACH + len(NAMES[1:])
        profiles = set((await connection.execute(select(namespaces.c.embedding_profile))).scalars())
        assert profiles == {f"scripted@1/{dimension}"}
    await engines.dispose()
    async with build_doctor(Settings(_env_file=None, database_url=database_url, embedder=embedder)) as (doctor, _):
        assert [*await doctor.look_around(), *await doctor.examine(await doctor.patients())] == []


async def half_way(client: httpx.AsyncClient) -> None:
    """Wait until some of a namespace's new vectors are ready, and not all."""
    done: set[str] = set()
    async with asyncio.timeout(WAIT):
        while True:
            for name in NAMES:
                jobs = (await client.get(f"/v1/namespaces/{name}/jobs", params={"limit": 1})).json()["items"]
                far = jobs[0]["result"] if jobs and jobs[0]["kind"] == "reembed" else None
                if far and 0 < far["done"] < far["total"]:
                    return
                done |= {name} if far and far["done"] else set()
            assert len(done) < len(NAMES), "too fast to be interrupted"


async def is_refused(database_url: str) -> None:
    """A server with another model, and what it tells."""
    status, _, err = await xmemory("serve", DATABASE_URL=database_url, EMBEDDER="scripted:1024", PORT="0")
    assert status == 2, err
    for told in ("scripted@1/384", "XMEMORY_EMBEDDER_NEXT=scripted:1024", "`xmemory reembed`"):
        assert told in err


async def is_killed_half_way(database_url: str, log: Path, models: Mapping[str, str]) -> None:
    async with served(database_url, log, **models) as (member, client):
        command = asyncio.create_task(xmemory("reembed", "--url", member.url))
        await half_way(client)
        await say(client, "ben", range(EACH, EACH + 1))
        member.strike()
        await member.gone()
        status, _, err = await command
        assert status == 1
        assert member.url in err, "it says who does not answer any more"


async def goes_on(database_url: str, log: Path, models: Mapping[str, str]) -> None:
    """The server takes up its jobs by itself; the command sees to what is left."""
    async with served(database_url, log, **models) as (member, client):
        status, out, err = await xmemory("reembed", "--url", member.url)
        assert status == 0, out + err
        assert "without XMEMORY_EMBEDDER_NEXT" in out
        for name in NAMES:
            await settle(client, name)
            await finds(client, name, 13, "adaptive")
        await finds(client, "ben", EACH, "vector")
        await say(client, "eve", range(EACH, EACH + 1))
        await settle(client, "eve")


async def is_read_meanwhile(database_url: str, log: Path, models: Mapping[str, str]) -> None:
    async with served(database_url, log, **models) as (member, client):
        command = asyncio.create_task(xmemory("reembed", "--url", member.url))
        seen: list[str] = []
        while not command.done():
            for name in NAMES:
                seen.append(await profile(client, name))
                await finds(client, name, 11, "vector")
            await asyncio.sleep(0.1)  # the server has other work to do
        status, out, err = await command
        assert status == 0, out + err
        assert "3 namespaces re-embedded for scripted@1/3072." in out
        assert re.search(r"3 of 3 namespaces done .* (\d+)/\1 ", err), err
        assert {"scripted@1/1024", "scripted@1/3072"} == set(seen)
        status, out, _ = await xmemory("reembed", "--url", member.url)
        assert (status, "nothing to do" in out) == (0, True)


@pytest.mark.slow
async def test_from_384_to_1024_to_3072_dimensions(database_url: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    async with served(database_url, log, EMBEDDER="scripted:384") as (_, client):
        for name in NAMES:
            await say(client, name, range(EACH))
        for name in NAMES:
            await settle(client, name)
    await is_refused(database_url)
    first = {"EMBEDDER": "scripted:384", "EMBEDDER_NEXT": "scripted:1024"}
    await is_killed_half_way(database_url, log, first)
    await goes_on(database_url, log, first)
    await assert_sound(database_url, 1024, "scripted:1024")
    if database_url.startswith("sqlite"):
        return  # vectors of any length are bytes to it; Postgres has types for them
    await is_read_meanwhile(database_url, log, {"EMBEDDER": "scripted:1024", "EMBEDDER_NEXT": "scripted:3072"})
    await assert_sound(database_url, 3072, "scripted:3072")
    async with served(database_url, log, EMBEDDER="scripted:3072") as (_, client):
        await finds(client, "eve", EACH - 2, "adaptive")
