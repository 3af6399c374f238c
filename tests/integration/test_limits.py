"""Limits over real HTTP: what is above one is refused, with its name and when to come again; nothing is stored."""

from typing import Any

import httpx

from app.settings import LimitSettings, ReadSettings, Settings
from tests.conftest import Api, serving
from tests.integration.support import assert_problem, messages_path, route, search, status

TEA = {"role": "user", "content": "I like tea."}


def _limited(settings: Settings, **limits: Any) -> Settings:  # noqa: ANN401
    unlimited = {"key_requests": 0, "namespace_requests": 0, "pause_seconds": 0}
    return settings.model_copy(update={"limits": LimitSettings(**{**unlimited, **limits})})


def _refused(reply: httpx.Response, status: int, setting: str) -> None:
    problem = assert_problem(reply, status)
    assert problem["limit"] == setting
    assert int(reply.headers["retry-after"]) >= 1


def _refused_for_good(reply: httpx.Response, setting: str) -> None:
    assert assert_problem(reply, 403)["limit"] == setting
    assert "retry-after" not in reply.headers


async def test_requests_of_one_sender_and_to_one_namespace(settings: Settings) -> None:
    async with serving(_limited(settings, key_requests=12, namespace_requests=5)) as api:
        await api.say("ada", "I like tea.")
        left = [(await api.get("/v1/namespaces/ada")).headers["ratelimit"].split(", ") for _ in range(4)]
        assert [[part.split(";")[:2] for part in one] for one in left] == [
            [['"address"', f"r={10 - used}"], ['"namespace"', f"r={3 - used}"]] for used in range(4)
        ]
        refused = await api.get("/v1/namespaces/ada")
        _refused(refused, 429, "LIMITS__NAMESPACE_REQUESTS")
        assert refused.headers["ratelimit-policy"] == '"address";q=12;w=60, "namespace";q=5;w=60'
        assert (await api.get("/v1/namespaces/bob")).status_code == 404  # of its own
        for _ in range(5):
            await api.get("/v1/namespaces")
        _refused(await api.post(messages_path("eve"), json={"messages": [TEA]}), 429, "LIMITS__KEY_REQUESTS")
        assert (await api.get("/health/live")).status_code == (await api.get("/health/ready")).status_code == 200


async def test_a_backlog_has_an_end(settings: Settings) -> None:
    """What was accepted stays accepted: sent again, it is a duplicate and no refusal."""
    idle = settings.model_copy(update={"worker": "off"})
    bounds = {"buffered_messages": 5, "pending_jobs": 3, "pending_jobs_in_all": 1000}
    async with serving(_limited(idle, **bounds)) as api:
        batch = {"messages": [TEA | {"external_id": str(number)} for number in range(4)]}
        assert (await api.post(messages_path("ada"), json=batch)).status_code == 202
        _refused(await api.post(messages_path("ada"), json={"messages": [TEA] * 2}), 429, "LIMITS__BUFFERED_MESSAGES")
        assert (await api.post(messages_path("ada"), json=batch)).json()["duplicates"] == 4
        assert (await status(api, "ada"))["messages"] == 4
        for conversation in ("one", "two", "three"):
            await api.say("bob", "I like tea.", conversation=conversation)
        _refused(await api.post(messages_path("bob", "four"), json={"messages": [TEA]}), 429, "LIMITS__PENDING_JOBS")
        assert [one["name"] for one in await api.all("/v1/namespaces/bob/conversations")] == ["one", "two", "three"]
    async with serving(_limited(idle, **bounds | {"pending_jobs_in_all": 4, "namespaces": 2})) as api:
        assert (await api.post(messages_path("ada"), json=batch)).status_code == 202  # no namespace more
        _refused_for_good(await api.post(messages_path("eve"), json={"messages": [TEA]}), "LIMITS__NAMESPACES")
    async with serving(_limited(idle, **bounds | {"pending_jobs_in_all": 4})) as api:
        refused = await api.post(messages_path("eve"), json={"messages": [TEA]})
        _refused(refused, 429, "LIMITS__PENDING_JOBS_IN_ALL")
        assert_problem(await api.get("/v1/namespaces/eve"), 404)


async def test_bodies_together_have_a_limit(settings: Settings) -> None:
    async with serving(_limited(settings, body_bytes=100_000, bodies_bytes=50_000)) as api:
        large = {"messages": [TEA | {"content": "tea " * 15_000}]}
        _refused(await api.post(messages_path("ada"), json=large), 503, "LIMITS__BODIES_BYTES")
        for _ in range(3):  # what was refused, and what is done, is held no more
            assert (await api.post(messages_path("ada"), json={"messages": [TEA] * 100})).status_code == 202


async def test_a_read_that_takes_too_long_ends(settings: Settings) -> None:
    hasty = settings.model_copy(update={"read": ReadSettings(deadline_seconds=1e-6, at_once=2)})
    async with serving(hasty) as api:
        await api.say("ada", "I like tea.")
        for noun in ("search", "answer"):
            for _ in range(4):  # more than may run at once: no place is lost
                late = await api.get(route("ada", noun), params={"q": "What do I like?"})
                _refused(late, 503, "READ__DEADLINE_SECONDS")


async def test_a_compressed_body_is_not_opened(shared: Api, ada: str) -> None:
    bomb = {"content-type": "application/json", "content-encoding": "gzip"}
    assert_problem(await shared.post(messages_path(ada), content=b"\x1f\x8b", headers=bomb), 415)
    plain = {"content-encoding": "identity"}
    assert (await shared.post(messages_path(ada), json={"messages": [TEA]}, headers=plain)).status_code == 202
    text = {"content-type": "text/plain"}
    assert_problem(await shared.post(messages_path(ada), content='{"messages": []}', headers=text), 415)
    assert_problem(await shared.post(messages_path(ada), content=b"a=1"), 415)
    assert (await search(shared, ada, "tea"))["items"]
