"""The results of a run, kept as they come: a killed run goes on where it was.

`results.jsonl` grows by a line a request and is handed to the operating system line by line, so that a killed process
loses none; every SYNCED lines it is forced to the disk, for the machine may go down too. At the end it is written
anew, in the order of the plan, so that it does not show where the run was interrupted.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

from pydantic import BaseModel, ValidationError

from app.evaluation.errors import ToolError
from app.evaluation.plan import Key, Row, key_of
from app.evaluation.run_folder import RESULTS, ROW

SYNCED = 50  # lines: at twenty requests a second, some seconds of work


class Journal:
    """The rows of one run so far, by the request that they are of."""

    def __init__(self, path: Path, file: BufferedWriter, rows: Iterable[Row], worked_at: float) -> None:
        self._path = path
        self.worked_at = worked_at  # seconds since 1970: when it was last written to before
        self._file = file
        self._unsynced = 0
        self.rows: dict[Key, Row] = {key_of(row): row for row in rows}

    def has(self, key: Key) -> bool:
        """Whether it is done; what failed is not."""
        row = self.rows.get(key)
        return row is not None and row.error is None

    def add(self, row: Row) -> None:
        """Keep a row. Blocking, for the time of one write."""
        self.rows[key_of(row)] = row
        self._file.write(_line(row))
        self._file.flush()
        self._unsynced += 1
        if self._unsynced >= SYNCED:
            os.fsync(self._file.fileno())
            self._unsynced = 0

    def finish(self, order: Sequence[Key]) -> list[Row]:
        """Write the rows of these requests anew, in this order, and return them. Blocking."""
        rows = [self.rows[key] for key in order]
        replace(self._path, b"".join(map(_line, rows)))
        return rows


@contextmanager
def keep(folder: Path) -> Iterator[Journal]:
    """The journal of a run's folder, which is made if need be. Blocking.

    A last line that a kill tore is cut off. Raises ToolError if another run writes there, or a line cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    directory = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ToolError(f"another run writes to {folder}: wait for it, or choose another --out") from error
        path = folder / RESULTS
        with path.open("ab") as file:
            content, worked_at = path.read_bytes(), path.stat().st_mtime
            file.truncate(content.rfind(b"\n") + 1)
            yield Journal(path, file, _rows(content, path), worked_at)
            os.fsync(file.fileno())
    finally:
        os.close(directory)


def replace(path: Path, content: bytes) -> None:
    """Write a file so that there is the old one or the new one, whatever happens. Blocking."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def lines(parts: Iterable[BaseModel]) -> bytes:
    """JSON, a line each."""
    return b"".join(map(_line, parts))


def _line(part: BaseModel) -> bytes:
    return json.dumps(part.model_dump(mode="json"), ensure_ascii=False).encode() + b"\n"


def _rows(content: bytes, path: Path) -> Iterator[Row]:
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            yield ROW.validate_json(line)
        except ValidationError as error:
            raise ToolError(f"{path}, line {number} is no result of a run: choose another --out") from error
