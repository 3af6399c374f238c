"""Refusals wait: the more of one sender, the longer."""

import asyncio

from app.services.pausing import LONGEST, TOGETHER, Pauses, length


def test_many_refusals_of_one_sender_wait_longer() -> None:
    assert [length(0.5, waiting) for waiting in (1, TOGETHER, 2 * TOGETHER, 10 * TOGETHER)] == [0.5, 0.5, 1.0, 5.0]
    assert length(0.5, 1_000_000) == LONGEST
    assert length(0.0, 1_000_000) == 0.0


async def test_only_those_that_wait_are_counted() -> None:
    pauses = Pauses(0.001)
    many = [asyncio.create_task(pauses.pause("ada")) for _ in range(3)]
    await asyncio.sleep(0)
    many[0].cancel()
    await pauses.pause("bob")
    await asyncio.gather(*many, return_exceptions=True)
    assert pauses._waiting == {}
