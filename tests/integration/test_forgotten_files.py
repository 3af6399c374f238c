"""What was erased stands in no byte of the database: its rows, its files, its log; while others go on posting."""

import asyncio
from collections.abc import Iterable

import pytest

from app.settings import Settings
from app.storage.engine import sqlite_path
from tests import kept_bytes
from tests.conftest import Api
from tests.integration.forgetting import HOME, done, erased, findings, tell
from tests.integration.support import route

MESSAGES = 30  # a topic; from there on SQLite leaves copies of rows in its pages
TOPICS = {"pets": ("zorblat", "wuffelberries"), "music": ("quenzophone", "tarabush"), "work": ("plimforge", "dravit")}


def remarks(topic: str, count: int) -> list[str]:
    one, other = TOPICS[topic]
    return [f"Remark {number}: the {one} of Bern has a new {other} for {number} francs." for number in range(count)]


async def held(settings: Settings) -> bytes:
    """All that the database holds. The service, in this process, must not stand still meanwhile."""
    return await asyncio.to_thread(kept_bytes.everything, settings)


def left(held_bytes: bytes, topics: Iterable[str]) -> set[str]:
    return {word for topic in topics for word in TOPICS[topic] if word[:9].encode() in held_bytes.lower()}


async def files(settings: Settings, *, rewritten: bool) -> bytes:
    """Postgres: the bytes of all files of the database."""
    found = await asyncio.to_thread(kept_bytes.files, settings, rewritten=rewritten)
    if found is None:
        pytest.skip("the server's files are not on this machine")
    return found


async def test_no_byte_of_an_erased_topic_is_left(api: Api, settings: Settings) -> None:
    if sqlite_path(settings.database_url) is None:
        await asyncio.to_thread(kept_bytes.uncompressed, settings)
    ids = {topic: await tell(api, topic, *remarks(topic, MESSAGES)) for topic in TOPICS}
    await api.settle("ada")
    assert left(await held(settings), TOPICS) == {word for words in TOPICS.values() for word in words}

    async def post() -> None:
        for number in range(5):
            await tell(api, "work", *remarks("work", 4), start=1000 + 10 * number)

    posting = asyncio.create_task(post())
    single = [await api.delete(f"{HOME}/messages/{message}") for message in ids["pets"][:3]]
    whole = await erased(api, f"{HOME}/conversations/pets")
    await posting
    assert whole["erased"]["messages"] == MESSAGES - 3
    for reply in single:
        await done(api, reply.json()["id"])
    await api.settle("ada")
    assert left(await held(settings), ["pets"]) == set()
    found = (await api.post(route("ada", "search"), json={"query": "the quenzophone of Bern"})).json()
    assert "quenzophone" in found["context"]
    assert (await api.get(route("ada", "status"))).json()["messages"] == 2 * MESSAGES + 20
    assert await api.all(route("ada", "jobs"), state="failed") == []
    assert await findings(settings) == []
    posting = asyncio.create_task(post())
    receipt = (await api.delete(HOME)).json()["id"]
    await posting
    assert (await done(api, receipt))["erased"]["messages"] >= 2 * MESSAGES
    await api.settle("ada")
    assert left(await held(settings), ["pets", "music"]) == set()
    assert await findings(settings) == []


async def test_no_file_of_postgres_keeps_what_was_erased(api: Api, settings: Settings) -> None:
    """Once its rows are rewritten; before, a file still holds the dead ones: then the texts really stand there."""
    if sqlite_path(settings.database_url) is not None:
        pytest.skip("Postgres only")
    await asyncio.to_thread(kept_bytes.uncompressed, settings)
    await tell(api, "pets", *remarks("pets", 12), remarks("pets", 1)[0] * 60)
    await tell(api, "music", *remarks("music", 12))
    await api.settle("ada")
    assert left(await files(settings, rewritten=False), ["pets", "music"]) == {*TOPICS["pets"], *TOPICS["music"]}
    await erased(api, f"{HOME}/conversations/pets")
    assert left(await held(settings), ["pets"]) == set()
    assert left(await files(settings, rewritten=False), ["pets"]) == set(TOPICS["pets"]), (
        "dead rows, until they are overwritten"
    )
    after = await files(settings, rewritten=True)
    assert left(after, ["pets", "music"]) == set(TOPICS["music"])
