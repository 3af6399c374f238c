"""The doctor: a database after real work is sound, each broken invariant is found, and what can be mended is."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.container import build, build_doctor
from app.domain.errors import ConfigurationError, NotFound
from app.domain.findings import MEANING, REPAIRABLE, Fault, Finding
from app.settings import Settings
from app.storage.tables import namespaces
from tests.conftest import serving, settings_for
from tests.integration.breaking import BREAKS, Break, retire, vanish
from tests.integration.conftest import copy_of, database
from tests.integration.support import drain, namespace_id, post

TALK = (
    "I moved to Lisbon in 2021. My sister Ines is allergic to peanuts.",
    "I adopted a cat named Miso.",
    "My favourite dish is ramen. I work as a nurse in Porto.",
)
WORK = (("ada", "chat", 1), ("ada", "work", 2), ("ada", "chat", 3), ("ben", "chat", 4))


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
async def worked_once(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """URL of a database after real work: two namespaces, several conversations and episodes, open tails."""
    with database(request) as url:
        async with build(settings_for(url)) as built:
            for namespace, conversation, number in WORK:
                await post(built, namespace, *(f"{line} ({number})" for line in TALK), conversation=conversation)
                await built.services.flush.flush(namespace, conversation, 0)
                await drain(built, namespace)
            await post(built, "ada", "Still open.")
            await drain(built, "ada")
        yield url


@pytest.fixture
def worked(worked_once: str, request: pytest.FixtureRequest) -> Iterator[Settings]:
    """Settings of a copy of it."""
    with copy_of(worked_once, request) as url:
        yield settings_for(url)


async def examine(settings: Settings) -> list[Finding]:
    async with build_doctor(settings) as (doctor, _):
        return [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]


def told(findings: Sequence[Finding]) -> set[tuple[str, Fault, str]]:
    return {(finding.namespace, finding.fault, finding.where) for finding in findings}


@asynccontextmanager
async def surgery(settings: Settings) -> AsyncIterator[AsyncConnection]:
    """A connection that may break anything, foreign keys included; what it did is committed."""
    async with build_doctor(settings) as (doctor, _):
        engines = doctor.storage.engines
        async with engines.write.connect() as connection:
            if engines.is_sqlite:
                await connection.commit()
                await connection.exec_driver_sql("ROLLBACK")
                await connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
                await connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                await connection.execute(text("SET session_replication_role = replica"))
            yield connection
            await connection.commit()


async def ada(connection: AsyncConnection) -> UUID:
    return (await connection.execute(select(namespaces.c.id).where(namespaces.c.name == "ada"))).scalar_one()


async def break_(settings: Settings, how: Break) -> None:
    async with surgery(settings) as connection:
        await how(connection, await ada(connection))


async def repair(settings: Settings, namespace: str = "ada") -> None:
    """Mend one namespace, and run the jobs that the repair queued."""
    async with build_doctor(settings, repairs=True) as (doctor, mender):
        patients = await doctor.patients(namespace)
        await mender.mend(patients[0].id, await doctor.examine(patients))
    async with build(settings) as built:
        await drain(built, namespace)


async def test_a_database_after_real_work_is_sound(worked: Settings) -> None:
    assert await examine(worked) == []
    async with build(worked) as built:
        status = await built.services.namespaces.status("ada")
        assert status.episodes >= 3
        assert status.themes >= 2
        assert status.buffered == 1


@pytest.mark.parametrize(("how", "expected"), BREAKS, ids=lambda value: getattr(value, "__name__", ""))
async def test_what_is_broken_is_found_and_mended(
    worked: Settings, how: Break, expected: set[tuple[Fault, str]]
) -> None:
    await break_(worked, how)
    found = await examine(worked)
    assert told(found) == {("ada", *one) for one in expected}
    assert all(finding.count >= len(finding.ids) and finding.count > 0 for finding in found)
    await repair(worked)
    left = {(finding.fault, finding.where) for finding in await examine(worked)}
    assert left == {one for one in expected if one[0] not in REPAIRABLE}


@pytest.mark.parametrize(("how", "fault"), [(retire, Fault.ERASURE_STUCK), (vanish, Fault.ROWS_OF_NOBODY)])
async def test_erased_namespaces_leave_no_rows(worked: Settings, how: Break, fault: Fault) -> None:
    await break_(worked, how)
    assert {finding.fault for finding in await examine(worked)} == {fault}


async def test_every_fault_is_tried(worked: Settings) -> None:
    del worked
    tried = {fault for _, expected in BREAKS for fault, _ in expected} | {Fault.ERASURE_STUCK, Fault.ROWS_OF_NOBODY}
    assert set(Fault) - tried == {Fault.EPISODE_OVER_CAPS}  # see below
    assert set(MEANING) == set(Fault)


async def test_episodes_over_the_caps_are_found(worked: Settings) -> None:
    strict = worked.model_copy(update={"segment": worked.segment.model_copy(update={"max_messages": 2})})
    assert {finding.fault for finding in await examine(strict)} == {Fault.EPISODE_OVER_CAPS}


async def test_namespaces_are_chosen_by_name(worked: Settings) -> None:
    async with build_doctor(worked) as (doctor, _):
        assert [patient.name for patient in await doctor.patients("ben")] == ["ben"]
        with pytest.raises(NotFound):
            await doctor.patients("nobody")


async def run(settings: Settings, *arguments: str) -> tuple[int, str, str]:
    """`xmemory doctor` as a process."""
    process = await asyncio.create_subprocess_exec(
        "/usr/bin/env",
        f"XMEMORY_DATABASE_URL={settings.database_url}",
        "XMEMORY_EMBEDDER=scripted",
        "COLUMNS=160",
        sys.executable, "-m", "app.cli", "doctor", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_the_command_says_what_is_off_and_mends_it(worked: Settings) -> None:
    status, out, _ = await run(worked)
    assert (status, out) == (0, "2 namespaces looked over: nothing is off.\n")
    [(how, _)] = [one for one in BREAKS if one[0].__name__ == "drop_statement_postings"]
    await break_(worked, how)
    status, out, _ = await run(worked)
    assert status == 1
    assert "postings_wrong (statement)" in out
    assert "ada" in out
    assert "Lisbon" not in out  # no memory text
    status, out, _ = await run(worked, "--namespace", "ben")
    assert (status, out) == (0, "1 namespace looked over: nothing is off.\n")
    status, out, _ = await run(worked, "--repair")
    assert status == 0, out
    assert out.endswith("After the repair:\n2 namespaces looked over: nothing is off.\n")
    status, _, err = await run(worked, "--namespace", "nobody")
    assert (status, "no such namespace" in err) == (2, True)


async def test_it_works_beside_a_server_and_repairs_only_what_nobody_serves(worked: Settings) -> None:
    async with serving(worked) as api:
        for number in range(5):
            await api.say("ada", f"My locker has the number {number}.")
            assert told(await examine(worked)) == set()
        if "sqlite" not in worked.database_url:
            return
        with pytest.raises(ConfigurationError, match="in use by process"):
            async with build_doctor(worked, repairs=True):
                pass
        status, _, err = await run(worked, "--repair")
        assert (status, "in use by process" in err) == (2, True)


async def test_steps_that_run_during_a_repair_are_discarded(worked: Settings) -> None:
    async with build(worked) as built:
        before = (await built.services.namespaces.get("ada")).erasures
        namespace = await namespace_id(built, "ada")
    [(how, _)] = [one for one in BREAKS if one[0].__name__ == "change_themes_size"]
    await break_(worked, how)
    await repair(worked)
    async with build(worked) as built, built.storage.read(namespace) as unit:
        assert unit.namespace.erasures > before


async def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    settings = Settings(_env_file=None, database_url=f"sqlite+aiosqlite:///{path}", embedder="scripted")
    with pytest.raises(ConfigurationError, match="no database"):
        async with build_doctor(settings):
            pass
    assert not path.exists()
