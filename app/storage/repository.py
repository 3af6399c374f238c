"""What all repositories share: a connection and the one namespace they may touch."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Table
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils import compat

from app.domain.ids import NamespaceId

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
