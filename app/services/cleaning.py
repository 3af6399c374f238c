"""What a database keeps of rows that are gone is removed once for many erasures, and not all the time.

On SQLite the whole file is written anew, and all who write wait meanwhile: whoever deletes a hundred messages one by
one must not make us do it a hundred times. So it rests after each time, for long enough that nine tenths of the time
are left to others, but no longer than is allowed; what is erased meanwhile waits for the next time, together.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from app.domain.namespaces import What
from app.storage.unit_of_work import Storage

RESTS = 9  # times as long as a cleaning took
GONE_AT_ONCE = (What.MESSAGE, What.STATEMENT)
"""Whose rows go in the transaction that opens their receipt."""


@dataclass(slots=True)
class Cleaning:
    """Cleans for one process. `longest_rest` and the clock, which only goes forward, are in seconds."""

    storage: Storage
    longest_rest: float
    clock: Callable[[], float] = time.monotonic
    _waiting: set[UUID] = field(default_factory=set)  # receipts whose rows are gone
    _cleaned: set[UUID] = field(default_factory=set)  # receipts that the last time was for
    _next: float = float("-inf")
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def after(self, receipt: UUID) -> float:
        """Leave nothing of a receipt's rows, which are gone, in what the database keeps beside its rows.

        Returns 0 once that is so; else in how many seconds to ask again. Raises StoreUnavailable.
        """
        self._waiting.add(receipt)
        async with self._turn:
            if receipt in self._cleaned:
                return 0
            rest = self._next - self.clock()
            if rest <= 0:
                await self._clean()
            return max(0, rest)

    async def _clean(self) -> None:
        async with self.storage.directory() as directory:
            served = self._waiting | await directory.pending_receipts(GONE_AT_ONCE)
        begun = self.clock()
        try:
            await self.storage.clean()
        finally:  # what failed took its time too
            ended = self.clock()
            self._next = ended + min(self.longest_rest, RESTS * (ended - begun))
        self._cleaned = served
        self._waiting -= served
