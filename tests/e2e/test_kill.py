"""One kill -9 in the middle of a job, looked at closely; the crash run does many and counts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import select

from app.container import build_doctor
from app.settings import Settings
from app.storage.engine import create_engines
from app.storage.tables import jobs
from tests.conftest import WAIT, Api
from tests.e2e.processes import Member
from tests.integration.support import assert_whole, messages_path

LONG = "The wind goes over the hill and the sheep stand still in the rain. " * 25  # so that a step takes a while
LEASE_SECONDS = 8.0  # so that nobody takes a process for dead that is only slow


@asynccontextmanager
async def _member(database_url: str, log: Path) -> AsyncIterator[Member]:
    member = Member("serve", database_url, log, inline=True, models={"JOBS__STALE_SECONDS": str(LEASE_SECONDS)})
    await member.start()
    try:
        yield member
    finally:
        await member.stop()


async def _running(database_url: str) -> str | None:
    """The kind of a job that runs."""
    engines = create_engines(database_url)
    try:
        async with engines.read.connect() as connection:
            query = select(jobs.c.kind).where(jobs.c.state == "running")
            return (await connection.execute(query)).scalars().first()
    finally:
        await engines.dispose()


async def _kill_at_work(member: Member, database_url: str, kind: str) -> None:
    """Kill it while a job of this kind runs; a kill that fell between two jobs does not count."""
    while True:
        while await _running(database_url) != kind:
            await asyncio.sleep(0.001)
        member.strike()
        await member.gone()
        if await _running(database_url):
            return
        await member.start()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["segment", "admit"])
async def test_case_8_a_process_killed_in_the_middle_of_a_job(database_url: str, tmp_path: Path, kind: str) -> None:
    """50 messages, SIGKILL while a job runs, and again a start: on SQLite and on Postgres."""
    facts = [f"My locker number{number} is in hall {number}." for number in range(50)]
    said = [{"role": "user", "speaker": "Ada", "content": f"{fact} {LONG}", "external_id": fact} for fact in facts]
    async with _member(database_url, tmp_path / "log") as member, Api(base_url=member.url, timeout=WAIT) as api:
        posted = await api.post(messages_path("ada"), json={"messages": said})
        assert (posted.status_code, posted.json()["accepted"]) == (202, 50)
        async with asyncio.timeout(WAIT):
            await _kill_at_work(member, database_url, kind)
        await member.start()
        async with asyncio.timeout(LEASE_SECONDS + WAIT):
            await api.settle("ada")
        memory = await assert_whole(api, "ada")
        assert [message["external_id"] for message in memory["messages"]] == facts
        assert all(message["episode"] for message in memory["messages"])
        kept = [statement["text"] for statement in memory["statements"]]
        assert len(kept) == len(set(kept))
        assert all(sum(fact.rstrip(".") in text for text in kept) == 1 for fact in facts)
        work = await api.all("/v1/namespaces/ada/jobs")
        assert {job["state"] for job in work} == {"succeeded"}
        assert [job["attempts"] for job in work if job["attempts"] > 1] == [2], "only what ran was done again"
        admitted = [job for job in work if job["kind"] == "admit"]
        assert len(admitted) == len(memory["episodes"])
        again = await api.post(messages_path("ada"), json={"messages": said})
        assert (again.json()["accepted"], again.json()["duplicates"], again.json()["job"]) == (0, 50, None)
    async with build_doctor(Settings(_env_file=None, database_url=database_url, embedder="scripted")) as (doctor, _):
        assert [*await doctor.look_around(), *await doctor.examine(await doctor.patients())] == []
