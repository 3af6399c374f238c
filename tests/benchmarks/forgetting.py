"""Forgetting: what deleting costs, and whether a word is left of it.

    python -m tests.benchmarks.forgetting [--database sqlite|postgres] [--messages 1500]

Starts a service (hash vectors), posts messages on three topics, each with words of its own, one more with a secret and
some to another namespace, and waits until all is remembered. Then, while others post, it deletes the message with the
secret, messages of a topic one by one, the rest of it as a conversation, and at last the namespace. After each, once
the receipts are done, it looks for the words in every column of every table (`xmemory doctor --find`) and in the bytes
of an SQLite file or of a logical dump of Postgres; in the end also in the files of Postgres, once VACUUM FULL has
written them anew, where texts stand uncompressed. The secret must be missing in all that can be read, too. At last the
doctor looks for rows without a namespace, and the other namespace must be what it was.
Prints times; ends with an error if anything is left.
"""

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

import httpx

from app.container import build_seeker
from app.domain.sightings import Sought
from app.evaluation.metrics import percentile
from app.settings import Settings
from app.storage.engine import sqlite_path
from tests import kept_bytes
from tests.conftest import Api, serving
from tests.integration.forgetting import findings
from tests.integration.support import everything
from tests.servers import new_database

TOPICS = {
    "pets": ("zorblat", "wuffelberry", "glimmhaus", "naskelfur"),
    "music": ("quenzophone", "tarabush", "ostrimel", "vindule"),
    "work": ("plimforge", "dravit", "kelmspace", "orvandic"),
}
SECRET, SECRET_WORD = "By the way, my PIN hint is otter.", "otter"
HOME, OTHER = "/v1/namespaces/ada", "/v1/namespaces/bob"
PLACES = ("Bern", "Velmar", "Nordhagen", "Quillhaven", "Basel", "Lund", "Tartu")
SINGLE = 20  # messages that are deleted one by one
BATCH = 100
STEM = 6  # characters of a word that are looked for in bytes: an index holds stems
WAIT_SECONDS = 60  # of one flush; then it is asked again


def _remarks(topic: str, count: int) -> list[str]:
    """Different in what they say, so that statements, episodes and themes come of them."""
    words = TOPICS[topic]
    return [
        f"The {words[n % 4]} number {n} came to {PLACES[n % 7]} with {n % 11 + 2} {words[(n // 4 + 1) % 4]} boxes."
        for n in range(count)
    ]


async def _post(api: Api, topic: str, remarks: Sequence[str], home: str = HOME) -> list[str]:
    ids: list[str] = []
    for start in range(0, len(remarks), BATCH):
        messages = [{"role": "user", "speaker": "Ada", "content": one} for one in remarks[start : start + BATCH]]
        reply = await api.post(f"{home}/conversations/{topic}/messages", json={"messages": messages})
        reply.raise_for_status()
        ids += [message["id"] for message in reply.json()["messages"]]
    return ids


async def _settle(api: Api, home: str = HOME) -> None:
    while not (await api.post(f"{home}/flush", json={"wait_seconds": WAIT_SECONDS})).json()["settled"]:
        pass


@asynccontextmanager
async def _others_posting(api: Api) -> AsyncIterator[None]:
    async def go_on() -> None:
        while True:
            with suppress(httpx.TransportError):  # a connection that the service closed as we wrote to it
                await _post(api, "work", _remarks("work", 2))
            await asyncio.sleep(0.1)

    posting = asyncio.create_task(go_on())
    try:
        yield
    finally:
        posting.cancel()
        with suppress(asyncio.CancelledError):
            await posting


# Looking ---------------------------------------------------------------------------------------------------


async def _left(settings: Settings, words: Iterable[str]) -> list[str]:
    """Where words stand: in which columns and files, and in the bytes of the file or dump."""
    words = list(words)
    async with build_seeker(settings) as seeker:
        found = {word: await seeker.seek(Sought.of(word)) for word in words}
    kept = await asyncio.to_thread(kept_bytes.everything, settings)
    places = [f"{word} in {place.place}" for word, places in found.items() for place in places]
    return [*places, *_in_bytes(kept, words, "the bytes")]


def _in_bytes(kept: bytes, words: Iterable[str], where: str) -> list[str]:
    kept = kept.lower()
    return [f"{word} in {where}" for word in words if word[:STEM].encode() in kept]


async def _readable(api: Api) -> str:
    """All that can be read of the namespace: listings, jobs, the export, what a search and an answer say of it."""
    asked = {"query": "What is my PIN hint?", "explain": True}
    replies = [await api.post(f"{HOME}/{noun}", json=asked) for noun in ("search", "answer")]
    replies += [await api.get(f"{HOME}/export", params={"vectors": True})]
    read = [reply.raise_for_status().text for reply in replies]
    listed = [await everything(api, "ada"), await api.all(f"{HOME}/jobs")]
    listed += [await api.all(f"{HOME}/statements", include="superseded")]
    return "".join([*read, json.dumps(listed, ensure_ascii=False)]).lower()


# Deleting --------------------------------------------------------------------------------------------------


async def _done(api: Api, reply: httpx.Response) -> dict[str, object]:
    reply.raise_for_status()
    while True:
        receipt: dict[str, object] = (await api.get(f"/v1/receipts/{reply.json()['id']}")).json()
        if receipt["state"] == "done":
            return receipt
        await asyncio.sleep(0.05)


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
    half, most = (1000 * (percentile(taken, share) or 0) for share in (0.5, 0.95))
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


# All of it -------------------------------------------------------------------------------------------------


async def _remember(api: Api, count: int) -> tuple[dict[str, list[str]], str]:
    """The ids of the messages of each topic, and that of the secret."""
    begun = time.perf_counter()
    await _post(api, "chat", _remarks("work", BATCH), OTHER)
    ids = {topic: await _post(api, topic, _remarks(topic, count // 3)) for topic in TOPICS}
    [secret] = await _post(api, "work", [SECRET])
    await _post(api, "work", _remarks("work", 2))
    await _settle(api, OTHER)
    await _settle(api)
    status = (await api.get(f"{HOME}/status")).json()
    told = ", ".join(f"{status[name]:,} {name}" for name in ("messages", "episodes", "statements", "themes"))
    print(f"remembered in {time.perf_counter() - begun:.0f} s: {told}")
    return ids, secret


async def _measure(settings: Settings, count: int) -> list[str]:
    wrong: list[str] = []
    words = {topic: [*TOPICS[topic]] for topic in TOPICS}
    async with serving(settings) as api:
        ids, secret = await _remember(api, count)
        other = (await api.get(f"{OTHER}/export")).text
        stood = _in_bytes(await asyncio.to_thread(kept_bytes.everything, settings), _all(words), "")
        wrong += _unless(len(stood) == len(_all(words)), "words are not found where they stand: this proves nothing")
        wrong += _unless(SECRET_WORD in await _readable(api), "the secret cannot be read: this proves nothing")
        async with _others_posting(api):
            await _timed(api, f"{HOME}/messages/{secret}", "the message with the secret")
            wrong += _unless(SECRET_WORD not in await _readable(api), "the secret can be read")
            wrong += await _left(settings, [SECRET_WORD])
            await _one_by_one(api, ids["pets"][:SINGLE])
            await _timed(api, f"{HOME}/conversations/pets", f"a conversation of {count // 3 - SINGLE} messages")
        wrong += await _left(settings, [SECRET_WORD, *words["pets"]])
        await _settle(api)
        async with _others_posting(api):
            await _timed(api, HOME, "the namespace")
        gone = [SECRET_WORD, *words["pets"], *words["music"]]
        wrong += await _left(settings, gone)
        await _settle(api)
        await _timed(api, HOME, "what others had posted since")
        wrong += [f"{status} for what is gone" for status in await _again(api) if status != httpx.codes.NOT_FOUND]
        wrong += _unless(other == (await api.get(f"{OTHER}/export")).text, "the other namespace has changed")
        wrong += [f"the doctor finds {one}" for one in await findings(settings)]
    return [*wrong, *await asyncio.to_thread(_in_files, settings, gone)]


def _unless(fine: bool, wrong: str) -> list[str]:
    return [] if fine else [wrong]


def _all(words: dict[str, list[str]]) -> list[str]:
    return [SECRET_WORD, *(word for topic in words.values() for word in topic)]


async def _again(api: Api) -> list[int]:
    return [(await api.delete(HOME)).status_code for _ in range(2)]


def _in_files(settings: Settings, words: Sequence[str]) -> list[str]:
    """Words in the files of Postgres, before (which is no fault) and after VACUUM FULL."""
    if sqlite_path(settings.database_url) is not None:
        return []
    before, after = (kept_bytes.files(settings, rewritten=rewritten) for rewritten in (False, True))
    if before is None or after is None:
        return ["the files of Postgres cannot be read from here"]
    dead = _in_bytes(before, words, "")
    print(f"files of Postgres: {len(dead)} of {len(words)} words in dead rows before VACUUM FULL")
    return _in_bytes(after, words, "the files of Postgres after VACUUM FULL")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--messages", type=int, default=1500)
    given = parser.parse_args()
    with new_database(given.database) as url:
        settings = Settings(_env_file=None, database_url=url, embedder="scripted", log_level="warning")
        if given.database == "postgres":
            kept_bytes.uncompressed(settings)
        wrong = asyncio.run(_measure(settings, given.messages))
        kept = kept_bytes.everything(settings)
        print(f"the file, or dump, has {len(kept) / 2**20:.1f} MiB in the end")
    print(f"wrong, or left: {', '.join(wrong) or 'nothing'}")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
