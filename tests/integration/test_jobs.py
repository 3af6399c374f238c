"""Jobs: tried, shown, put off, taken over, handed back."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.container import Container, build, utc_now
from app.domain.errors import ProviderUnavailable
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, JobState, Step, Unfinished
from app.jobs.registry import JobKind, Retry
from app.jobs.runner import RunnerPolicy
from app.settings import Settings
from app.storage.tables import jobs
from tests.conftest import WAIT, Api, serving
from tests.integration.support import (
    assert_problem,
    claim,
    drain,
    enqueue,
    job,
    namespace_id,
    post,
    rows,
    runner,
    settled,
    until,
)

SECRET = "my PIN hint is otter"
SOON = Retry(attempts=3, first_delay=timedelta(milliseconds=20))
LATER = Retry(attempts=3, first_delay=timedelta(hours=1), jitter=0.0)


class Failing:
    """A handler that fails the first `times` times."""

    def __init__(self, error: Exception, times: int, only: str | None = None) -> None:
        self.error, self.times, self.only, self.tried = error, times, only, 0

    async def run(self, attempt: Attempt) -> Mapping[str, Any]:
        if self.only in (None, attempt.job.key):
            self.tried += 1
            if self.tried <= self.times:
                raise self.error
        return {"done": attempt.job.key}


async def _namespace(built: Container, name: str = "ada") -> NamespaceId:
    """A namespace that has no open job."""
    await post(built, name, "I like tea.")
    await drain(built, name)
    return await namespace_id(built, name)


# Failing ---------------------------------------------------------------------------------------------------


async def test_a_retryable_failure_is_tried_again(built: Container) -> None:
    ada = await _namespace(built)
    handler = Failing(ProviderUnavailable("the model does not answer"), times=2)
    [id_] = await enqueue(built, ada, "a")
    async with runner(built, JobKind(Step.SEGMENT, handler.run, SOON)):
        [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts, found.error) == (JobState.SUCCEEDED, 3, None)
    assert found.result == {"done": "a"}
    assert found.started_at is not None
    assert found.created_at <= found.started_at <= found.finished_at


async def test_tries_are_bounded_and_the_cause_is_shown(built: Container) -> None:
    ada = await _namespace(built)
    handler = Failing(ProviderUnavailable("the model does not answer"), times=99)
    [id_] = await enqueue(built, ada, "a")
    async with runner(built, JobKind(Step.SEGMENT, handler.run, SOON)):
        [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts, handler.tried) == (JobState.FAILED, 3, 3)
    assert found.error["code"] == "provider_unavailable"
    assert found.error["detail"] == "the model does not answer"
    assert (await built.services.namespaces.status("ada")).jobs.of(JobState.FAILED) == 1


async def test_a_bug_fails_at_once_without_quoting_memory(built: Container) -> None:
    ada = await _namespace(built)
    handler = Failing(ValueError(SECRET), times=99)
    [id_] = await enqueue(built, ada, "a")
    async with runner(built, JobKind(Step.SEGMENT, handler.run, SOON)):
        [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts) == (JobState.FAILED, 1)
    assert found.error["code"] == "internal"
    assert "ValueError" in found.error["detail"]
    assert "otter" not in repr(found)


async def test_a_failure_puts_the_next_try_off(built: Container) -> None:
    ada = await _namespace(built)
    handler = Failing(ProviderUnavailable("the model does not answer"), times=99)
    [id_] = await enqueue(built, ada, "a")
    begun = utc_now()
    async with runner(built, JobKind(Step.SEGMENT, handler.run, LATER)):
        await until(lambda: handler.tried)
    found = await job(built, ada, id_)
    assert (found.state, found.attempts, handler.tried) == (JobState.QUEUED, 1, 1)
    assert found.error["code"] == "provider_unavailable"
    assert timedelta(minutes=59) < found.due_at - begun < timedelta(minutes=61)


async def test_a_job_that_was_put_off_is_not_taken_before_its_time(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    attempt = await claim(built, ada)
    assert attempt is not None
    due = utc_now() + timedelta(hours=1)
    async with built.storage.write(ada) as unit:
        assert await unit.jobs.postpone(attempt, {"code": "provider_unavailable"}, due)
        await unit.commit()
    assert await claim(built, ada, due - timedelta(seconds=1)) is None
    again = await claim(built, ada, due)
    assert again is not None
    assert (again.job.id, again.job.failures) == (id_, 1)


@pytest.mark.parametrize("retry", [LATER, Retry(attempts=1)])
async def test_a_failed_job_steps_aside(built: Container, retry: Retry) -> None:
    ada = await _namespace(built)
    handler = Failing(ProviderUnavailable("the model does not answer"), times=99, only="a")
    first, *others = await enqueue(built, ada, "a", "b", "c")
    async with runner(built, JobKind(Step.SEGMENT, handler.run, retry)):
        found = await settled(built, ada, others)
    assert [one.state for one in found] == [JobState.SUCCEEDED] * 2
    assert (await job(built, ada, first)).state in (JobState.QUEUED, JobState.FAILED)


async def test_a_failing_step_loses_no_message_and_a_retry_brings_it_home(built: Container) -> None:
    await post(built, "ada", "My sister Ines is allergic to peanuts.")
    ada = await namespace_id(built, "ada")
    async with runner(built, JobKind(Step.SEGMENT, Failing(ValueError(SECRET), times=99).run)):
        flushed = await built.services.flush.flush("ada", None, WAIT)
    assert not flushed.settled, "its message is still in the buffer"
    assert (flushed.jobs.of(JobState.FAILED), flushed.jobs.pending) == (1, 0)
    [failed] = await built.services.work.page("ada", JobState.FAILED, None, 10)
    assert (await built.services.work.retry("ada", failed.id)).state is JobState.QUEUED
    async with runner(built):
        assert (await settled(built, ada, [failed.id]))[0].state is JobState.SUCCEEDED
        flushed = await built.services.flush.flush("ada", None, WAIT)
    assert flushed.settled
    found = await built.services.namespaces.status("ada")
    assert (found.messages, found.buffered, found.statements) == (1, 0, 1)
    assert found.jobs.of(JobState.FAILED) == 0


# Side by side ----------------------------------------------------------------------------------------------


class Watching:
    """A handler that sees how many of its kind run at once; none ends before `meet` of them have."""

    def __init__(self, seconds: float, meet: int = 1) -> None:
        self.seconds = seconds
        self.meet = meet
        self.running: Counter[object] = Counter()
        self.most_together = 0
        self.most_in_one = 0
        self.order: list[tuple[object, str]] = []

    async def run(self, attempt: Attempt) -> Mapping[str, Any]:
        self.running[attempt.namespace] += 1
        self.order.append((attempt.namespace, attempt.job.key))
        self.most_in_one = max(self.most_in_one, *self.running.values())
        self.most_together = max(self.most_together, self.running.total())
        await until(lambda: self.most_together >= self.meet)
        await asyncio.sleep(self.seconds)
        self.running[attempt.namespace] -= 1
        return {}


async def test_one_step_at_a_time_in_order_and_namespaces_side_by_side(built: Container) -> None:
    ada, bob = await _namespace(built, "ada"), await _namespace(built, "bob")
    handler = Watching(0.05, meet=2)
    kind = JobKind(Step.SEGMENT, handler.run)
    queued = {one: await enqueue(built, one, "a", "b", "c") for one in (ada, bob)}
    async with runner(built, kind), runner(built, kind):  # two workers see the same jobs
        for one, ids in queued.items():
            assert {found.attempts for found in await settled(built, one, ids)} == {1}
    assert handler.most_in_one == 1
    assert handler.most_together == 2
    for one in (ada, bob):
        assert [key for namespace, key in handler.order if namespace == one] == ["a", "b", "c"]


async def test_a_job_that_is_not_done_runs_again_behind_those_that_wait(built: Container) -> None:
    ada = await _namespace(built)
    order: list[str] = []

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        order.append(attempt.job.key)
        far = {"rounds": order.count(attempt.job.key)}
        return Unfinished(far) if attempt.job.key == "long" and far["rounds"] < 3 else far

    ids = await enqueue(built, ada, "long", "b", "c")
    async with runner(built, JobKind(Step.SEGMENT, run)):
        long, *_ = await settled(built, ada, ids)
    assert order == ["long", "b", "c", "long", "long"]
    assert (long.state, long.attempts, long.result) == (JobState.SUCCEEDED, 1, {"rounds": 3})


async def test_a_backlog_does_not_starve_another_namespace(built: Container) -> None:
    ada, bob = await _namespace(built, "ada"), await _namespace(built, "bob")
    handler = Watching(0.02)
    await enqueue(built, ada, *map(str, range(30)))
    [one] = await enqueue(built, bob, "bob")
    async with runner(built, JobKind(Step.SEGMENT, handler.run), side_by_side=1, turn_seconds=0.1):
        await settled(built, bob, [one])
    assert handler.order.index((bob, "bob")) < 20, "of ada's thirty jobs a turn has five"


async def test_a_running_job_is_not_claimed_again_while_it_is_alive(built: Container) -> None:
    ada = await _namespace(built)
    await enqueue(built, ada, "a", "b")
    assert await claim(built, ada) is not None
    assert await claim(built, ada) is None


async def test_a_stale_job_is_taken_up_again(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    lost = await claim(built, ada)
    assert lost is not None
    later = utc_now() + timedelta(seconds=61)
    again = await claim(built, ada, later)
    assert again is not None
    assert (again.job.id, again.job.attempts) == (id_, 2)
    assert again.token != lost.token
    async with built.storage.write(ada) as unit:
        assert not await unit.jobs.succeed(lost, {}, utc_now()), "who was taken for dead no longer settles"
        assert await unit.jobs.succeed(again, {}, utc_now())
        await unit.commit()


async def _claim_and_fall_silent(built: Container, namespace: NamespaceId) -> Attempt:
    """An attempt of a worker that is to be taken for dead."""
    attempt = await claim(built, namespace)
    assert attempt is not None
    async with built.storage.write(namespace) as unit:
        assert await unit.jobs.beat(attempt, utc_now() - timedelta(hours=1))
        await unit.commit(revises_memory=False)
    return attempt


async def test_the_runner_looks_for_stale_jobs(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    await _claim_and_fall_silent(built, ada)
    async with runner(built, JobKind(Step.SEGMENT, Watching(0).run)):
        [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts) == (JobState.SUCCEEDED, 2)


async def test_a_worker_that_beats_is_not_taken_for_dead(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    now, begun, go_on = utc_now(), asyncio.Event(), asyncio.Event()
    order: list[str] = []

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        order.append(attempt.job.key)
        begun.set()
        await go_on.wait()
        return {}

    kind = JobKind(Step.SEGMENT, run)
    pace = {"heartbeat_seconds": 0.05, "clock": lambda: now}
    async with runner(built, kind, **pace), runner(built, kind, **pace):
        await begun.wait()
        for _ in range(3):  # each time nearly as long as it takes to be taken for dead
            now += timedelta(seconds=RunnerPolicy().stale_seconds - 1)
            await _heard_at(built, now)
            await asyncio.sleep(0.1)  # the other one looks
        go_on.set()
        [found] = await settled(built, ada, [id_])
    assert (found.state, found.attempts, order) == (JobState.SUCCEEDED, 1, ["a"])


async def _heard_at(built: Container, moment: datetime) -> None:
    """Wait until the running job has shown at `moment` that it is alive."""
    query = select(jobs.c.heartbeat_at).where(jobs.c.state == JobState.RUNNING)
    async with asyncio.timeout(WAIT):
        while True:
            async with built.storage.engines.read.connect() as connection:
                if (await connection.execute(query)).scalar_one() == moment:
                    return
            await asyncio.sleep(0.01)


# Stopping and starting -------------------------------------------------------------------------------------


async def test_a_stopping_process_hands_its_job_back(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    handler = Watching(3600)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), stop_seconds=0.05):
        await until(lambda: handler.order)
    found = await job(built, ada, id_)
    assert (found.state, found.error) == (JobState.QUEUED, None)
    again = await claim(built, ada)
    assert again is not None, "nobody has to wait until the job is stale"


async def test_a_stopping_process_lets_short_steps_end(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    handler = Watching(0.3)
    async with runner(built, JobKind(Step.SEGMENT, handler.run), stop_seconds=10.0):
        await until(lambda: handler.order)
    assert (await job(built, ada, id_)).state is JobState.SUCCEEDED


async def test_a_server_that_starts_takes_up_what_ran(settings: Settings) -> None:
    async with build(settings) as built:
        await post(built, "ada", "My sister Ines is allergic to peanuts.")
        attempt = await _claim_and_fall_silent(built, await namespace_id(built, "ada"))
    async with build(settings) as built:
        found = await job(built, attempt.namespace, attempt.job.id)
        # On Postgres another worker may be at it: there only silence tells.
        alone = built.storage.engines.is_sqlite
        assert found.state is (JobState.QUEUED if alone else JobState.RUNNING)
        async with runner(built):
            [found] = await settled(built, attempt.namespace, [attempt.job.id])
            assert (found.state, found.attempts) == (JobState.SUCCEEDED, 2)
            assert (await built.services.flush.flush("ada", None, WAIT)).settled
        assert (await rows(built))["statements"] == 1


# Over HTTP -------------------------------------------------------------------------------------------------


async def test_cancel_and_retry(settings: Settings) -> None:
    async with serving(settings.model_copy(update={"worker": "off"})) as api:
        one = (await api.say("ada", "I like tea."))["job"]
        path = f"/v1/namespaces/ada/jobs/{one}"
        queued = (await api.get(path)).json()
        assert (queued["state"], queued["attempts"], queued["kind"]) == ("queued", 0, "segment")
        assert_problem(await api.post(f"{path}/retry"), 409)
        cancelled = await api.post(f"{path}/cancel")
        assert (cancelled.status_code, cancelled.json()["state"]) == (200, "cancelled")
        assert cancelled.json()["finished_at"]
        assert_problem(await api.post(f"{path}/cancel"), 409)
        assert [row["id"] for row in await api.all("/v1/namespaces/ada/jobs", state="cancelled")] == [one]
        assert await api.all("/v1/namespaces/ada/jobs", state="queued") == []
        again = await api.post(f"{path}/retry")
        assert (again.status_code, again.json()["state"], again.json()["finished_at"]) == (200, "queued", None)
        assert_problem(await api.post(f"{path}/retry"), 409)


async def test_a_job_that_is_done_is_neither_retried_nor_cancelled(api: Api) -> None:
    one = (await api.say("ada", "I like tea."))["job"]
    await api.settle("ada")
    path = f"/v1/namespaces/ada/jobs/{one}"
    found = (await api.get(path)).json()
    assert found["state"] == "succeeded"
    assert found.keys() >= {
        *("id", "kind", "state", "attempts", "error", "created_at", "started_at", "finished_at", "usage"),
    }
    assert_problem(await api.post(f"{path}/retry"), 409)
    assert_problem(await api.post(f"{path}/cancel"), 409)


async def test_jobs_of_others_are_not_there(api: Api) -> None:
    one = (await api.say("ada", "I like tea."))["job"]
    await api.say("bob", "I like tea.")
    for action in ("", "/retry", "/cancel"):
        send = api.post if action else api.get
        assert_problem(await send(f"/v1/namespaces/bob/jobs/{one}{action}"), 404)
        assert_problem(await send(f"/v1/namespaces/bob/jobs/nonsense{action}"), 422, "path/job")
        assert_problem(await send(f"/v1/namespaces/nobody/jobs/{one}{action}"), 404)


async def test_a_job_cancelled_while_it_runs_stays_cancelled(built: Container) -> None:
    ada = await _namespace(built)
    [id_] = await enqueue(built, ada, "a")
    handler = Watching(0, meet=2)
    async with runner(built, JobKind(Step.SEGMENT, handler.run)):
        await until(lambda: handler.order)
        await built.services.work.cancel("ada", id_)
        handler.meet = 1  # it ends
    found = await job(built, ada, id_)
    assert (found.state, found.result, len(handler.order)) == (JobState.CANCELLED, None, 1)
