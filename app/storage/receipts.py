"""Receipts of what is erased of one namespace. They outlive it; `Directory.receipt` finds any."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.namespaces import Namespace, Receipt
from app.storage.erasure_tables import receipts
from app.storage.repository import Repository, new_id

PENDING, DONE = "pending", "done"


class ReceiptRepository(Repository):
    """Writes receipts."""

    def __init__(self, connection: AsyncConnection, namespace: Namespace) -> None:
        super().__init__(connection, namespace.id)
        self._name = namespace.name

    async def open(self, what: str, now: datetime) -> Receipt:
        """A new receipt for an erasure that begins."""
        receipt = Receipt(new_id(), self._name, what, PENDING, now, None, None)
        values = self._row(id=receipt.id, namespace=self._name, what=what, state=PENDING, requested_at=now)
        await self._connection.execute(insert(receipts).values(values))
        return receipt

    async def is_pending(self, what: str) -> bool:
        """Whether an erasure of this kind is under way."""
        query = select(receipts.c.id).where(self._own(receipts), receipts.c.what == what, receipts.c.state == PENDING)
        return (await self._connection.execute(query.limit(1))).first() is not None

    async def count(self, receipt: UUID, erased: Mapping[str, int]) -> Mapping[str, int]:
        """Add rows that were removed; returns all of this receipt so far, by table."""
        query = select(receipts.c.erased).where(self._own(receipts), receipts.c.id == receipt)
        before = (await self._connection.execute(query)).scalar_one() or {}
        both = {name: before.get(name, 0) + erased.get(name, 0) for name in {**before, **erased}}
        counted = {name: rows for name, rows in both.items() if rows}
        await self._set(receipt, erased=counted)
        return counted

    async def close(self, receipt: UUID, now: datetime) -> None:
        """Nothing is left of what it is about."""
        await self._set(receipt, state=DONE, finished_at=now)

    async def close_all(self, now: datetime) -> None:
        """Nothing is left of anything in the namespace."""
        query = update(receipts).where(self._own(receipts), receipts.c.state == PENDING)
        await self._connection.execute(query.values(state=DONE, finished_at=now))

    async def _set(self, receipt: UUID, **values: object) -> None:
        query = update(receipts).where(self._own(receipts), receipts.c.id == receipt)
        await self._connection.execute(query.values(**values))
