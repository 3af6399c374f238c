"""A storage in which something happens just after a step of the background work has read from it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from app.domain.ids import NamespaceId
from app.storage.unit_of_work import ReadUnit, Storage


@dataclass(frozen=True, slots=True)
class Meddled(Storage):
    """Storage in which something happens once, right after a step's next read, or a later one."""

    meddle: list[Callable[[], Awaitable[object]] | None] = field(default_factory=list)

    @asynccontextmanager
    async def read(self, namespace: NamespaceId | str) -> AsyncIterator[ReadUnit]:
        async with Storage.read(self, namespace) as unit:
            yield unit
        happens = self.meddle.pop(0) if self.meddle else None
        if happens is not None:
            await happens()


def meddled(given: Storage, *meddle: Callable[[], Awaitable[object]] | None) -> Meddled:
    """The same storage; what happens after each of a step's reads."""
    return Meddled(given.engines, given.doorbell, given.writers, list(meddle))
