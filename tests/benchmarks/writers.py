"""Many writers at once: how fast POST is, on one conversation, on two namespaces and on many.

    python -m tests.benchmarks.writers [--database sqlite|postgres] [--posts 25]

Starts a server of its own (hash vectors, background work running), posts single messages, and prints
throughput and latency; then waits until all is remembered and checks that nothing is missing, doubled, or in another
namespace than it was posted to, which each message names in its metadata wrongly.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from app.evaluation.metrics import percentile
from app.evaluation.server import embedded
from app.storage import migrate
from tests.servers import database_of, postgres_server

SETTINGS = {"EMBEDDER": "scripted", "LOG_LEVEL": "warning"}
WAIT_SECONDS = 300  # for the background work to settle


@contextmanager
def _database(kind: str) -> Iterator[str | None]:
    if kind == "sqlite":
        yield None  # `embedded` makes a temporary file
        return
    with postgres_server() as server:
        url = database_of(server, "postgres").replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


async def _write(client: httpx.AsyncClient, namespace: str, writer: int, posts: int) -> list[float]:
    seconds = []
    for number in range(posts):
        message = {
            "role": "user",
            "external_id": f"{writer}-{number}",
            "content": f"Note {number} by writer {writer} to {namespace}.",
            "metadata": {"namespace": "other"},
        }
        begun = time.perf_counter()
        path = f"/v1/namespaces/{namespace}/conversations/notes/messages"
        reply = await client.post(path, json={"messages": [message]})
        seconds.append(time.perf_counter() - begun)
        reply.raise_for_status()
    return seconds


async def _measure(client: httpx.AsyncClient, title: str, namespaces: list[str], posts: int) -> None:
    begun = time.perf_counter()
    writers = [_write(client, namespace, writer, posts) for writer, namespace in enumerate(namespaces)]
    taken = [second for one in await asyncio.gather(*writers) for second in one]
    elapsed = time.perf_counter() - begun
    settled = 0
    for namespace in sorted(set(namespaces)):
        reply = await client.post(f"/v1/namespaces/{namespace}/flush", json={"wait_seconds": WAIT_SECONDS})
        settled += reply.json()["settled"]
        status = (await client.get(f"/v1/namespaces/{namespace}/status")).json()
        assert status["messages"] == status["sequence"] == posts * namespaces.count(namespace), status
        assert status["failed_jobs"] == 0, status
        contents = await _contents(client, namespace)
        assert len(set(contents)) == status["messages"], status
        assert all(content.endswith(f" to {namespace}.") for content in contents), namespace
    p50, p99 = (1000 * (percentile(taken, share) or 0) for share in (0.5, 0.99))
    print(
        f"{title}: {len(taken) / elapsed:.0f} posts/s, p50 {p50:.0f} ms, p99 {p99:.0f} ms, max "
        f"{1000 * max(taken):.0f} ms; all {len(taken)} stored once, {settled} of {len(set(namespaces))} settled"
    )


async def _contents(client: httpx.AsyncClient, namespace: str) -> list[str]:
    """Of all its messages."""
    path, found = f"/v1/namespaces/{namespace}/conversations/notes/messages", list[str]()
    cursor: dict[str, str] = {"limit": "100"}
    while True:
        page = (await client.get(path, params=cursor)).raise_for_status().json()
        found += [message["content"] for message in page["items"]]
        if page["next_cursor"] is None:
            return found
        cursor["cursor"] = page["next_cursor"]


async def run(kind: str, posts: int) -> None:
    """Measure all shapes on one database."""
    with _database(kind) as url:
        async with (
            embedded(url, SETTINGS) as base,
            httpx.AsyncClient(base_url=base, timeout=WAIT_SECONDS + 30) as client,
        ):
            await _measure(client, f"{kind}, 20 writers, one conversation", ["one"] * 20, posts)
            await _measure(client, f"{kind}, 50 writers, two namespaces", ["ada", "bob"] * 25, posts)
            await _measure(client, f"{kind}, 50 writers, 50 namespaces", [f"n{i}" for i in range(50)], posts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--posts", type=int, default=25, help="posts of each writer")
    given = parser.parse_args()
    asyncio.run(run(given.database, given.posts))
