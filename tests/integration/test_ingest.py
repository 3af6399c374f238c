"""POST messages: durable at once, in order, once."""

import asyncio
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest
from sqlalchemy import select

from app.container import Container, utc_now
from app.domain.ids import NamespaceId
from app.domain.messages import Draft, Role
from app.services.ingest import Ingest
from app.settings import Settings
from app.storage.engine import create_engines
from app.storage.tables import jobs, messages
from tests.conftest import Api, serving
from tests.integration.support import assert_problem, assert_whole, messages_path, post, rows, status


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def test_the_reply_is_the_documented_one(api: Api, ada: str) -> None:
    body = {"messages": [{"role": "user", "content": "I like tea.", "external_id": "m1"}]}
    reply = await api.post(messages_path(ada), json=body)
    assert reply.status_code == 202
    sent = reply.json()
    message = sent["messages"][0]
    assert sent == {
        "namespace": ada,
        "conversation": "chat",
        "accepted": 1,
        "duplicates": 0,
        "messages": [{"id": str(UUID(message["id"])), "external_id": "m1", "sequence": 1, "status": "accepted"}],
        "sequence": 1,
        "job": str(UUID(sent["job"])),
    }
    assert UUID(message["id"]).version == 7
    stored = (await api.get(f"/v1/namespaces/{ada}/messages/{message['id']}")).json()
    assert stored.keys() == {
        *("id", "external_id", "conversation", "sequence", "role", "speaker", "content", "occurred_at"),
        *("recorded_at", "images", "metadata", "episode"),
    }
    assert stored["occurred_at"] == stored["recorded_at"]
    assert datetime.fromisoformat(stored["recorded_at"]).utcoffset() is not None


async def test_sequences_count_through_all_conversations(api: Api, ada: str) -> None:
    replies = [await api.say(ada, *contents, conversation=name) for name, contents in _BATCHES]
    given = [[message["sequence"] for message in reply["messages"]] for reply in replies]
    assert given == [[1, 2], [3], [4, 5]]
    assert [reply["sequence"] for reply in replies] == [2, 3, 5]
    listed = await api.all(messages_path(ada, "one"))
    assert [(message["sequence"], message["content"]) for message in listed] == [(1, "a"), (2, "b"), (4, "d"), (5, "e")]


_BATCHES = (("one", ("a", "b")), ("two", ("c",)), ("one", ("d", "e")))


async def test_namespace_and_conversation_come_into_being_on_first_use(api: Api, ada: str) -> None:
    assert_problem(await api.get(f"/v1/namespaces/{ada}"), 404)
    assert_problem(await api.get(messages_path(ada)), 404)
    await api.say(ada, "I like tea.")
    assert (await api.get(f"/v1/namespaces/{ada}")).json()["name"] == ada
    assert_problem(await api.get(messages_path(ada, "other")), 404)
    [conversation] = await api.all(f"/v1/namespaces/{ada}/conversations")
    assert (conversation["name"], conversation["message_count"]) == ("chat", 1)


# Duplicates ------------------------------------------------------------------------------------------------


def _batch(*pairs: tuple[str | None, str]) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content, "external_id": name} for name, content in pairs]}


async def test_the_same_message_again_is_a_duplicate(api: Api, ada: str) -> None:
    first = (await api.post(messages_path(ada), json=_batch(("m1", "I like tea."), ("m2", "I live in Rome.")))).json()
    again = (await api.post(messages_path(ada), json=_batch(("m2", "I live in Rome."), ("m1", "I like tea.")))).json()
    assert (again["accepted"], again["duplicates"], again["job"], again["sequence"]) == (0, 2, None, 2)
    assert [m["id"] for m in again["messages"]] == [m["id"] for m in reversed(first["messages"])]
    assert {m["status"] for m in again["messages"]} == {"duplicate"}
    mixed = (await api.post(messages_path(ada), json=_batch(("m1", "I like tea."), ("m3", "I play chess.")))).json()
    assert (mixed["accepted"], mixed["duplicates"]) == (1, 1)
    assert [m["sequence"] for m in mixed["messages"]] == [1, 3]
    assert mixed["job"] is not None
    assert (await status(api, ada))["messages"] == 3


async def test_another_content_under_a_taken_id_refuses_the_whole_batch(api: Api, ada: str) -> None:
    await api.post(messages_path(ada), json=_batch(("m1", "I like tea.")))
    before = await status(api, ada)
    reply = await api.post(messages_path(ada), json=_batch(("m0", "new"), ("m1", "I like coffee."), (None, "newer")))
    assert_problem(reply, 409, "#/messages/1/external_id")
    assert [m["content"] for m in await api.all(messages_path(ada))] == ["I like tea."]
    after = await status(api, ada)
    assert (after["messages"], after["sequence"]) == (before["messages"], before["sequence"]) == (1, 1)
    assert (await api.post(messages_path(ada), json=_batch(("m0", "new")))).json()["messages"][0]["sequence"] == 2


@pytest.mark.parametrize(
    "change",
    [{"speaker": "Bob"}, {"role": "assistant"}, {"metadata": {"a": 1}}, {"occurred_at": "2026-01-01T00:00:00Z"}],
)
async def test_all_that_was_sent_counts_as_content(api: Api, ada: str, change: dict[str, object]) -> None:
    message = {"role": "user", "content": "I like tea.", "external_id": "m1"}
    await api.post(messages_path(ada), json={"messages": [message]})
    assert_problem(await api.post(messages_path(ada), json={"messages": [message | change]}), 409)


async def test_duplicates_inside_one_batch(api: Api, ada: str, bob: str) -> None:
    reply = await api.post(messages_path(ada), json=_batch(("m1", "tea"), ("m1", "tea"), ("m2", "rome")))
    sent = reply.json()
    assert [(m["sequence"], m["status"]) for m in sent["messages"]] == [
        (1, "accepted"),
        (1, "duplicate"),
        (2, "accepted"),
    ]
    assert (sent["accepted"], sent["duplicates"], sent["sequence"]) == (2, 1, 2)
    clash = await api.post(messages_path(bob), json=_batch(("m1", "tea"), ("m1", "coffee")))
    assert_problem(clash, 409, "#/messages/1/external_id")
    assert_problem(await api.get(f"/v1/namespaces/{bob}"), 404)


async def test_an_external_id_belongs_to_its_conversation(api: Api, ada: str) -> None:
    await api.post(messages_path(ada, "one"), json=_batch(("m1", "tea")))
    other = await api.post(messages_path(ada, "two"), json=_batch(("m1", "coffee")))
    assert other.json()["accepted"] == 1


async def test_messages_without_an_external_id_are_never_duplicates(api: Api, ada: str) -> None:
    await api.say(ada, "tea", "tea")
    assert [m["content"] for m in await api.all(messages_path(ada))] == ["tea", "tea"]


async def test_parallel_retries_store_one_message(api: Api, ada: str) -> None:
    body = _batch(("m1", "I like tea."))
    replies = await asyncio.gather(*(api.post(messages_path(ada), json=body) for _ in range(10)))
    assert [reply.status_code for reply in replies] == [202] * 10
    assert sum(reply.json()["accepted"] for reply in replies) == 1
    assert len({reply.json()["messages"][0]["id"] for reply in replies}) == 1
    assert (await status(api, ada))["messages"] == 1


# Order and durability --------------------------------------------------------------------------------------


async def test_case_7_parallel_posts_are_strictly_ordered_and_end_in_one_episode_each(api: Api, ada: str) -> None:
    turns = [f"turn-{number:02} was about topic{number}" for number in range(20)]
    replies = await asyncio.gather(*(api.say(ada, turn) for turn in turns))
    assert sorted(reply["messages"][0]["sequence"] for reply in replies) == list(range(1, 21))
    await api.settle(ada)
    memory = await assert_whole(api, ada)
    assert sorted(message["content"] for message in memory["messages"]) == sorted(turns)
    assert all(message["episode"] for message in memory["messages"])
    assert sum(episode["message_count"] for episode in memory["episodes"]) == 20


async def test_what_is_acknowledged_is_durable_together_with_its_job(settings: Settings, built: Container) -> None:
    acknowledged = await post(built, "ada", "I like tea.", "I live in Rome.")
    other = create_engines(settings.database_url)
    try:
        async with other.read.connect() as connection:
            stored = (await connection.execute(select(messages.c.id).order_by(messages.c.sequence))).scalars().all()
            queued = (await connection.execute(select(jobs.c.id, jobs.c.state, jobs.c.attempts))).all()
    finally:
        await other.dispose()
    assert stored == [message.id for message in acknowledged.messages]
    assert queued == [(acknowledged.job, "queued", 0)]


class _Broken:
    """A doorbell that cannot be rung."""

    async def before_commit(self, connection: object, namespace: NamespaceId) -> None:
        raise ConnectionError

    def after_commit(self, namespace: NamespaceId) -> None:
        raise AssertionError


async def test_messages_and_their_job_are_one_transaction(built: Container) -> None:
    ingest = Ingest(replace(built.storage, doorbell=_Broken()), "scripted@1/64", utc_now)
    with pytest.raises(ConnectionError):
        await ingest.append("ada", "chat", [Draft(Role.USER, "I like tea.")])
    assert set((await rows(built)).values()) == {0}


async def test_without_a_worker_messages_wait_visibly(settings: Settings) -> None:
    async with serving(settings.model_copy(update={"worker": "off"})) as api:
        first, second = await api.say("ada", "I like tea."), await api.say("ada", "I live in Rome.")
        assert first["job"] == second["job"], "a queued job takes up what comes before it starts"
        found = await status(api, "ada")
    assert (found["messages"], found["buffered"], found["pending_jobs"], found["failed_jobs"]) == (2, 2, 1, 0)
    assert (found["sequence"], found["settled_sequence"]) == (2, 0)
