"""Forgetting: what deleting costs, and whether a word is left of it.

    python -m tests.benchmarks.forgetting [--database sqlite|postgres] [--messages 1500]

Starts a server of its own (hash vectors), posts messages on three topics, each with words of its own, and waits until
all is remembered. Then, while others post: deletes messages of a topic one by one, the rest of it as a conversation,
and at last the namespace; after each it waits for the receipts and looks for the topic's words in every column of every
table (`xmemory doctor --find`), and in an SQLite file's bytes. Prints times; ends with an error if a word is left.
"""

import argparse
import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from app.container import build_seeker
from app.domain.sightings import Sought
from app.evaluation.metrics import percentile
from app.settings import Settings
from app.storage import migrate
from app.storage.engine import sqlite_path
from tests.conftest import Api, serving
from tests.servers import database_of, postgres_server

TOPICS = {
    "pets": ("zorblat", "wuffelberry", "glimmhaus", "naskelfur"),
    "music": ("quenzophone", "tarabush", "ostrimel", "vindule"),
    "work": ("plimforge", "dravit", "kelmspace", "orvandic"),
}
HOME = "/v1/namespaces/ada"
PLACES = ("Bern", "Velmar", "Nordhagen", "Quillhaven", "Basel", "Lund", "Tartu")
SINGLE = 20  # messages that are deleted one by one
BATCH = 100
WAIT_SECONDS = 60  # of one flush; then it is asked again


@contextmanager
def _database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with TemporaryDirectory(prefix="xm-") as folder:
            yield f"sqlite+aiosqlite:///{Path(folder) / 'memory.db'}"
        return
    with postgres_server() as server:
        url = database_of(server, "postgres").replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


def _remarks(topic: str, count: int) -> list[str]:
    """Different in what they say, so that statements, episodes and themes come of them."""
    words = TOPICS[topic]
    return [
        f"The {words[n % 4]} number {n} came to {PLACES[n % 7]} with {n % 11 + 2} {words[(n // 4 + 1) % 4]} boxes."
        for n in range(count)
    ]


async def _post(api: Api, topic: str, remarks: Sequence[str]) -> list[str]:
    ids: list[str] = []
    for start in range(0, len(remarks), BATCH):
        messages = [{"role": "user", "speaker": "Ada", "content": one} for one in remarks[start : start + BATCH]]
        reply = await api.post(f"{HOME}/conversations/{topic}/messages", json={"messages": messages})
        reply.raise_for_status()
        ids += [message["id"] for message in reply.json()["messages"]]
    return ids


async def _settle(api: Api) -> None:
    while not (await api.post(f"{HOME}/flush", json={"wait_seconds": WAIT_SECONDS})).json()["settled"]:
        pass


async def _done(api: Api, reply: httpx.Response) -> dict[str, object]:
    reply.raise_for_status()
    while True:
        receipt: dict[str, object] = (await api.get(f"/v1/receipts/{reply.json()['id']}")).json()
        if receipt["state"] == "done":
            return receipt
        await asyncio.sleep(0.05)


async def _left(settings: Settings, topic: str) -> list[str]:
    async with build_seeker(settings) as seeker:
        found = {word: await seeker.seek(Sought.of(word)) for word in TOPICS[topic]}
    return [f"{word} in {place.place}" for word, places in found.items() for place in places]


async def _measure(settings: Settings, count: int) -> list[str]:
    left: list[str] = []
    async with serving(settings) as api:
        begun = time.perf_counter()
        ids = {topic: await _post(api, topic, _remarks(topic, count // 3)) for topic in TOPICS}
        await _settle(api)
        status = (await api.get(f"{HOME}/status")).json()
        told = ", ".join(f"{status[name]:,} {name}" for name in ("messages", "episodes", "statements", "themes"))
        print(f"remembered in {time.perf_counter() - begun:.0f} s: {told}")
        posting = asyncio.create_task(_go_on(api, "work"))
        await _one_by_one(api, ids["pets"][:SINGLE])
        await _timed(api, f"{HOME}/conversations/pets", f"a conversation of {count // 3 - SINGLE} messages")
        posting.cancel()
        await _settle(api)
        left += await _left(settings, "pets")
        posting = asyncio.create_task(_go_on(api, "work"))
        await _timed(api, HOME, "the namespace")
        posting.cancel()
        left += [*await _left(settings, "pets"), *await _left(settings, "music")]
    return left


async def _go_on(api: Api, topic: str) -> None:
    """Post, until cancelled."""
    while True:
        await _post(api, topic, _remarks(topic, 2))
        await asyncio.sleep(0.1)


async def _one_by_one(api: Api, messages: Sequence[str]) -> None:
    taken: list[float] = []
    replies: list[httpx.Response] = []
    begun = time.perf_counter()
    for message in messages:
        started = time.perf_counter()
        replies.append(await api.delete(f"{HOME}/messages/{message}"))
        taken.append(time.perf_counter() - started)
    for reply in replies:
        await _done(api, reply)
    half, most = (1000 * percentile(taken, share) for share in (0.5, 0.95))
    print(
        f"{len(messages)} messages one by one: hidden after {half:.0f} ms each (p95 {most:.0f}), "
        f"all receipts done {time.perf_counter() - begun:.1f} s after the first request"
    )


async def _timed(api: Api, path: str, what: str) -> None:
    begun = time.perf_counter()
    reply = await api.delete(path)
    hidden = time.perf_counter() - begun
    receipt = await _done(api, reply)
    print(f"{what}: hidden after {hidden:.2f} s, done after {time.perf_counter() - begun:.2f} s: {receipt['erased']}")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--messages", type=int, default=1500)
    given = parser.parse_args()
    with _database(given.database) as url:
        settings = Settings(_env_file=None, database_url=url, embedder="scripted", log_level="warning")
        left = asyncio.run(_measure(settings, given.messages))
        path = sqlite_path(url)
        if path is not None:
            print(f"the file has {Path(path).stat().st_size / 2**20:.1f} MiB in the end")
    print(f"words left: {', '.join(left) or 'none'}")
    if left:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
