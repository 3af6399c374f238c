"""What all repositories share: a connection and the one namespace they may touch."""

from typing import Any
from uuid import UUID

from sqlalchemy import CTE, ColumnElement, Select, Table, select, true
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils import compat

from app.domain.ids import NamespaceId
from app.storage.filters import Within

IN_LIMIT = 500  # ids in one IN (…): well below every driver's parameter limit


def new_id() -> UUID:
    """A UUIDv7: unique, and ordered by the time it was made."""
    made: UUID = compat.uuid7()
    return made


class Repository:
    """Bound to one namespace: every query goes through `_own`, every row through `_row`."""

    def __init__(self, connection: AsyncConnection, namespace: NamespaceId) -> None:
        self._connection = connection
        self._namespace = namespace

    def _own(self, table: Table) -> ColumnElement[bool]:
        """Condition: the row belongs to this namespace."""
        condition: ColumnElement[bool] = table.c.namespace_id == self._namespace
        return condition

    def _row(self, **values: Any) -> dict[str, Any]:  # noqa: ANN401
        """Values of a new row of this namespace."""
        return {"namespace_id": self._namespace, **values}

    def _best_beside(self, spread: CTE, scored: CTE, limit: int, within: Within | None) -> Select[Any]:
        """The `limit` best of `scored` (item_id, score) that meet `within`, each beside the one row of `spread`.

        Where none is left, that row stands alone, and `item_id` is null.
        """
        kept = select(scored.c.item_id, scored.c.score)
        if within is not None:
            table, condition = within
            same = (table.c.namespace_id == self._namespace) & (table.c.id == scored.c.item_id)
            kept = kept.select_from(scored.join(table, same)).where(condition)
        best = kept.order_by(scored.c.score.desc(), scored.c.item_id).limit(limit).subquery("kept")
        joined = select(best, spread).select_from(spread.outerjoin(best, true()))
        return joined.order_by(best.c.score.desc(), best.c.item_id)
