"""Reads take turns: a bounded number at once, a short line before it, namespaces one after the other."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from app.domain.errors import Busy
from app.services.pausing import Pauses

RETRY_SECONDS = 1.0  # a line is usually gone by then


@dataclass(frozen=True, slots=True)
class LanePolicy:
    """How many reads run at once, and how many wait: of one namespace, and in all. `seconds` bounds both.

    Whoever finds the line full is told so after `pause` seconds, or more (`Pauses`): asking again at once must not pay.
    """

    at_once: int = 4
    waiting: int = 16
    waiting_in_all: int = 256
    seconds: float = 30.0
    pause: float = 0.0


class Lane:
    """Lets reads in. Whoever floods one namespace waits behind itself: the lines of namespaces take turns."""

    def __init__(self, policy: LanePolicy) -> None:
        self._policy = policy
        self._free = policy.at_once
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._pauses = Pauses(policy.pause)

    @asynccontextmanager
    async def place(self, namespace: str) -> AsyncIterator[None]:
        """A place for one read of `namespace`. Raises Busy if the line is full, or if place and read take too long."""
        clock = asyncio.timeout(self._policy.seconds)
        try:
            async with clock:
                await self._enter(namespace)
                try:
                    yield
                finally:
                    self._leave()
        except TimeoutError:
            if not clock.expired():
                raise
            message = f"looking it up took longer than {self._policy.seconds:g} seconds"
            raise Busy(message, "READ__DEADLINE_SECONDS", RETRY_SECONDS) from None

    async def _enter(self, namespace: str) -> None:
        if self._free:
            self._free -= 1
            return
        full = self._full(namespace)
        if full is not None:
            await self._pauses.pause(namespace)
            raise full
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(namespace, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the place came at the same moment
                self._leave()
            raise

    def _full(self, namespace: str) -> Busy | None:
        if len(self._lines.get(namespace, ())) >= self._policy.waiting:
            return Busy("too many questions to this namespace wait already", "READ__WAITING", RETRY_SECONDS)
        if sum(map(len, self._lines.values())) >= self._policy.waiting_in_all:
            return Busy("too many questions wait already", "READ__WAITING_IN_ALL", RETRY_SECONDS)
        return None

    def _leave(self) -> None:
        """Hand the place on to the next namespace's first read."""
        while self._lines:
            namespace, line = self._lines.popitem(last=False)
            turn = line.popleft()
            if line:
                self._lines[namespace] = line  # at the end: the others come first
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
