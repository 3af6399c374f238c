"""A flood from one key, and what another key's searches notice of it.

    python -m tests.benchmarks.flood [--connections 200] [--seconds 60] [--embedder minilm|scripted] [--messages 400]

Starts `xmemory serve` with its default limits on a temporary SQLite file, with a key for each of two clients. One
searches its namespace twice a second, first alone, then beside a flood: many connections that send searches, messages
and rubbish as fast as they are answered, and never wait as they are told to. The flood runs in a process of its own;
all share this machine's cores, so the figures hold for the machine and its load, which are printed.
"""

import asyncio
import json
import multiprocessing
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import httpx
import typer
from rich.console import Console

from app.evaluation.metrics import percentile

ADMIN = secrets.token_hex(32)
BETWEEN = 0.5  # seconds between two searches of the client that behaves
ALONE = 15  # seconds that it searches alone first
RECONNECT = 0.05  # seconds before a connection of the flood that was closed is opened again
STARTS = 180.0  # seconds that the server may take to start
QUESTIONS = ("Where is the harbour?", "What did I buy in week 17?", "Who plays the cello?", "When did I move?")
console = Console()


@dataclass
class Watched:
    """What the client that behaves saw, and the server's memory, in MB."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    resident: list[float] = field(default_factory=list)

    def show(self, name: str) -> None:
        """One line."""
        p50, p95 = (1000 * percentile(self.seconds, share) for share in (0.5, 0.95))
        slowest = 1000 * max(self.seconds)
        console.print(
            f"{name}: {len(self.seconds)} searches {dict(self.statuses)}, p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
            f"slowest {slowest:.0f} ms; resident {min(self.resident):.0f} to {max(self.resident):.0f} MB"
        )


@asynccontextmanager
async def server(folder: Path, embedder: str) -> AsyncIterator[tuple[str, int]]:
    """URL and process id of a server with keys."""
    port = random.randint(20_000, 29_999)
    given = {
        "DATABASE_URL": f"sqlite+aiosqlite:///{folder}/memory.db",
        "PORT": str(port),
        "EMBEDDER": embedder,
        "AUTH": "keys",
        "ADMIN_KEY": ADMIN,
        "LOG_LEVEL": "error",
    }
    environment = {**os.environ, **{f"XMEMORY_{name}": value for name, value in given.items()}}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "app.cli", "serve", env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(STARTS), httpx.AsyncClient(trust_env=False) as http:
            while not await _is_ready(http, url):
                await asyncio.sleep(0.1)
        yield url, process.pid
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _is_ready(http: httpx.AsyncClient, url: str) -> bool:
    with suppress(httpx.TransportError):
        return (await http.get(f"{url}/health/ready")).is_success
    return False


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
    while (await http.post(f"{place}/flush", json={"wait_seconds": 60})).status_code != 200:
        pass


async def behave(http: httpx.AsyncClient, pid: int, seconds: float) -> Watched:
    """Search twice a second, whatever happens."""
    watched, end = Watched(), time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        reply = await http.get("/v1/namespaces/good/search", params={"q": random.choice(QUESTIONS)})
        watched.seconds.append(time.monotonic() - begun)
        watched.statuses[reply.status_code] += 1
        watched.resident.append(_resident(pid))
        await asyncio.sleep(max(0.0, BETWEEN - watched.seconds[-1]))
    return watched


def _resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


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


async def measure(connections: int, seconds: float, embedder: str, messages: int) -> None:
    """All of it, printed."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="xm-flood-")))
        url, pid = await stack.enter_async_context(server(folder, embedder))
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=url, trust_env=False, timeout=120))
        keys = {name: await new_key(http, name) for name in ("flood", "good")}
        for name, key in keys.items():
            http.headers["Authorization"] = f"Bearer {key}"
            await fill(http, name, messages)
        console.print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, embedder {embedder}")
        (await behave(http, pid, ALONE)).show("alone")
        results: multiprocessing.Queue[Counter[str]] = multiprocessing.Queue()
        told = (int(url.rpartition(":")[2]), keys["flood"], connections, seconds, results)
        process = multiprocessing.Process(target=flood, args=told)
        process.start()
        (await behave(http, pid, seconds)).show(f"beside {connections} connections")
        seen = await asyncio.to_thread(results.get)
        process.join()
        console.print(_told(seen, seconds), f"load {os.getloadavg()[0]:.1f}")
        (await behave(http, pid, ALONE)).show("afterwards")


def _told(seen: Counter[str], seconds: float) -> str:
    total = sum(seen.values())
    shares = ", ".join(f"{status} {count / total:.1%}" for status, count in seen.most_common())
    return f"the flood: {total} requests, {total / seconds:.0f} a second: {shares};"


def main(
    connections: int = 200,
    seconds: float = 60,
    embedder: Annotated[str, typer.Option(help="minilm, or scripted.")] = "minilm",
    messages: Annotated[int, typer.Option(help="In each of the two namespaces.")] = 400,
) -> None:
    """Flood."""
    asyncio.run(measure(connections, seconds, embedder, messages))


if __name__ == "__main__":
    typer.run(main)
