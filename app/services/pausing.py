"""Refusals wait a moment: asking again at once must not pay, nor keep us busy."""

import asyncio
from collections import Counter

TOGETHER = 20  # refusals that one sender gets in a pause: more of them wait longer
LONGEST = 10.0  # seconds


def length(seconds: float, waiting: int) -> float:
    """How long the last of so many refusals waits, in seconds."""
    return min(LONGEST, seconds * max(1.0, waiting / TOGETHER))


class Pauses:
    """Holds refusals back for `seconds`, and for longer where many of the same sender wait for theirs already.

    A refusal costs us little, but not nothing: however many connections a sender has, it gets some TOGETHER of them in
    `seconds` (more only where LONGEST is reached).
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: Counter[str] = Counter()

    async def pause(self, sender: str) -> None:
        """Wait until the sender may be told."""
        self._waiting[sender] += 1
        try:
            await asyncio.sleep(length(self._seconds, self._waiting[sender]))
        finally:
            self._waiting[sender] -= 1
            if not self._waiting[sender]:
                del self._waiting[sender]
