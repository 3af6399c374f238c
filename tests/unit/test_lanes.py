"""Reads take turns: bounded at once, bounded in line, namespaces one after the other."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import Busy
from app.services.lanes import Lane, LanePolicy


class Reads:
    """Reads that stay in their place until they are let go."""

    def __init__(self, policy: LanePolicy) -> None:
        self.lane = Lane(policy)
        self.running: dict[str, asyncio.Event] = {}
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, name: str) -> None:
        """A read called `name`, of the namespace that its first letter names; as far as it comes by itself."""
        self.tasks[name] = asyncio.create_task(self._read(name))
        await rest()

    async def end(self, name: str) -> None:
        self.running.pop(name).set()
        await rest()

    async def _read(self, name: str) -> None:
        async with self.lane.place(name[0]):
            self.order.append(name)
            done = self.running[name] = asyncio.Event()
            await done.wait()


async def rest() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_namespaces_take_turns_whoever_came_first() -> None:
    reads = Reads(LanePolicy(at_once=1, waiting=3))
    for name in ("a0", "a1", "a2", "a3", "b1", "c1", "b2"):
        await reads.begin(name)
    while reads.running:
        [name] = reads.running
        await reads.end(name)
    assert reads.order == ["a0", "a1", "b1", "c1", "a2", "b2", "a3"]


async def test_a_full_line_refuses_and_says_which() -> None:
    reads = Reads(LanePolicy(at_once=1, waiting=1, waiting_in_all=2))
    for name in ("a0", "a1", "a2", "b1", "c1"):
        await reads.begin(name)
    refused = {name: task.exception() for name, task in reads.tasks.items() if task.done()}
    assert {name: error.limit for name, error in refused.items() if isinstance(error, Busy)} == {
        "a2": "READ__WAITING",
        "c1": "READ__WAITING_IN_ALL",
    }
    for name in ("a0", "a1", "b1"):
        await reads.end(name)
    assert reads.order == ["a0", "a1", "b1"]


@pytest.mark.parametrize("name", ["a0", "a1"])
async def test_the_time_in_line_counts(name: str) -> None:
    reads = Reads(LanePolicy(at_once=1, seconds=0.01))
    await reads.begin("a0")
    await reads.begin("a1")
    with pytest.raises(Busy) as raised:
        await reads.tasks[name]
    assert raised.value.limit == "READ__DEADLINE_SECONDS"


async def test_a_time_out_of_the_read_itself_stays_what_it_is() -> None:
    with pytest.raises(TimeoutError):
        async with Lane(LanePolicy()).place("a"):
            raise TimeoutError


@given(st.lists(st.tuples(st.sampled_from(["begin", "end", "leave"]), st.sampled_from("abc")), max_size=60))
async def test_no_place_is_lost_whatever_happens(steps: list[tuple[str, str]]) -> None:
    """Reads begin, end and give up in any order; afterwards as many find a place at once as at first."""
    reads = Reads(LanePolicy(at_once=2, waiting=4))
    for number, (step, namespace) in enumerate(steps):
        open_ones = [name for name, task in reads.tasks.items() if not task.done()]
        if step == "begin":
            await reads.begin(f"{namespace}{number}")
        elif step == "end" and reads.running:
            await reads.end(min(reads.running))
        elif step == "leave" and open_ones:
            reads.tasks[open_ones[len(open_ones) // 2]].cancel()
            reads.running.pop(open_ones[len(open_ones) // 2], None)
            await rest()
        assert len(reads.running) <= 2
    for task in reads.tasks.values():
        task.cancel()
    await asyncio.gather(*reads.tasks.values(), return_exceptions=True)
    fresh = Reads(LanePolicy(at_once=2))
    fresh.lane = reads.lane
    for name in ("x1", "y1", "z1"):
        await fresh.begin(name)
    assert Counter(fresh.order) == Counter(["x1", "y1"])
    for name in ("x1", "y1", "z1"):
        await fresh.end(name)
