"""A flood from one key, and what another key's searches notice of it.

    python -m tests.benchmarks.flood [--connections 200] [--seconds 60] [--floods 3] [--key-requests 600]
                                     [--embedder minilm|scripted] [--messages 400]

Starts `xmemory serve` with its default limits, or so many requests a minute of a key, on a temporary SQLite file, with
a key for each of two clients. One searches its namespace twice a second, first alone, then beside a flood: many
connections that send searches, messages and rubbish as fast as they are answered, and never wait as they are told to;
then alone again, and so on for as many floods as are asked for. In the end it waits a while for the work on what the
floods got in. The flood runs in a process of its own; all share this machine's cores, so the figures hold for the
machine and its load, which are printed.
"""

import asyncio
import json
import multiprocessing
import os
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Annotated

import httpx
import typer
from rich.console import Console

from app.evaluation.metrics import percentile
from tests.benchmarks.process import Served, served
from tests.servers import new_database

ADMIN = secrets.token_hex(32)
BETWEEN = 0.5  # seconds between two searches of the client that behaves
ALONE = 15  # seconds that it searches alone first
SAMPLED = 10  # seconds between two looks at the server's memory
SETTLES = 180.0  # seconds that the work of the floods is waited for
RECONNECT = 0.05  # seconds before a connection of the flood that was closed is opened again
QUESTIONS = ("Where is the harbour?", "What did I buy in week 17?", "Who plays the cello?", "When did I move?")
console = Console(width=200, highlight=False)


@dataclass
class Watched:
    """What the client that behaves saw, and the server's memory in MB, every SAMPLED seconds."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    resident: list[float] = field(default_factory=list)

    def show(self, name: str) -> None:
        """One line."""
        p50, p95 = (1000 * (percentile(self.seconds, share) or 0) for share in (0.5, 0.95))
        slowest = 1000 * max(self.seconds)
        console.print(
            f"{name}: {len(self.seconds)} searches {dict(self.statuses)}, p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
            f"slowest {slowest:.0f} ms; resident {_numbers(self.resident)} MB"
        )


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{value:.0f}" for value in values)


async def new_key(http: httpx.AsyncClient, name: str) -> str:
    """A key that reads and writes the namespace `name`."""
    body = {"name": name, "scopes": ["read", "write"], "namespaces": [name]}
    reply = await http.post("/v1/keys", json=body, headers={"Authorization": f"Bearer {ADMIN}"})
    return str(reply.raise_for_status().json()["key"])


async def fill(http: httpx.AsyncClient, namespace: str, messages: int) -> None:
    """Messages of a namespace, with everything made of them."""
    place = f"/v1/namespaces/{namespace}"
    said = [
        f"In week {n} I bought {n % 9} tickets for the {('cello', 'harbour', 'tea')[n % 3]} tour."
        for n in range(messages)
    ]
    for start in range(0, messages, 100):
        batch = [{"role": "user", "speaker": "Ada", "content": text} for text in said[start : start + 100]]
        reply = await http.post(f"{place}/conversations/chat/messages", json={"messages": batch})
        reply.raise_for_status()
    await settle(http, namespace)


async def settle(http: httpx.AsyncClient, namespace: str) -> None:
    """Wait until a namespace is at rest; what the limits refuse is asked again."""
    while (await http.post(f"/v1/namespaces/{namespace}/flush", json={"wait_seconds": 60})).status_code != 200:
        await asyncio.sleep(1)


async def behave(http: httpx.AsyncClient, server: Served, seconds: float) -> Watched:
    """Search twice a second, whatever happens."""
    watched, end = Watched(), time.monotonic() + seconds
    looking = asyncio.create_task(_look(server, watched.resident))
    while time.monotonic() < end:
        begun = time.monotonic()
        reply = await http.get("/v1/namespaces/good/search", params={"q": random.choice(QUESTIONS)})
        watched.seconds.append(time.monotonic() - begun)
        watched.statuses[reply.status_code] += 1
        await asyncio.sleep(max(0.0, BETWEEN - watched.seconds[-1]))
    looking.cancel()
    return watched


async def _look(server: Served, resident: list[float]) -> None:
    while True:
        resident.append(server.resident)
        await asyncio.sleep(SAMPLED)


# The flood -------------------------------------------------------------------------------------------------


def _requests(key: str) -> list[Callable[[], bytes]]:
    """What the flood sends: searches, messages, and what is no request for us."""
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    post = f"POST /v1/namespaces/flood/conversations/c{{0}}/messages HTTP/1.1\r\n{head}"

    def search() -> bytes:
        words = "+".join(random.choice(("harbour", "cello", "tea", "week")) for _ in range(8))
        return f"GET /v1/namespaces/flood/search?q={words} HTTP/1.1\r\n{head}\r\n".encode()

    def messages() -> bytes:
        batch = [{"role": "user", "content": f"I bought {random.random()} tickets."} for _ in range(20)]
        body = json.dumps({"messages": batch})
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        return (post.format(random.randrange(1000)) + kind).encode()

    def rubbish() -> bytes:
        body = "[" * 100_000
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        return (post.format("x") + kind).encode()

    return [search, search, messages, rubbish]


async def _connection(port: int, made: list[Callable[[], bytes]], end: float, seen: Counter[str]) -> None:
    while time.monotonic() < end:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while time.monotonic() < end:
                    writer.write(random.choice(made)())
                    seen[await _status(reader)] += 1
            finally:
                writer.close()
        except (OSError, asyncio.IncompleteReadError):
            seen["closed"] += 1
            await asyncio.sleep(RECONNECT)


async def _status(reader: asyncio.StreamReader) -> str:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    return head.split()[1].decode()


def flood(
    port: int, key: str, connections: int, seconds: float, results: "multiprocessing.Queue[Counter[str]]"
) -> None:
    """The flood, in a process of its own."""

    async def run() -> Counter[str]:
        seen: Counter[str] = Counter()
        made, end = _requests(key), time.monotonic() + seconds
        await asyncio.gather(*(_connection(port, made, end, seen) for _ in range(connections)))
        return seen

    results.put(asyncio.run(run()))


@dataclass(frozen=True, slots=True)
class Flood:
    """What a flood is made of."""

    connections: int
    seconds: float
    floods: int
    embedder: str
    messages: int
    key_requests: int | None


async def measure(asked: Flood) -> None:
    """All of it, printed."""
    async with AsyncExitStack() as stack:
        database = stack.enter_context(new_database("sqlite"))
        server = await stack.enter_async_context(served(database, _settings(asked)))
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, trust_env=False, timeout=120))
        keys = {name: await new_key(http, name) for name in ("flood", "good")}
        for name, key in keys.items():
            http.headers["Authorization"] = f"Bearer {key}"
            await fill(http, name, asked.messages)
        console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, embedder {asked.embedder}")
        (await behave(http, server, ALONE)).show("alone")
        for number in range(1, asked.floods + 1):
            await _flooded(asked, http, server, keys["flood"], str(number))
        http.headers["Authorization"] = f"Bearer {ADMIN}"
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLES):
                await settle(http, "flood")
        found = (await http.get("/v1/namespaces/flood/status")).json()
        console.print(
            f"in the end: {found['messages'] - asked.messages} messages of the floods are stored, {found['buffered']} "
            f"of them in no episode yet; resident {server.resident:.0f} MB, most ever {server.peak:.0f} MB"
        )


def _settings(asked: Flood) -> dict[str, str]:
    limits = {} if asked.key_requests is None else {"LIMITS__KEY_REQUESTS": str(asked.key_requests)}
    return {"EMBEDDER": asked.embedder, "AUTH": "keys", "ADMIN_KEY": ADMIN, **limits}


async def _flooded(asked: Flood, http: httpx.AsyncClient, server: Served, key: str, name: str) -> None:
    """A flood, and a while of rest."""
    results: multiprocessing.Queue[Counter[str]] = multiprocessing.Queue()
    told = (http.base_url.port, key, asked.connections, asked.seconds, results)
    process = multiprocessing.Process(target=flood, args=told)
    process.start()
    (await behave(http, server, asked.seconds)).show(f"beside {asked.connections} connections, flood {name}")
    seen = await asyncio.to_thread(results.get)
    process.join()
    console.print(_told(seen, asked.seconds), f"load {os.getloadavg()[0]:.1f}")
    (await behave(http, server, ALONE)).show(f"after flood {name}")


def _told(seen: Counter[str], seconds: float) -> str:
    total = sum(seen.values())
    shares = ", ".join(f"{status} {count / total:.1%}" for status, count in seen.most_common())
    return f"the flood: {total} requests, {total / seconds:.0f} a second: {shares};"


def main(
    connections: int = 200,
    seconds: float = 60,
    floods: int = 1,
    key_requests: Annotated[int | None, typer.Option(help="A minute, of each key. Unset: the default.")] = None,
    embedder: Annotated[str, typer.Option(help="minilm, or scripted.")] = "minilm",
    messages: Annotated[int, typer.Option(help="In each of the two namespaces.")] = 400,
) -> None:
    """Flood."""
    asyncio.run(measure(Flood(connections, seconds, floods, embedder, messages, key_requests)))


if __name__ == "__main__":
    typer.run(main)
