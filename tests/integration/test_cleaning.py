"""What erased rows leave in the database's files is removed for many erasures together, and soon enough."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from app.container import Container, utc_now
from app.services.cleaning import RESTS, Cleaning
from tests.integration.support import claim, drain, kinds, namespace_id, post, succeed

ASKED_AND_CLEANED = 3  # seconds by the clock below


class Clock:
    """Goes on by a second whenever it is asked: so long takes a cleaning."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def _cleaned_by(built: Container, clock: Clock, longest_rest: float) -> Container:
    forgetting = replace(built.services.forgetting, cleaning=Cleaning(built.storage, longest_rest, clock))
    return replace(built, services=replace(built.services, forgetting=forgetting))


async def _erase(built: Container, said: Sequence[UUID]) -> list[UUID]:
    return [(await built.services.forgetting.message("ada", id_)).id for id_ in said]  # type: ignore[arg-type]


async def _pending(built: Container, receipts: Sequence[UUID]) -> list[bool]:
    async with built.storage.directory() as directory:
        return [(await directory.receipt(receipt)).state == "pending" for receipt in receipts]


async def _work_later(built: Container) -> None:
    """Run each job that is due a minute from now, once."""
    namespace, later = await namespace_id(built, "ada"), utc_now() + timedelta(minutes=1)
    waiting = await built.services.work.page("ada", None, None, 100)
    for _ in [job for job in waiting if job.state == "queued"]:
        attempt = await claim(built, namespace, later)
        assert attempt is not None
        await succeed(built, attempt, await kinds(built)[attempt.job.kind].run(attempt))


async def test_deletes_one_by_one_do_not_rewrite_the_file_one_by_one(built: Container) -> None:
    clock = Clock()
    built = _cleaned_by(built, clock, longest_rest=1000)
    said = [message.id for message in (await post(built, "ada", *(f"I have {n} bikes." for n in range(5)))).messages]
    await drain(built, "ada")
    receipts = await _erase(built, said[:2])
    await drain(built, "ada")
    assert await _pending(built, receipts) == [False, False]
    assert clock.now == ASKED_AND_CLEANED, "once for both: they were asked for before it began"
    receipts = await _erase(built, said[2:])
    await drain(built, "ada")
    assert await _pending(built, receipts) == [True] * 3
    assert clock.now == ASKED_AND_CLEANED + 3, "each was told to rest"
    clock.now += RESTS
    await _work_later(built)
    assert await _pending(built, receipts) == [False] * 3
    assert clock.now == 2 * ASKED_AND_CLEANED + 3 + RESTS, "once for all three"


async def test_a_rest_has_an_end(built: Container) -> None:
    clock = Clock()
    built = _cleaned_by(built, clock, longest_rest=2)
    said = [message.id for message in (await post(built, "ada", "I have a bike.", "I have a boat.")).messages]
    await drain(built, "ada")
    await _erase(built, said[:1])
    await drain(built, "ada")
    [second] = await _erase(built, said[1:])
    cleaning = built.services.forgetting.cleaning
    assert await cleaning.after(second) == 1
    assert await cleaning.after(second) == 0
