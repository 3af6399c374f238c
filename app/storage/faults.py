"""Which errors of the drivers mean "not now": the database is gone, busy, full or cannot be written."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.domain.errors import StoreUnavailable

# SQLite calls wrong SQL an operational error too: only these codes tell of the file and its disk.
SQLITE_NOT_NOW = {
    sqlite3.SQLITE_BUSY: "is locked",
    sqlite3.SQLITE_LOCKED: "is locked",
    sqlite3.SQLITE_PROTOCOL: "is locked",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_PERM: "cannot be written",
    sqlite3.SQLITE_FULL: "is full",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
    sqlite3.SQLITE_INTERRUPT: "was interrupted",
}
# SQLSTATE, or its class. Postgres says of most of them that they are operational; of the first two it does not.
POSTGRES_NOT_NOW = {
    "25006": "cannot be written",  # a standby, or default_transaction_read_only
    "25P03": "ended an idle transaction",
    "40001": "is locked",
    "40P01": "is locked",
    "55P03": "is locked",
    "53100": "is full",
    "53": "has no room for more",
    "57": "is shutting down or starting",
    "58": "has a fault of its disk",
    "08": "does not answer",
}

OVER_A_LIMIT = "54"  # of Postgres itself: operational by name, but it would be the same the next time


def not_now(error: DBAPIError) -> str | None:
    """What is wrong with the database for the moment; None if the error is a bug of ours."""
    sqlite_code = getattr(error.orig, "sqlite_errorcode", None)
    if sqlite_code is not None:
        return SQLITE_NOT_NOW.get(sqlite_code & 0xFF)  # the rest is detail
    state = getattr(error.orig, "sqlstate", None) or ""
    known = POSTGRES_NOT_NOW.get(state) or POSTGRES_NOT_NOW.get(state[:2])
    if known is not None or state[:2] == OVER_A_LIMIT:
        return known
    # Without a state the server never spoke: no route to it, a broken connection, a name that is not found.
    return "does not answer" if error.connection_invalidated or isinstance(error, OperationalError) else None


@asynccontextmanager
async def store_errors() -> AsyncIterator[None]:
    """The driver's "not now" as ours; anything else is a bug and stays as it is."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreUnavailable("the database is busy: no connection became free") from error
    except DBAPIError as error:
        reason = not_now(error)
        if reason is None:
            raise
        raise StoreUnavailable(f"the database {reason}") from error
