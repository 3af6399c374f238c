"""The audit log, written in the transaction of what it tells of: no act without its line, no line without its act."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.audit import Act, Entry, Outcome
from app.storage.access_tables import audit
from app.storage.repository import new_id
from app.telemetry.acting import actor


class AuditLog:
    """Writes lines about one namespace, or about none (`namespace` is its name); reads all."""

    def __init__(self, connection: AsyncConnection, namespace: str | None) -> None:
        self._connection = connection
        self._namespace = namespace

    async def record(
        self,
        act: Act,
        now: datetime,
        *,
        object: UUID | None = None,
        outcome: Outcome = Outcome.DONE,
    ) -> None:
        """Write down that whoever acts here does this now."""
        who = actor()
        values = {
            "id": new_id(),
            "at": now,
            "key_id": who.key,
            "actor": who.name,
            "act": act.value,
            "namespace": self._namespace,
            "object_id": object,
            "outcome": outcome.value,
            "request_id": who.request,
        }
        await self._connection.execute(insert(audit).values(values))

    async def page(self, before: UUID | None, limit: int, namespace: str | None) -> Sequence[Entry]:
        """Lines, newest first; only those about one namespace, if it is given."""
        query = select(audit)
        if namespace is not None:
            query = query.where(audit.c.namespace == namespace)
        if before is not None:
            query = query.where(audit.c.id < before)
        rows = await self._connection.execute(query.order_by(audit.c.id.desc()).limit(limit))
        return [_to_entry(row) for row in rows]

    async def oldest(self) -> datetime | None:
        """When the first line was written; None if there is none."""
        query = select(audit.c.at).order_by(audit.c.id).limit(1)
        at: datetime | None = (await self._connection.execute(query)).scalar_one_or_none()
        return at

    async def remove(self, before: datetime) -> int:
        """Remove the lines from before then. Returns how many."""
        return (await self._connection.execute(delete(audit).where(audit.c.at < before))).rowcount


def _to_entry(row: Row[Any]) -> Entry:
    return Entry(
        row.id, row.at, row.key_id, row.actor, row.act, row.namespace, row.object_id, Outcome(row.outcome),
        row.request_id,
    )  # fmt: skip
