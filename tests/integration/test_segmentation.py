"""From the buffer to episodes: gaps, caps, the open tail, flush."""

import asyncio
from itertools import groupby

import pytest

from app.container import Container
from app.domain.text import count_tokens
from app.settings import Settings
from tests.conftest import WAIT, Api, serving
from tests.integration.support import (
    assert_problem,
    assert_whole,
    drain,
    everything,
    later,
    messages_path,
    post,
    rest,
    route,
    search,
    status,
)


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def _say_at(api: Api, ada: str, *moments: tuple[float, str], conversation: str = "chat") -> None:
    messages = [{"role": "user", "content": content, "occurred_at": later(minute)} for minute, content in moments]
    reply = await api.post(messages_path(ada, conversation), json={"messages": messages})
    assert reply.status_code == 202, reply.text


async def _episodes(api: Api, ada: str) -> list[tuple[int, int, str]]:
    found = await api.all(f"/v1/namespaces/{ada}/episodes")
    return [(e["first_sequence"], e["last_sequence"], e["boundary_reason"]) for e in found]


# Hard signals ----------------------------------------------------------------------------------------------


async def test_a_pause_of_half_an_hour_closes_an_episode(api: Api, ada: str) -> None:
    await _say_at(api, ada, (0, "I like tea."), (29.9, "I like green tea."), (59.9, "I live in Rome."))
    found = await rest(api, ada)
    assert await _episodes(api, ada) == [(1, 2, "gap")]
    assert found["buffered"] == 1


async def test_a_gap_is_one_of_event_time(api: Api, ada: str) -> None:
    await _say_at(api, ada, (0, "I like tea."))
    await _say_at(api, ada, (31, "I live in Rome."))
    await rest(api, ada)
    assert await _episodes(api, ada) == [(1, 1, "gap")]


async def test_no_episode_has_more_than_25_messages(api: Api, ada: str) -> None:
    await _say_at(api, ada, *((0, "I like green tea with milk.") for _ in range(60)))
    found = await rest(api, ada)
    assert found["buffered"] < 25
    assert found["episodes"] >= 2
    await api.settle(ada)
    memory = await assert_whole(api, ada)
    assert sum(episode["message_count"] for episode in memory["episodes"]) == 60
    assert any(episode["boundary_reason"] == "max_messages" for episode in memory["episodes"])


async def test_no_episode_has_more_than_2048_tokens(api: Api, ada: str) -> None:
    word = "tea leaves steep slowly "
    await _say_at(api, ada, *((0, f"{number}: {word * 125}") for number in range(6)))  # about 750 tokens each
    await api.settle(ada)
    memory = await assert_whole(api, ada)
    for _, inside in groupby(memory["messages"], key=lambda message: message["episode"]):
        assert sum(count_tokens(f"User: {message['content']}") for message in inside) <= 2048
    assert len(memory["episodes"]) >= 3


async def test_a_message_above_the_cap_is_an_episode_of_its_own(api: Api, ada: str) -> None:
    await _say_at(api, ada, (0, "I like tea."), (1, "leaves and water " * 600), (2, "I live in Rome."))
    await api.settle(ada)
    assert await _episodes(api, ada) == [(1, 1, "max_tokens"), (2, 2, "long_message"), (3, 3, "flush")]


async def test_one_very_long_message_is_found_by_the_fact_in_its_middle(api: Api, ada: str) -> None:
    filler = "The wind goes over the hill and the sheep stand still. "
    half = filler * (60_000 // len(filler) + 1)
    long = f"{half}The safe code word is heron, the grey bird. {half}"[:120_000]
    await _say_at(api, ada, (0, "I like green tea."), (1, long), (2, "My sister lives in Porto."))
    settled = await api.settle(ada)
    assert settled["settled"]
    assert settled["jobs"]["failed"] == 0
    memory = await assert_whole(api, ada)
    assert [message["content"] == long for message in memory["messages"]] == [False, True, False]
    assert any("Porto" in statement["text"] for statement in memory["statements"])
    found = await search(api, ada, "What is the safe code word?", max_tokens=500)
    best = found["items"][0]
    assert "heron" in best["text"]
    assert [message["sequence"] for message in best["messages"]] == [2]
    asked = await api.post(f"/v1/namespaces/{ada}/answer", json={"query": "What is the safe code word?"})
    answered = asked.json()
    assert "heron" in answered["answer"]
    [citation] = answered["citations"]
    assert citation["message"] == memory["messages"][1]["id"]
    assert citation["quote"] in long


async def test_cuts_do_not_depend_on_how_messages_arrive(api: Api, ada: str, bob: str) -> None:
    contents = [f"Sentence {number} about {'tea' if number < 12 else 'trains'}." for number in range(40)]
    await _say_at(api, ada, *((minute, content) for minute, content in enumerate(contents)))
    for minute, content in enumerate(contents):
        body = {"messages": [{"role": "user", "content": content, "occurred_at": later(minute)}]}
        assert (await api.post(messages_path(bob), json=body)).status_code == 202
    bounds = []
    for namespace in (ada, bob):
        await api.settle(namespace)
        episodes = await api.all(f"/v1/namespaces/{namespace}/episodes")
        bounds.append([(episode["first_sequence"], episode["last_sequence"]) for episode in episodes])
    assert bounds[0] == bounds[1]


async def test_the_times_of_an_episode_are_those_of_its_messages(api: Api, ada: str) -> None:
    await _say_at(api, ada, (5, "I like tea."), (2, "I said before that I like green tea."), (9, "And milk with it."))
    await api.settle(ada)
    [episode] = await api.all(f"/v1/namespaces/{ada}/episodes")
    spoken = [message["occurred_at"] for message in await api.all(messages_path(ada))]
    assert (episode["started_at"], episode["ended_at"]) == (min(spoken), max(spoken))


# Flush -----------------------------------------------------------------------------------------------------


async def test_the_open_tail_waits_for_a_flush_and_a_second_flush_changes_nothing(api: Api, ada: str) -> None:
    await api.say(ada, "My bike is called Rosinante.")
    assert (await rest(api, ada))["buffered"] == 1
    assert await _episodes(api, ada) == []
    first = await api.settle(ada)
    assert (first["settled"], first["sequence"]) == (True, 1)
    assert await _episodes(api, ada) == [(1, 1, "flush")]
    before = await everything(api, ada)
    again = await api.post(route(ada, "flush"))
    assert again.status_code == 200
    assert again.json() == first
    assert await everything(api, ada) == before


async def test_a_flush_of_one_conversation_leaves_the_others_open(api: Api, ada: str) -> None:
    await api.say(ada, "I like tea.", conversation="one")
    await api.say(ada, "I live in Rome.", conversation="two")
    reply = await api.post(route(ada, "flush"), json={"conversation": "two", "wait_seconds": WAIT})
    assert (reply.status_code, reply.json()["settled"]) == (200, True)
    memory = await assert_whole(api, ada)
    assert [message["episode"] is None for message in memory["messages"]] == [True, False]
    assert (await status(api, ada))["buffered"] == 1


async def test_a_flush_closes_what_was_there_when_it_came(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    await built.services.flush.flush("ada", None, 0)
    await post(built, "ada", "I like green tea.")
    await drain(built, "ada")
    found = await built.services.namespaces.status("ada")
    assert (found.messages, found.episodes, found.buffered) == (2, 1, 1)


@pytest.mark.parametrize("wait", [0, 0.3])
async def test_a_flush_says_202_while_work_is_going_on(settings: Settings, wait: float) -> None:
    async with serving(settings.model_copy(update={"worker": "off"})) as api:
        await api.say("ada", "I like tea.")
        reply = await api.post(route("ada", "flush"), json={"wait_seconds": wait})
        assert reply.status_code == 202
        assert reply.json() == {
            "settled": False,
            "sequence": 1,
            "jobs": {"succeeded": 0, "failed": 0, "pending": 1},
        }
        assert (await status(api, "ada"))["buffered"] == 1


async def test_a_flush_counts_the_jobs_that_there_were(api: Api, ada: str) -> None:
    await api.say(ada, "I like tea.", "I live in Rome.")
    settled = await api.settle(ada)
    jobs = await api.all(f"/v1/namespaces/{ada}/jobs")
    assert {job["state"] for job in jobs} == {"succeeded"}
    assert {job["kind"] for job in jobs} == {"segment", "admit", "maintain"}
    assert settled["jobs"] == {"succeeded": len(jobs), "failed": 0, "pending": 0}


async def test_flushes_beside_posts_lose_nothing(api: Api, ada: str) -> None:
    async def talk(name: str) -> None:
        for number in range(8):
            await api.say(ada, f"{name} says {number}, and {name} likes tea{number}.", conversation=name)
            await api.post(route(ada, "flush"))

    await asyncio.gather(*(talk(name) for name in ("one", "two", "three")))
    settled = await api.settle(ada)
    assert settled["jobs"]["failed"] == 0
    memory = await assert_whole(api, ada)
    assert sum(episode["message_count"] for episode in memory["episodes"]) == len(memory["messages"]) == 24


async def test_what_a_flush_refuses(api: Api, ada: str) -> None:
    assert_problem(await api.post(route(ada, "flush")), 404)
    await api.say(ada, "I like tea.")
    assert_problem(await api.post(route(ada, "flush"), json={"conversation": "nope"}), 404)
    for wait in (-1, 301, "soon", None):
        assert_problem(await api.post(route(ada, "flush"), json={"wait_seconds": wait}), 422, "#/wait_seconds")
    assert_problem(await api.post(route(ada, "flush"), json={"conversation": "a b"}), 422, "#/conversation")
    assert_problem(await api.post(route(ada, "flush"), json={"now": True}), 422, "#/now")
    assert (await status(api, ada))["buffered"] == 1
