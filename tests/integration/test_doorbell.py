"""The bell: rung with the commit, heard at once, missed by nobody; several processes over one Postgres."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from procrastinate.schema import SchemaManager
from sqlalchemy import insert, text

from app.container import Container, build, utc_now
from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.domain.ids import JobId, NamespaceId
from app.domain.jobs import JobState, Step
from app.jobs.doorbells.in_process import InProcessDoorbell
from app.jobs.registry import JobKind, Retry
from app.settings import Settings
from app.storage import migrate
from app.storage.tables import jobs
from tests.conftest import WAIT
from tests.integration.support import claim, drain, enqueue, job, namespace_id, post, runner, settled, until
from tests.integration.test_jobs import Failing, Watching

NEVER = 3600.0  # seconds between looks: whatever happens sooner was the bell's doing
SHORT = {"look_seconds": 0.2, "heartbeat_seconds": 0.2, "stale_seconds": 3.0}
on_postgres = pytest.mark.parametrize("database_url", ["postgres"], indirect=True)


async def _namespace(built: Container, name: str = "ada") -> NamespaceId:
    """A namespace that has no open job and no bell."""
    await post(built, name, "I like tea.")
    await drain(built, name)
    if isinstance(built.storage.doorbell, InProcessDoorbell):
        await built.storage.doorbell.wait(0.1)
    else:
        await _sql(built, "DELETE FROM procrastinate_jobs")
    return await namespace_id(built, name)


async def _sql(built: Container, statement: str, **values: object) -> list[Any]:
    async with built.storage.engines.write.begin() as connection:
        result = await connection.execute(text(statement), values)
        return list(result) if result.returns_rows else []


async def _bells(built: Container) -> int:
    """How many bells wait to be heard."""
    doorbell = built.storage.doorbell
    if isinstance(doorbell, InProcessDoorbell):
        return int(doorbell._rung.is_set())
    [[count]] = await _sql(built, "SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'")
    return count


# On both databases -----------------------------------------------------------------------------------------


async def test_a_job_that_is_rolled_back_leaves_no_bell(built: Container) -> None:
    ada = await _namespace(built)
    async with built.storage.write(ada) as unit:
        await unit.jobs.enqueue(Step.SEGMENT, "a", {}, utc_now())
    assert await _bells(built) == 0
    async with built.storage.write(ada) as unit:
        await unit.jobs.enqueue(Step.SEGMENT, "a", {}, utc_now())
        await built.storage.doorbell.before_commit(unit._connection, ada)  # the process dies before the commit
    assert await _bells(built) == 0


async def test_many_jobs_ring_one_bell_and_are_all_kept(built: Container) -> None:
    ada = await _namespace(built)
    ids = [(await enqueue(built, ada, key))[0] for key in "abc"]
    assert await _bells(built) == 1
    assert [(await job(built, ada, id_)).key for id_ in ids] == ["a", "b", "c"]


async def test_the_bell_is_heard_at_once_again_and_again(built: Container) -> None:
    ada = await _namespace(built)
    handler = Watching(0.2)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), look_seconds=NEVER):
        for key in "abcd":
            async with asyncio.timeout(WAIT):
                [id_] = await enqueue(built, ada, key)
                while (await job(built, ada, id_)).state is JobState.QUEUED:
                    await asyncio.sleep(0.01)
                [late] = await enqueue(built, ada, f"{key} while it runs")
                await settled(built, ada, [id_, late])
    assert len(handler.order) == 8


async def test_what_a_step_queues_is_done_without_another_look(built: Container) -> None:
    await post(built, "ada", "My sister Ines is allergic to peanuts.")
    async with runner(built, look_seconds=NEVER):
        async with asyncio.timeout(WAIT):
            assert (await built.services.flush.flush("ada", None, WAIT)).settled
    assert (await built.services.namespaces.status("ada")).themes == 1


async def test_a_backlog_goes_on_turn_after_turn(built: Container) -> None:
    ada = await _namespace(built)
    many = await enqueue(built, ada, *map(str, range(20)))
    handler = Watching(0.02)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), look_seconds=NEVER, turn_seconds=0.05):
        async with asyncio.timeout(WAIT):
            found = await settled(built, ada, many)
    assert {one.attempts for one in found} == {1}


async def test_a_retry_is_taken_up_when_its_time_has_come(built: Container) -> None:
    ada = await _namespace(built)
    handler = Failing(ProviderUnavailable("the model does not answer"), times=1)
    retry = Retry(attempts=3, first_delay=timedelta(seconds=1))
    [id_] = await enqueue(built, ada, "a")
    async with runner(built, JobKind(Step.SEGMENT, handler.run, retry), look_seconds=0.2):
        async with asyncio.timeout(WAIT):
            [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts) == (JobState.SUCCEEDED, 2)


async def test_ten_thousand_jobs_do_not_delay_the_first_of_another_namespace(built: Container) -> None:
    ada, bob = await _namespace(built, "ada"), await _namespace(built, "bob")
    now = utc_now()
    rows = [
        {
            "namespace_id": ada, "id": uuid4(), "kind": "segment", "key": str(number), "payload": {},
            "state": "queued", "attempts": 0, "due_at": now, "created_at": now,
        }
        for number in range(10_000)
    ]  # fmt: skip
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(insert(jobs), rows)
    handler = Watching(0.01)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), side_by_side=1, look_seconds=0.5, turn_seconds=0.5):
        await until(lambda: len(handler.order) > 5)
        await enqueue(built, bob, "first")
        before = len(handler.order)
        await until(lambda: (bob, "first") in handler.order)
        waited = handler.order.index((bob, "first")) - before
        await until(lambda: len(handler.order) > before + waited + 5)  # and the backlog goes on
    assert waited < 200, "a turn of half a second and what is left of another, at 10 ms a job"


# On Postgres: several processes ----------------------------------------------------------------------------


@asynccontextmanager
async def _process(*command: str, **environment: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process of ours, killed at the end unless it ended."""
    pipe = asyncio.subprocess.PIPE
    given = {**os.environ, **{f"XMEMORY_{name}": value for name, value in environment.items()}}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *command, stdin=pipe, stdout=pipe, stderr=pipe, env=given
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def _slow(url: str, seconds: float, **policy: float) -> AsyncIterator[asyncio.subprocess.Process]:
    async with _process("tests.integration.working", url, str(seconds), json.dumps({**SHORT, **policy})) as process:
        assert await _line(process) == "ready"
        yield process


async def _line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(WAIT):
        return (await process.stdout.readline()).decode().strip()


async def _end(process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(WAIT):
        return await process.wait()


@on_postgres
async def test_two_worker_processes_run_each_job_once(built: Container, database_url: str) -> None:
    names = [f"ns-{number}" for number in range(20)]
    given = {"DATABASE_URL": database_url, "EMBEDDER": "scripted", "LOG_LEVEL": "warning"}
    async with _process("app.cli", "worker", **given) as one, _process("app.cli", "worker", **given) as two:
        for _ in range(3):
            for name in names:
                await post(built, name, "My sister Ines is allergic to peanuts.", "She moved to Lisbon in May.")
        flushed = await asyncio.gather(*(built.services.flush.flush(name, None, WAIT) for name in names))
        assert all(found.settled for found in flushed)
        for process in (one, two):
            process.send_signal(signal.SIGTERM)
        assert [await _end(process) for process in (one, two)] == [0, 0]
    for name in names:
        found = await built.services.work.page(name, None, None, 100)
        assert {(entry.state, entry.attempts) for entry in found} == {(JobState.SUCCEEDED, 1)}
        assert (await built.services.namespaces.status(name)).messages == 6
    assert await _sql(built, "SELECT * FROM procrastinate_jobs") == []
    assert await _sql(built, "SELECT * FROM procrastinate_workers") == []


@on_postgres
async def test_a_killed_workers_namespace_is_taken_up_again(built: Container, database_url: str) -> None:
    ada, bob = await _namespace(built), await _namespace(built, "bob")
    async with _slow(database_url, 3600) as dying:
        [id_] = await enqueue(built, ada, "a")
        assert await _line(dying) == "a"
        [behind] = await enqueue(built, ada, "b")  # a bell that waits behind the dead worker's
        async with _slow(database_url, 0) as living:
            dying.kill()
            await _end(dying)
            [other] = await enqueue(built, bob, "other")
            assert await _line(living) == "other", "the others do not wait"
            async with asyncio.timeout(WAIT):
                found = await settled(built, ada, [id_, behind])
            async with asyncio.timeout(WAIT):  # a bell is put away after the last job of its turn has settled
                while await _sql(built, "SELECT * FROM procrastinate_jobs WHERE status = 'doing'"):
                    await asyncio.sleep(0.01)
    assert [(one.state, one.attempts) for one in found] == [(JobState.SUCCEEDED, 2), (JobState.SUCCEEDED, 1)]
    assert (await job(built, bob, other)).state is JobState.SUCCEEDED


@on_postgres
@pytest.mark.parametrize("signals", [1, 2])
async def test_a_stopped_worker_hands_its_job_to_another(built: Container, database_url: str, signals: int) -> None:
    ada = await _namespace(built)
    patience = 0.3 if signals == 1 else 3600.0  # a second signal ends the waiting
    async with _slow(database_url, 3600, stop_seconds=patience, stale_seconds=600.0) as stopping:
        [id_] = await enqueue(built, ada, "a")
        assert await _line(stopping) == "a"
        async with _slow(database_url, 0, stale_seconds=600.0):
            for _ in range(signals):
                stopping.send_signal(signal.SIGTERM)
                assert await _line(stopping) in ("stopping", "hurrying")  # two at once would be one
            assert await _end(stopping) == 0
            async with asyncio.timeout(WAIT):
                [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts, found.error) == (JobState.SUCCEEDED, 2, None)


@on_postgres
async def test_a_stopped_worker_lets_a_short_step_end(built: Container, database_url: str) -> None:
    ada = await _namespace(built)
    async with _slow(database_url, 3600, stop_seconds=WAIT) as stopping:
        ids = await enqueue(built, ada, "a", "b")
        assert await _line(stopping) == "a"
        stopping.send_signal(signal.SIGTERM)
        assert await _line(stopping) == "stopping"
        assert stopping.stdin is not None
        stopping.stdin.write(b"\n")
        assert await _end(stopping) == 0
    assert [(await job(built, ada, id_)).state for id_ in ids] == [JobState.SUCCEEDED, JobState.QUEUED]
    assert await _bells(built) == 1, "what is left has a bell"


async def _doing(built: Container, namespace: NamespaceId, worker: int | None) -> int:
    """A bell that somebody is said to be at work on."""
    [[bell]] = await _sql(
        built,
        "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, status, worker_id)"
        " VALUES ('xmemory', 'work', :lock, :lock, 'doing', :worker) RETURNING id",
        lock=str(namespace),
        worker=worker,
    )
    return bell


@on_postgres
@pytest.mark.parametrize("whose", ["nobody", "silent", "own"])
async def test_a_bell_that_nobody_works_on_blocks_no_namespace(built: Container, whose: str) -> None:
    ada = await _namespace(built)
    handler = Watching(0)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), **{**SHORT, "heartbeat_seconds": 0.2}):
        [first] = await enqueue(built, ada, "first")
        await settled(built, ada, [first])
        [[own]] = await _sql(built, "SELECT id FROM procrastinate_workers")
        await _sql(built, "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')")
        [[silent]] = await _sql(built, "SELECT max(id) FROM procrastinate_workers")
        while await _sql(built, "SELECT * FROM procrastinate_jobs"):
            await asyncio.sleep(0.01)
        await _doing(built, ada, {"nobody": None, "silent": silent, "own": own}[whose])
        [second] = await enqueue(built, ada, "second")
        async with asyncio.timeout(WAIT):
            [found] = await settled(built, ada, [second])
    assert (found.state, found.attempts) == (JobState.SUCCEEDED, 1)


@on_postgres
async def test_a_job_without_a_bell_gets_one(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    await _sql(built, "DELETE FROM procrastinate_jobs")
    async with runner(built, JobKind(Step.SEGMENT, Watching(0).run), look_seconds=0.2):
        async with asyncio.timeout(WAIT):
            [found] = await settled(built, ada, [id_])
    assert found.state is JobState.SUCCEEDED


@on_postgres
async def test_a_worker_outlives_its_connections(built: Container) -> None:
    ada = await _namespace(built)
    handler = Watching(0.3)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), **SHORT):
        ids: list[JobId] = []
        for key in "abc":
            ids += await enqueue(built, ada, key)
            await until(lambda key=key: (ada, key) in handler.order)
            await _sql(
                built,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
        async with asyncio.timeout(WAIT):
            found = await settled(built, ada, ids)
    assert {one.state for one in found} == {JobState.SUCCEEDED}


@on_postgres
async def test_a_bell_for_nothing_and_one_of_an_erased_namespace_do_no_harm(built: Container) -> None:
    ada = await _namespace(built)
    async with built.storage.write(ada) as unit:
        unit.jobs.queued = True
        await unit.commit()
    await _sql(
        built,
        "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args)"
        " VALUES ('xmemory', 'work', 'gone', 'gone', jsonb_build_object('namespace', gen_random_uuid()::text))",
    )
    async with runner(built):
        async with asyncio.timeout(WAIT):
            while await _sql(built, "SELECT * FROM procrastinate_jobs"):
                await asyncio.sleep(0.01)


@on_postgres
async def test_a_server_without_a_worker_rings_for_others(settings: Settings) -> None:
    async with build(settings.model_copy(update={"worker": "off"})) as built:
        await post(built, "ada", "I like tea.")
        assert await _bells(built) == 1
        assert await claim(built, await namespace_id(built, "ada")) is not None


# Starting --------------------------------------------------------------------------------------------------


async def _refusal(**environment: str) -> tuple[int, str]:
    async with _process("app.cli", "worker", EMBEDDER="scripted", **environment) as process:
        async with asyncio.timeout(WAIT):
            _, errors = await process.communicate()
    return process.returncode or 0, errors.decode()


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_worker_process_refuses_sqlite(database_url: str) -> None:
    code, said = await _refusal(DATABASE_URL=database_url)
    assert code == 2
    assert "is for Postgres" in said
    assert "Traceback" not in said


@on_postgres
async def test_a_worker_process_refuses_a_database_without_the_bell(database_url: str) -> None:
    await asyncio.to_thread(migrate.downgrade, database_url, "0002")
    code, said = await _refusal(DATABASE_URL=database_url)
    assert code == 2
    assert "xmemory migrate" in said


def _shipped() -> Sequence[str]:
    return sorted(path.name for path in Path(SchemaManager.get_migrations_path()).glob("*.sql"))


def test_our_migrations_apply_all_of_procrastinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when a newer procrastinate is installed: then a revision must apply what it added."""
    from app.jobs.doorbells.procrastinate import SCHEMA_THROUGH, check_library

    assert _shipped()[-1] == SCHEMA_THROUGH
    script = migrate.ScriptDirectory.from_config(migrate.config("sqlite+aiosqlite://")).get_revision("0003")
    assert script is not None
    assert script.module.THROUGH == SCHEMA_THROUGH
    check_library()
    (tmp_path / "03.99.00_01_pre_something_new.sql").touch()
    monkeypatch.setattr(SchemaManager, "get_migrations_path", lambda: str(tmp_path))
    with pytest.raises(ConfigurationError):
        check_library()
