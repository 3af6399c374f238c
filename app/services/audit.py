"""The audit log, as administrators read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.audit import Act, Entry, Outcome
from app.storage.unit_of_work import Clock, Storage


@dataclass(frozen=True, slots=True)
class Audit:
    """Lines of the log."""

    storage: Storage
    clock: Clock

    async def page(self, before: UUID | None, limit: int, namespace: str | None) -> Sequence[Entry]:
        """Newest first; only those about one namespace, by its name, if it is given."""
        async with self.storage.access() as unit:
            return await unit.audit.page(before, limit, namespace)

    async def refused(self, act: Act, namespace: str | None) -> None:
        """Write down that a valid key was refused an act."""
        await self.storage.record(act, self.clock(), namespace, Outcome.REFUSED)
