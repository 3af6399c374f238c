"""One server for one SQLite file: an operating system's lock on a file beside it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.domain.errors import ConfigurationError


@contextmanager
def own(database: str) -> Iterator[None]:
    """Hold the lock of a database file. Raises ConfigurationError if another process has it."""
    path = Path(f"{database}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            handle.seek(0)
            message = f"{database} is in use by process {handle.read().strip() or 'unknown'}: one server a file"
            raise ConfigurationError(message) from error
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
