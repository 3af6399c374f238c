"""How fast a namespace gets the vectors of another model, and what readers and writers feel of it meanwhile.

    python -m tests.benchmarks.reembed [--database sqlite|postgres] [--messages 600] [--model minilm]

Fills a namespace with hash vectors, then starts a server with the model as the next one, and re-embeds the
namespace while questions are asked in it and messages are posted beside it. Prints texts a second, and both times.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from app.evaluation.metrics import percentile
from app.evaluation.server import embedded
from app.storage import migrate
from tests.servers import database_of, postgres_server

SETTINGS = {"EMBEDDER": "scripted:384", "LOG_LEVEL": "warning"}
BATCH = 200  # messages a request
PAUSE_SECONDS = 0.05  # of who asks and who posts, between two requests
WAIT_SECONDS = 300
PLACES = ("Lisbon", "Porto", "Lund", "Kyoto", "Quito", "Oslo", "Graz", "Bergen")
THINGS = ("locker", "bicycle", "garden", "piano", "boat", "kettle", "library card", "tent")


@contextmanager
def _database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite+aiosqlite:///{Path(folder) / 'memory.db'}"
        return
    with postgres_server() as server:
        url = database_of(server, "postgres").replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


def _content(number: int) -> str:
    chosen = random.Random(number)
    place, thing, other = chosen.choice(PLACES), chosen.choice(THINGS), chosen.choice(THINGS)
    return (
        f"I moved to {place} in {1950 + number % 70} and bought a {thing} there. Number {number} was my first {other}, "
        "and my neighbour still talks about the day when I carried it home through the whole town."
    )


async def _post(client: httpx.AsyncClient, namespace: str, numbers: range) -> None:
    drafts = [{"role": "user", "speaker": "Ada", "content": _content(number)} for number in numbers]
    path = f"/v1/namespaces/{namespace}/conversations/chat/messages"
    (await client.post(path, json={"messages": drafts})).raise_for_status()


async def _ask(client: httpx.AsyncClient, number: int) -> None:
    question = {"query": f"What was number {number} bought in {PLACES[number % len(PLACES)]}?"}
    (await client.post("/v1/namespaces/ada/search", json=question)).raise_for_status()


async def _again_and_again(what: Callable[[int], Awaitable[None]], seconds: list[float]) -> None:
    """Until cancelled."""
    while True:
        begun = time.perf_counter()
        await what(len(seconds))
        seconds.append(time.perf_counter() - begun)
        await asyncio.sleep(PAUSE_SECONDS)


async def _reembed(client: httpx.AsyncClient) -> tuple[int, float]:
    """(texts, seconds)."""
    begun = time.perf_counter()
    job = (await client.post("/v1/namespaces/ada/reembed")).json()["job"]
    while True:
        found = (await client.get(f"/v1/namespaces/ada/jobs/{job}")).json()
        assert found["state"] != "failed", found["error"]
        if found["state"] == "succeeded":
            return found["result"]["total"], time.perf_counter() - begun
        await asyncio.sleep(PAUSE_SECONDS)


async def _measure(client: httpx.AsyncClient) -> str:
    asked: list[float] = []
    posted: list[float] = []
    beside = [
        asyncio.create_task(_again_and_again(lambda number: _ask(client, number), asked)),
        asyncio.create_task(_again_and_again(lambda number: _post(client, "ben", range(number, number + 1)), posted)),
    ]
    texts, seconds = await _reembed(client)
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    return f"{texts} texts in {seconds:.1f} s, {texts / seconds:.0f} a second; {_said('search', asked)}; " + _said(
        "post", posted
    )


def _said(what: str, seconds: list[float]) -> str:
    p50, p99 = (1000 * (percentile(seconds, share) or 0) for share in (0.5, 0.99))
    return f"{len(seconds)} times {what}: p50 {p50:.0f} ms, p99 {p99:.0f} ms"


async def run(kind: str, messages: int, model: str) -> None:
    """Measure once."""
    with _database(kind) as url:
        async with (
            embedded(url, SETTINGS) as base,
            httpx.AsyncClient(base_url=base, timeout=WAIT_SECONDS + 30) as client,
        ):
            for start in range(0, messages, BATCH):
                await _post(client, "ada", range(start, min(start + BATCH, messages)))
            flushed = await client.post("/v1/namespaces/ada/flush", json={"wait_seconds": WAIT_SECONDS})
            assert flushed.json()["settled"]
        changing = {**SETTINGS, "EMBEDDER_NEXT": model}
        async with embedded(url, changing) as base, httpx.AsyncClient(base_url=base, timeout=WAIT_SECONDS) as client:
            print(f"{kind}, {messages} messages, {model}: {await _measure(client)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--messages", type=int, default=600)
    parser.add_argument("--model", default="minilm", help="as XMEMORY_EMBEDDER names it")
    given = parser.parse_args()
    asyncio.run(run(given.database, given.messages, given.model))
