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
        every = select(scored.c.item_id, scored.c.score).order_by(scored.c.score.desc(), scored.c.item_id)
        kept = (every if within is None else self._meeting(scored, every, within)).limit(limit).subquery("kept")
        joined = select(kept, spread).select_from(spread.outerjoin(kept, true()))
        return joined.order_by(kept.c.score.desc(), kept.c.item_id)

    def _meeting(self, scored: CTE, every: Select[Any], within: Within) -> Select[Any]:
        """Those items of `every`, which is `scored` in order, that meet `within`.

        Where nearly all do, each is looked up in turn, until there are enough. A join is over all of them; and where
        the database has no statistics yet, as of a namespace that has just come in, it took every pair of an item and
        a row: 63 ms for 1,000 items, and that grows with their square.
        """
        table, condition = within.table, within.condition
        if not within.nearly_all:
            own = (table.c.namespace_id == self._namespace) & (table.c.id == scored.c.item_id)
            return every.join_from(scored, table, own).where(condition)
        ordered = every.offset(0).subquery("ordered")  # no limit of its own, and yet in this order
        row = (table.c.namespace_id == self._namespace) & (table.c.id == ordered.c.item_id)
        meets = select(condition).where(row).correlate(ordered).scalar_subquery()
        return select(ordered).where(meets).order_by(ordered.c.score.desc(), ordered.c.item_id)
