"""The bell of a process that runs its own jobs (SQLite): an event, set after the commit."""

import asyncio
from functools import partial

from app.domain.ids import NamespaceId
from app.jobs.runner import Runner


class InProcessDoorbell:
    """Wakes the worker of this process."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def before_commit(self, connection: object, namespace: NamespaceId) -> None:
        """Nothing to do: until the commit there is no job to find."""

    def after_commit(self, namespace: NamespaceId) -> None:
        """There are jobs now."""
        del namespace
        self.ring()

    def ring(self) -> None:
        """Wake the worker."""
        self._rung.set()

    async def wait(self, seconds: float) -> None:
        """Return when rung, at the latest after `seconds`."""
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return
        self._rung.clear()


class InProcessWorker:
    """Looks for due jobs whenever the bell rings or a moment has passed."""

    def __init__(self, runner: Runner, doorbell: InProcessDoorbell) -> None:
        self._runner = runner
        self._doorbell = doorbell
        self._turns: dict[NamespaceId, asyncio.Task[bool]] = {}
        self._served: dict[NamespaceId, float] = {}  # end of each waiting namespace's last turn, loop time

    def stop(self) -> None:
        """Take no more jobs; `run` returns when those in hand are done or handed back."""
        self._runner.stop()
        self._doorbell.ring()

    def hurry(self) -> None:
        """Stop, and hand back at once what is still running."""
        self.stop()
        for turn in self._turns.values():
            turn.cancel()

    async def run(self) -> None:
        """Work until stopped."""
        keeper = asyncio.create_task(self._runner.keep_up())
        try:
            while not self._runner.stopping:
                await self._runner.guarded("look for jobs", self._start_turns())
                await self._doorbell.wait(self._runner.policy.look_seconds)
            await self._finish()
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def _start_turns(self) -> None:
        waiting = await self._runner.waiting()
        # Least recently served first: a backlog, however old, goes to the back of the line after its turn.
        self._served = {namespace: self._served.get(namespace, 0.0) for namespace in waiting}
        for namespace in sorted(waiting, key=self._served.__getitem__):
            if len(self._turns) >= self._runner.policy.side_by_side:
                return
            if namespace not in self._turns:
                task = asyncio.create_task(self._runner.turn(namespace))
                self._turns[namespace] = task
                task.add_done_callback(partial(self._end_turn, namespace))

    def _end_turn(self, namespace: NamespaceId, turn: asyncio.Task[bool]) -> None:
        del turn
        del self._turns[namespace]
        self._served[namespace] = asyncio.get_running_loop().time()
        self._doorbell.ring()  # somebody else may be waiting for the free place

    async def _finish(self) -> None:
        turns = list(self._turns.values())
        if not turns:
            return
        _, late = await asyncio.wait(turns, timeout=self._runner.policy.stop_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
