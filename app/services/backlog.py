"""How much there may be: posting is refused before the database fills, with namespaces or with work that waits."""

import time
from dataclasses import dataclass, field

from app.domain.errors import LimitReached, TooMany
from app.domain.jobs import REMEMBERING
from app.storage.unit_of_work import WriteUnit
from app.telemetry.acting import actor

RETRY_SECONDS = 10.0  # a backlog takes its time
LOOK_SECONDS = 5.0  # between two counts over all namespaces, which cost more


@dataclass(frozen=True, slots=True)
class BacklogPolicy:
    """Messages and jobs of one namespace that may wait, and jobs of all; and namespaces that one key may make."""

    messages: int = 20_000
    jobs: int = 10_000
    jobs_in_all: int = 100_000
    namespaces: int = 100_000


@dataclass(slots=True)
class Backlog:
    """Looks, inside a write, whether more work may be taken on."""

    policy: BacklogPolicy = BacklogPolicy()
    _in_all: int = field(default=0, init=False)
    _looked_at: float = field(default=float("-inf"), init=False)

    async def admit(self, unit: WriteUnit, messages: int) -> None:
        """Raises TooMany if `messages` more, or their job, would be too many, LimitReached for a namespace too many.

        The count of jobs in all is some seconds old.
        """
        if unit.namespace.sequence == 0 and await unit.directory.made_by(actor().key) > self.policy.namespaces:
            message = f"this key has made {self.policy.namespaces} namespaces already"
            raise LimitReached(message, "LIMITS__NAMESPACES")
        buffered = await unit.messages.buffered()
        if buffered + messages > self.policy.messages:
            raise _full(f"{buffered} messages of this namespace wait already", "LIMITS__BUFFERED_MESSAGES")
        jobs = await unit.jobs.pending(REMEMBERING)
        if jobs >= self.policy.jobs:
            raise _full(f"{jobs} jobs of this namespace wait already", "LIMITS__PENDING_JOBS")
        if time.monotonic() - self._looked_at > LOOK_SECONDS:
            self._in_all = await unit.directory.pending()
            self._looked_at = time.monotonic()
        if self._in_all >= self.policy.jobs_in_all:
            raise _full("too many jobs wait already", "LIMITS__PENDING_JOBS_IN_ALL")


def _full(detail: str, limit: str) -> TooMany:
    return TooMany(f"{detail}; nothing was stored", limit, RETRY_SECONDS)
