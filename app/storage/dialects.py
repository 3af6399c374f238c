"""What differs between SQLite and Postgres besides vectors, hidden behind one spelling each.

`dialect.name` is read here, in engine.py and in vectors.py, and nowhere else.
"""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, ColumnElement, DateTime, Dialect, TypeDecorator, literal
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Boolean

POSTGRES = "postgresql"


class Instant(TypeDecorator[datetime]):
    """An aware moment, kept in UTC. SQLite has no zones, so the value is converted before it is stored."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; a naive value is a programming error."""
        del dialect
        if value is not None and value.tzinfo is None:
            message = "naive datetime given to the database"
            raise ValueError(message)
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return an aware UTC value."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


JsonDocument = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), POSTGRES)
"""Any JSON value; jsonb on Postgres."""


class json_contains(FunctionElement[bool]):  # noqa: N801  (reads as the SQL function it is)
    """`document @> part`: every key and element of `part` is in `document`, at any depth."""

    type = Boolean()
    inherit_cache = True
    name = "json_contains"


@compiles(json_contains)
def _sqlite_contains(element: json_contains, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"json_contains({compiler.process(element.clauses, **kw)})"


@compiles(json_contains, POSTGRES)
def _postgres_contains(element: json_contains, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    document, part = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({document} @> {part})"


def metadata_contains(column: ColumnElement[Any], part: dict[str, Any]) -> ColumnElement[bool]:
    """Condition: the JSON `column` contains `part` (Postgres' jsonb containment, on both databases)."""
    return json_contains(column, literal(part, JsonDocument))


class json_pairs(FunctionElement[Any]):  # noqa: N801  (as above)
    """The keys of a JSON object with their values, as a table of `key` and `value`."""

    inherit_cache = True
    name = "json_pairs"


@compiles(json_pairs)
def _sqlite_pairs(element: json_pairs, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"json_each({compiler.process(element.clauses, **kw)})"


@compiles(json_pairs, POSTGRES)
def _postgres_pairs(element: json_pairs, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"json_each_text({compiler.process(element.clauses, **kw)})"


class unindexed(FunctionElement[Any]):  # noqa: N801  (as above)
    """A column whose index SQLite must not choose to group by: it would walk through a whole level for a few rows.

    Postgres knows how many rows there are, and chooses for itself.
    """

    inherit_cache = True
    name = "unindexed"

    def __init__(self, grouped: ColumnElement[Any]) -> None:
        super().__init__(grouped)
        self.type = grouped.type


@compiles(unindexed)
def _sqlite_unindexed(element: unindexed, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"+{compiler.process(element.clauses, **kw)}"


@compiles(unindexed, POSTGRES)
def _postgres_unindexed(element: unindexed, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return compiler.process(element.clauses, **kw)


def contains(document: object, part: object) -> bool:
    """Postgres' jsonb containment: objects by key, arrays as sets, scalars by equality (true is not 1)."""
    if isinstance(document, dict) and isinstance(part, dict):
        return all(key in document and contains(document[key], value) for key, value in part.items())
    if isinstance(document, list) and isinstance(part, list):
        return all(any(contains(element, wanted) for element in document) for wanted in part)
    return isinstance(document, bool) == isinstance(part, bool) and document == part


def sqlite_json_contains(document: str | None, part: str) -> bool:
    """`contains` over JSON texts, as SQLite calls it. SQL null contains nothing."""
    return document is not None and contains(json.loads(document), json.loads(part))
