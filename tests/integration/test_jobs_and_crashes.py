"""A killed worker costs a job no try, and a job that kills its workers is given up in the end."""

from datetime import timedelta

from app.container import Container, utc_now
from app.domain.errors import StoreUnavailable
from app.domain.jobs import JobState, Step
from app.jobs.registry import JobKind, Retry
from app.storage.jobs import MOST_ATTEMPTS
from tests.integration.support import claim, enqueue, job, namespace_id, post, runner, settled

LATE = timedelta(hours=1)  # so much later every heartbeat is old


async def test_kills_do_not_use_up_the_tries_of_a_job(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon.")
    ada = await namespace_id(built, "ada")
    [id_] = await enqueue(built, ada, "a", kind=Step.ADMIT)
    tried = []

    async def fail_once(attempt):
        tried.append(attempt.job.failures)
        if len(tried) == 1:
            raise StoreUnavailable("for a moment")
        return {}

    async with built.storage.write(ada) as unit:
        for open_job in await unit.jobs.page(None, None, 10):
            if open_job.id != id_:
                await unit.jobs.cancel(open_job.id, utc_now())
        await unit.commit()
    for kill in range(6):
        assert await claim(built, ada, utc_now() + (kill + 1) * LATE) is not None
    async with built.storage.write(ada) as unit:
        await unit.directory.requeue_running()
        await unit.commit()
    kind = JobKind(Step.ADMIT, fail_once, Retry(attempts=2, first_delay=timedelta(milliseconds=20)))
    async with runner(built, kind):
        [found] = await settled(built, ada, [id_])
    assert (found.state, tried) == (JobState.SUCCEEDED, [0, 1])


async def test_a_job_whose_workers_always_end_is_given_up_with_its_cause(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon.")
    ada = await namespace_id(built, "ada")
    first = await claim(built, ada)
    assert first is not None
    for kill in range(1, MOST_ATTEMPTS):
        assert await claim(built, ada, utc_now() + kill * LATE) is not None
    assert await claim(built, ada, utc_now() + MOST_ATTEMPTS * LATE) is None
    found = await job(built, ada, first.job.id)
    assert (found.state, found.attempts) == (JobState.FAILED, MOST_ATTEMPTS)
    assert found.error is not None
    assert found.error["code"] == "abandoned"


async def test_a_heartbeat_keeps_a_job_and_silence_gives_it_away(built: Container) -> None:
    await post(built, "ada", "I moved to Lisbon.")
    ada = await namespace_id(built, "ada")
    start = utc_now()
    attempt = await claim(built, ada, start)
    assert attempt is not None
    async with built.storage.write(ada) as unit:
        assert await unit.jobs.beat(attempt, start + timedelta(seconds=50))
        await unit.commit()
    assert await claim(built, ada, start + timedelta(seconds=100)) is None
    second = await claim(built, ada, start + timedelta(seconds=120))
    assert second is not None
    async with built.storage.write(ada) as unit:
        assert not await unit.jobs.beat(attempt, start + timedelta(seconds=121))
