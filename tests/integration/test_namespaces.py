"""Namespaces: looked at, retired, erased."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import select

from app.container import Container
from app.domain.errors import NotFound
from app.domain.ids import JobId, ThemeId
from app.domain.jobs import JobState, Step
from app.domain.messages import Draft, Role
from app.providers.protocols import Embedded
from app.providers.scripted import ScriptedEmbedder
from app.services.once import Once
from app.settings import Settings
from app.storage.engine import create_engines
from app.storage.repository import new_id
from app.storage.tables import NOWHERE, WITHOUT_MEMORY
from app.storage.tables import metadata as schema
from tests.conftest import WAIT, Api
from tests.integration.support import (
    assert_problem,
    assert_whole,
    claim,
    drain,
    everything,
    forget,
    kinds,
    messages_path,
    namespace_id,
    post,
    rows,
    runner,
    search,
    settled,
    status,
)

FACTS = ("My PIN hint is otter.", "I moved to Lisbon.", "My sister Ines is allergic to peanuts.")


async def test_a_namespace_in_numbers(api: Api) -> None:
    await api.say("ada", *FACTS)
    await api.settle("ada")
    memory = await assert_whole(api, "ada")
    found = await status(api, "ada")
    assert found == {
        "messages": 3,
        "buffered": 0,
        "episodes": len(memory["episodes"]),
        "statements": len(memory["statements"]),
        "themes": len(memory["themes"]),
        "pending_jobs": 0,
        "failed_jobs": 0,
        "degraded": 0,
        "sequence": 3,
        "settled_sequence": 3,
        "revision": found["revision"],
        "usage": found["usage"],
    }
    assert found["usage"].keys() == {"embedder"}
    assert found["usage"]["embedder"]["texts"] >= 3
    one = (await api.get("/v1/namespaces/ada")).json()
    assert (one["name"], one["sequence"], one["revision"]) == ("ada", 3, found["revision"])
    assert one["embedding_profile"] == "scripted@1/64"
    assert await api.all("/v1/namespaces") == [one]
    await api.say("ada", "I like tea.")
    assert (await status(api, "ada"))["revision"] > found["revision"]


async def _receipt(api: Api, receipt: str) -> dict:
    async with asyncio.timeout(WAIT):
        while (found := (await api.get(f"/v1/receipts/{receipt}")).json())["state"] != "done":
            await asyncio.sleep(0.02)
    return found


async def _words_anywhere(settings: Settings, *words: str) -> list[str]:
    """Tables in which one of these words stands."""
    engines = create_engines(settings.database_url)
    try:
        async with engines.read.connect() as connection:
            found = {t.name: repr((await connection.execute(select(t))).all()) for t in schema.sorted_tables}
    finally:
        await engines.dispose()
    return [name for name, text in found.items() if any(word in text.lower() for word in words)]


async def test_deleting_a_namespace_hides_it_at_once_and_leaves_no_row(api: Api, settings: Settings) -> None:
    for name in ("ada", "bob"):
        await api.say(name, *FACTS)
        await api.settle(name)
    untouched = await everything(api, "bob"), await status(api, "bob")
    assert await _words_anywhere(settings, "otter")
    reply = await api.delete("/v1/namespaces/ada")
    assert reply.status_code == 202
    receipt = reply.json()
    assert (receipt["namespace"], receipt["what"], receipt["state"], receipt["finished_at"]) == (
        "ada",
        "namespace",
        "pending",
        None,
    )
    assert_problem(await api.get("/v1/namespaces/ada"), 404)
    assert_problem(await api.get(messages_path("ada")), 404)
    assert_problem(await api.post("/v1/namespaces/ada/search", json={"query": "otter"}), 404)
    assert_problem(await api.delete("/v1/namespaces/ada"), 404)
    done = await _receipt(api, receipt["id"])
    assert done["finished_at"]
    assert done["erased"]["messages"] == 3
    assert (await everything(api, "bob"), await status(api, "bob")) == untouched
    assert [row["name"] for row in await api.all("/v1/namespaces")] == ["bob"]
    assert_problem(await api.delete("/v1/namespaces/ada"), 404)
    deleted = await api.delete("/v1/namespaces/bob")
    await _receipt(api, deleted.json()["id"])
    assert await _words_anywhere(settings, "otter", "ines", "lisbon") == []


async def test_the_name_is_free_at_once(api: Api) -> None:
    await api.say("ada", *FACTS)
    before = (await api.get("/v1/namespaces/ada")).json()
    receipt = (await api.delete("/v1/namespaces/ada")).json()
    sent = await api.say("ada", "I live in Rome.")
    assert sent["messages"][0]["sequence"] == 1
    after = (await api.get("/v1/namespaces/ada")).json()
    assert after["id"] != before["id"]
    await _receipt(api, receipt["id"])
    await api.settle("ada")
    memory = await assert_whole(api, "ada")
    assert [message["content"] for message in memory["messages"]] == ["I live in Rome."]
    assert "otter" not in (await search(api, "ada", "PIN hint otter"))["context"]


NOT_OF_A_NAMESPACE = {table.name for table in WITHOUT_MEMORY}


async def test_every_table_is_empty_of_an_erased_namespace(built: Container) -> None:
    await post(built, "ada", *FACTS)
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    posted = await post(built, "ada", "This one is taken back.")
    draft = Draft(Role.USER, "This one is still in the buffer.")
    await built.services.ingest.append_once("ada", "chat", [draft], Once("key", "0" * 64, 202, str))
    async with built.storage.write("ada") as unit:
        await unit.usage.add({"answer": {"model": "scripted", "calls": 1}})
        [theme] = await unit.themes.page(None, 1)
        await unit.regions.divide(NOWHERE, [([theme.id], await unit.themes.centroid(theme.id))])
        await unit.themes.remove([], into={ThemeId(new_id()): theme.id})
        [message] = (await unit.messages.many([posted.messages[0].id])).values()
        await unit.erasures.bury([message], {message.conversation: "chat"}, message.recorded_at)
        await unit.transfer.stage(JobId(new_id()), [(1, "{}")])
        await unit.commit(revises_memory=False)
    ada = await namespace_id(built, "ada")
    assert {name for name, count in (await rows(built)).items() if not count} <= NOT_OF_A_NAMESPACE
    receipt = await built.services.forgetting.retire("ada")
    attempt = await claim(built, ada)
    assert attempt is not None
    assert attempt.job.kind is Step.FORGET
    await forget(built, attempt)
    left = await rows(built)
    assert {name for name, count in left.items() if count} == {"receipts", "audit"}
    assert (await built.services.forgetting.receipt(receipt.id)).state == "done"


class _Slow(ScriptedEmbedder):
    """Waits, once, until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.begun.set()
        await self.go_on.wait()
        return await super().embed(texts)


async def test_deleting_beside_a_running_step_leaves_nothing(built: Container) -> None:
    """Case 38: the step wakes up after the deletion and must not write what it found."""
    await post(built, "ada", *FACTS)
    slow = _Slow()
    async with runner(built, *kinds(built, slow).values()):
        await slow.begun.wait()
        receipt = await built.services.forgetting.retire("ada")
        await post(built, "ada", "I live in Rome.")
        slow.go_on.set()
        async with asyncio.timeout(WAIT):
            while (await built.services.forgetting.receipt(receipt.id)).state != "done":
                await asyncio.sleep(0.02)
        assert (await built.services.flush.flush("ada", None, WAIT)).settled
    left = await rows(built)
    assert (left["namespaces"], left["conversations"], left["messages"], left["episodes"]) == (1, 1, 1, 1)
    found = await built.services.namespaces.status("ada")
    assert (found.messages, found.jobs.of(JobState.FAILED)) == (1, 0)


async def test_what_waited_is_cancelled_by_the_deletion(built: Container) -> None:
    acknowledged = await post(built, "ada", *FACTS)
    ada = await namespace_id(built, "ada")
    await built.services.forgetting.retire("ada")
    attempt = await claim(built, ada)
    assert attempt is not None
    assert attempt.job.kind is Step.FORGET, "nothing else of a retired namespace runs"
    assert acknowledged.job != attempt.job.id


async def test_posts_beside_deletions_are_accepted_or_gone_but_never_refused(api: Api) -> None:
    receipts: list[str] = []

    async def talk(number: int) -> None:
        for turn in range(6):
            await api.say("ada", f"I am {number} and this is turn {turn}.")

    async def delete() -> None:
        for _ in range(4):
            await asyncio.sleep(0.02)
            reply = await api.delete("/v1/namespaces/ada")
            assert reply.status_code in (202, 404)
            if reply.status_code == 202:
                receipts.append(reply.json()["id"])

    await asyncio.gather(*(talk(number) for number in range(4)), delete())
    for receipt in receipts:
        await _receipt(api, receipt)
    await api.say("ada", "The last word.")
    settled_ = await api.settle("ada")
    assert settled_["jobs"]["failed"] == 0
    await assert_whole(api, "ada")


async def test_two_deletions_at_once_give_one_receipt(api: Api) -> None:
    await api.say("ada", *FACTS)
    replies = await asyncio.gather(*(api.delete("/v1/namespaces/ada") for _ in range(5)))
    assert sorted(reply.status_code for reply in replies) == [202, 404, 404, 404, 404]


async def test_erasing_twice_is_erasing_once(built: Container) -> None:
    """The process dies after the rows are gone; whoever takes up the job finds nothing to do."""
    await post(built, "ada", *FACTS)
    ada = await namespace_id(built, "ada")
    receipt = await built.services.forgetting.retire("ada")
    attempt = await claim(built, ada)
    assert attempt is not None
    await forget(built, attempt)
    done = await built.services.forgetting.receipt(receipt.id)
    assert done.state == "done"
    with suppress(NotFound):
        await forget(built, attempt)
    assert await built.services.forgetting.receipt(receipt.id) == done


async def test_work_of_a_new_namespace_is_not_held_up_by_the_old_one(built: Container) -> None:
    await post(built, "ada", *FACTS)
    await built.services.forgetting.retire("ada")
    again = await post(built, "ada", "I live in Rome.")
    ada = await namespace_id(built, "ada")
    async with runner(built):
        [found] = await settled(built, ada, [again.job])
    assert found.state is JobState.SUCCEEDED
