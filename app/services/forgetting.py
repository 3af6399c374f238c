"""Forgetting: a retired namespace is hidden at once and erased in the background."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.domain.ids import NamespaceId
from app.domain.jobs import Step
from app.domain.namespaces import Receipt
from app.storage.unit_of_work import Clock, Storage


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Erases."""

    storage: Storage
    clock: Clock

    async def retire(self, name: str) -> Receipt:
        """Hide a namespace, free its name and queue its erasure. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(name) as unit:
            await unit.jobs.cancel_all(now)
            receipt = await unit.directory.retire(unit.namespace, now)
            await unit.jobs.enqueue(Step.FORGET, str(receipt.id), {}, now)
            await unit.commit()
        return receipt

    async def erase(self, namespace: NamespaceId, receipt: UUID) -> Mapping[str, Any]:
        """Remove every row of a retired namespace, and close its receipt."""
        now = self.clock()
        async with self.storage.write(namespace, also_deleted=True) as unit:
            erased = await unit.directory.erase(namespace, receipt, now)
            await unit.commit(revises_memory=False)
        return erased

    async def receipt(self, receipt: UUID) -> Receipt:
        """How far an erasure is. Raises NotFound."""
        async with self.storage.directory() as directory:
            return await directory.receipt(receipt)
