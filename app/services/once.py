"""Requests that take effect once: the answer is kept under the client's key, in the transaction of what it did.

A use case that offers it asks `earlier` first and `keep`s its result last, both in its own write unit. The lock
on the namespace's row does the rest: the same request at the same time waits, and finds the first one's answer.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from app.domain.errors import Conflict, FieldError
from app.domain.replies import Reply
from app.storage.unit_of_work import ReadUnit, WriteUnit

KEPT = timedelta(hours=24)  # then the key is free

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Once(Generic[ResultT]):
    """A request with an idempotency key. `digest` tells it from others, `write` turns its result into the answer."""

    key: str
    digest: str
    status: int
    write: Callable[[ResultT], str]

    async def earlier(self, unit: ReadUnit, now: datetime) -> Reply | None:
        """The answer to the same request; None if there was none. Raises Conflict if the key is another's."""
        found = await unit.replies.find(self.key, now - KEPT)
        if found is not None and found.digest != self.digest:
            raise Conflict(
                "this Idempotency-Key was used for another request; nothing was stored",
                [FieldError("header/Idempotency-Key", "was used for a request with another route or body")],
            )
        return found

    async def keep(self, unit: WriteUnit, result: ResultT, now: datetime) -> Reply:
        """Keep the answer to a request that succeeded."""
        reply = Reply(self.digest, self.status, self.write(result))
        await unit.replies.keep(self.key, reply, now)
        return reply
