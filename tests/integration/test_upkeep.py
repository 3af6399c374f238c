"""Conversations at rest are closed, and work that lost its job is found again."""

import asyncio
from datetime import timedelta

from sqlalchemy import delete

from app.container import Container, utc_now
from app.domain.jobs import JobState, Step
from app.domain.messages import Draft, Role
from app.domain.segmentation import SegmentPolicy
from app.services.upkeep import Upkeep
from app.settings import Settings
from app.storage.tables import jobs
from tests.conftest import WAIT, serving
from tests.integration.support import claim, kinds

RESTED = timedelta(hours=1)


async def test_case_9_a_short_conversation_is_remembered_after_its_rest(settings: Settings) -> None:
    segment = settings.segment.model_copy(update={"idle_close_seconds": 1})
    jobs = settings.jobs.model_copy(update={"upkeep_seconds": 0.2})
    async with serving(settings.model_copy(update={"segment": segment, "jobs": jobs})) as api:
        await api.say("ada", "My bike is called Rosinante.", "I ride it to work.", speaker="Ada")
        asked = {"q": "bike name"}
        assert "Rosinante" in (await api.get("/v1/namespaces/ada/search", params=asked)).json()["context"]
        async with asyncio.timeout(WAIT):
            while not (await api.get("/v1/namespaces/ada/status")).json()["statements"]:
                await asyncio.sleep(0.2)
        [episode] = await api.all("/v1/namespaces/ada/episodes")
        assert (episode["boundary_reason"], episode["message_count"]) == ("idle", 2)
        found = (await api.get("/v1/namespaces/ada/search", params={**asked, "levels": "statement"})).json()
        assert "Rosinante" in found["items"][0]["text"]


def _upkeep(built: Container, later: timedelta = RESTED) -> Upkeep:
    return Upkeep(built.storage, lambda: utc_now() + later, SegmentPolicy())


async def _lose_jobs(built: Container) -> None:
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(delete(jobs))


async def _say(built: Container) -> None:
    await built.services.ingest.append("ada", "chat", [Draft(Role.USER, "I moved to Lisbon.", speaker="Ada")])


async def test_a_buffer_whose_job_vanished_is_queued_once_it_rests(built: Container) -> None:
    await _say(built)
    await _lose_jobs(built)
    assert await _upkeep(built, timedelta()).run() == 0
    assert await _upkeep(built).run() == 1
    assert await _upkeep(built).run() == 0  # a job knows of it now


async def test_episodes_and_statements_go_on_where_their_jobs_vanished(built: Container) -> None:
    await _say(built)
    await built.services.flush.flush("ada", None, 0)
    for step in (Step.SEGMENT, Step.ADMIT, Step.MAINTAIN):
        if step is not Step.SEGMENT:
            await _lose_jobs(built)
            assert await _upkeep(built, timedelta()).run() == 1
        async with built.storage.read("ada") as unit:
            namespace = unit.namespace.id
            assert [job.kind for job in await unit.jobs.page(None, None, 10)] == [step]
        attempt = await claim(built, namespace)
        assert attempt is not None
        await kinds(built)[step].run(attempt)
    status = await built.services.namespaces.status("ada")
    assert (status.episodes, status.statements, status.themes) == (1, 1, 1)


async def test_what_was_given_up_is_not_queued_again(built: Container) -> None:
    await _say(built)
    async with built.storage.write("ada") as unit:
        [job] = await unit.jobs.page(None, None, 10)
        await unit.jobs.cancel(job.id, utc_now())
        await unit.commit()
    assert await _upkeep(built).run() == 0
    await built.services.work.retry("ada", job.id)
    assert (await built.services.work.get("ada", job.id)).state is JobState.QUEUED
