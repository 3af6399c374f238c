"""Messages that are kept for a time only: set over HTTP, carried out by upkeep, by the time of their receipt."""

from datetime import datetime, timedelta

from app.container import Container, utc_now
from app.domain.ids import MessageId
from app.domain.messages import Draft, Role
from app.services.retention import Retention
from app.settings import Settings
from tests.integration.forgetting import HOME, findings, sightings
from tests.integration.support import NOON, assert_problem, claim, drain, kinds, namespace_id, over_http, succeed

DAY = timedelta(days=1)


async def remember(built: Container, conversation: str, *contents: str) -> list[MessageId]:
    """Messages that were said long ago, and are received now."""
    drafts = [Draft(Role.USER, content, speaker="Ada", occurred_at=NOON - 900 * DAY) for content in contents]
    said = await built.services.ingest.append("ada", conversation, drafts)
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    return [message.id for message in said.messages]


async def expire(built: Container, after: timedelta) -> int:
    """Upkeep looks after so long; returns how many erasures it queued, which are carried out."""

    def then() -> datetime:
        return utc_now() + after

    queued, run, namespace = await Retention(built.storage, then).run(), kinds(built), await namespace_id(built, "ada")
    while attempt := await claim(built, namespace, then()):
        await succeed(built, attempt, await run[attempt.job.kind].run(attempt))
    return queued


async def contents(built: Container, conversation: str) -> list[str]:
    return [one.content for one in await built.services.memory.messages("ada", conversation, 0, 100)]


async def test_messages_go_when_their_time_is_over(built: Container, settings: Settings) -> None:
    await remember(built, "chat", "The zorblat lives in Velmar.", "My sister plays the violin.")
    await remember(built, "support", "The wuffel of Nordhagen is broken.")
    async with over_http(built, settings) as api:
        assert (await api.get(HOME)).json()["retention_days"] is None
        assert await expire(built, 900 * DAY) == 0, "nothing expires by itself"
        changed = await api.patch(HOME, json={"retention_days": 30})
        assert (changed.status_code, changed.json()["retention_days"]) == (200, 30.0)
        own = await api.patch(f"{HOME}/conversations/support", json={"retention_days": 1.5})
        assert (own.status_code, own.json()["retention_days"], own.json()["message_count"]) == (200, 1.5, 1)
        assert await expire(built, DAY) == 0
        assert await expire(built, 1.6 * DAY) == 1
        assert (await contents(built, "support"), len(await contents(built, "chat"))) == ([], 2)
        assert await sightings(settings, "wuffel", "Nordhagen") == {}
        kept = await api.patch(f"{HOME}/conversations/support", json={"retention_days": 365})
        assert kept.json()["retention_days"] == 365.0
        await remember(built, "support", "The dravit of Lund is whole.")
        assert await expire(built, 31 * DAY) == 1
        assert [one["name"] for one in await api.all(f"{HOME}/conversations")] == ["support"], (
            "chat has its own no more"
        )
        assert len(await contents(built, "support")) == 1
        assert await sightings(settings, "zorblat", "violin", "chat") == {}
        assert [one["state"] for one in await api.all(f"{HOME}/jobs") if one["kind"] == "forget"] == ["succeeded"] * 2
        await api.patch(HOME, json={"retention_days": None})
        assert (await api.patch(f"{HOME}/conversations/support", json={"retention_days": None})).status_code == 200
        assert await expire(built, 900 * DAY) == 0
        await remember(built, "chat", "The dravit of Lund is gone.")
        assert [message["sequence"] for message in await api.all(f"{HOME}/conversations/chat/messages")] == [5]
    assert await findings(settings) == []


async def test_what_is_no_retention_is_refused(built: Container, settings: Settings) -> None:
    await remember(built, "chat", "Something.")
    async with over_http(built, settings) as api:
        for path in (HOME, f"{HOME}/conversations/chat"):
            for wrong in (0, -1, 36_501, "30", True, [1]):
                assert_problem(await api.patch(path, json={"retention_days": wrong}), 422, "#/retention_days")
            assert (await api.patch(path, json={})).json()["retention_days"] is None
            assert_problem(await api.patch(path, json={"days": 3}), 422, "#/days")
        assert (await api.patch("/v1/namespaces/none", json={"retention_days": 3})).status_code == 404
        assert (await api.patch(f"{HOME}/conversations/none", json={"retention_days": 3})).status_code == 404
