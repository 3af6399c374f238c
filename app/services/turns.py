"""Turns: a step that may take long stops now and then, so that the other work of its namespace gets its turn.

Such a step does its work in slices, each written in a transaction of its own, and looks at its `Turn` after each. If
the turn is over and something is left, it returns `Unfinished`: the runner queues the job again behind those that
wait now. The next attempt goes on from the rows; what an attempt counted it finds in `attempt.job.result`. One slice
is always done, so that every attempt gets further.
"""

import asyncio
from dataclasses import dataclass

TURN_SECONDS = 2.0  # no longer than the namespace's own turn among others


@dataclass(frozen=True, slots=True)
class Turn:
    """How long an attempt goes on; `ends` is on the event loop's clock."""

    ends: float

    @classmethod
    def begin(cls, seconds: float = TURN_SECONDS) -> "Turn":
        """A turn that begins now."""
        return cls(asyncio.get_running_loop().time() + seconds)

    @property
    def is_over(self) -> bool:
        """Whether it is time to step back."""
        return asyncio.get_running_loop().time() >= self.ends
