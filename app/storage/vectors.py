"""Vectors in the database: pgvector on Postgres, float32 bytes on SQLite, one similarity for both."""

from typing import Any

import numpy as np
from pgvector.sqlalchemy import VECTOR
from sqlalchemy import ColumnElement, Dialect, LargeBinary, TypeDecorator, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Float, TypeEngine

from app.domain.late import WordVectors, from_bytes, to_bytes
from app.domain.vectors import Vector
from app.storage.dialects import POSTGRES

SENT_HEADER = 4  # bytes before the numbers in pgvector's binary form: the dimension, and two that are unused
SENT_NUMBER = np.dtype(">f4")


class Sent(TypeDecorator[Vector]):
    """A vector as it is read."""

    impl = LargeBinary
    cache_ok = True

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Vector | None:
        """Return float32, shape (dimension,)."""
        if value is None:
            return None
        if dialect.name != POSTGRES:
            return np.frombuffer(value, dtype=np.float32)
        return np.frombuffer(value, dtype=SENT_NUMBER, offset=SENT_HEADER).astype(np.float32)


class sent(FunctionElement[Vector]):  # noqa: N801  (reads as the SQL function it is)
    """A vector as bytes, for the way to us: pgvector's text form takes several times as long to read."""

    type = Sent()
    inherit_cache = True
    name = "sent"


@compiles(sent)
def _sqlite_sent(element: sent, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return compiler.process(element.clauses, **kw)


@compiles(sent, POSTGRES)
def _postgres_sent(element: sent, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"vector_send({compiler.process(element.clauses, **kw)})"


class Embedding(TypeDecorator[Vector]):
    """A float32 vector of any dimension."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """`vector` without a fixed dimension on Postgres, bytes on SQLite."""
        return dialect.type_descriptor(VECTOR() if dialect.name == POSTGRES else LargeBinary())

    def process_bind_param(self, value: Vector | None, dialect: Dialect) -> object:
        """Store float32."""
        if value is None:
            return None
        flat = np.ascontiguousarray(value, dtype=np.float32)
        return flat if dialect.name == POSTGRES else flat.tobytes()

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Vector]:
        """What is selected in a column's place."""
        return sent(column)


class WordBytes(TypeDecorator[WordVectors]):
    """The vectors of a text's words: a byte for each number, on both databases."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: WordVectors | None, dialect: Dialect) -> bytes | None:
        """Store one word after the other."""
        return None if value is None else to_bytes(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> WordVectors | None:
        """Return int8, shape (words, WIDTH)."""
        return None if value is None else from_bytes(value)


class inner_product(FunctionElement[float]):  # noqa: N801  (as above)
    """Inner product of two vectors; of unit vectors it is their cosine similarity, in [-1, 1]."""

    type = Float()
    inherit_cache = True
    name = "inner_product"


@compiles(inner_product)
def _sqlite_inner_product(element: inner_product, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    return f"inner_product({compiler.process(element.clauses, **kw)})"


@compiles(inner_product, POSTGRES)
def _postgres_inner_product(element: inner_product, compiler: SQLCompiler, **kw: Any) -> str:  # noqa: ANN401
    left, right = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"(-({left} <#> {right}))"


def similarity(column: ColumnElement[Any], query: Vector) -> ColumnElement[float]:
    """Cosine similarity of a column of unit vectors with the unit vector `query`."""
    return inner_product(column, literal(query, Embedding()))


def sqlite_inner_product(left: bytes, right: bytes) -> float:
    """Inner product over float32 bytes, as SQLite calls it."""
    return float(np.dot(np.frombuffer(left, np.float32), np.frombuffer(right, np.float32)))
