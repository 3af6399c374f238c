"""A file on its way in: checked as it comes and kept outside of the database until all of it was checked."""

import hashlib
from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

from app.domain.errors import FieldError, InvalidInput, TooLarge
from app.services.transfer.checking import Checker
from app.services.transfer.lines import Header

LINE_BYTES = 16 * 1024 * 1024  # a message of a million characters, however they are written
BLOCK_BYTES = 256 * 1024  # of whole lines, about: a job writes them in a transaction of some tenths of a second


class Spool:
    """Takes bytes as they come, gives blocks of whole lines. Blocking: it belongs in a thread. Close it.

    Its file has no name, and nothing of it is left when the process ends.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._checker = Checker()
        self._digest = hashlib.sha256()
        self._size = 0
        self._rest = b""
        self._block: list[bytes] = []
        self._held = 0  # bytes of these lines
        self._blocks: list[int] = []  # their sizes
        self._file = TemporaryFile()  # noqa: SIM115  (closed with the spool)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def sha256(self) -> str:
        """Of all bytes so far, in hexadecimal."""
        return self._digest.hexdigest()

    @property
    def count(self) -> int:
        """How many blocks there are, once it is finished."""
        return len(self._blocks)

    def feed(self, data: bytes) -> None:
        """Take more. Raises InvalidInput, which names the line and the field, or TooLarge."""
        self._size += len(data)
        if self._size > self._most:
            raise TooLarge(f"the file is larger than {self._most} bytes (LIMITS__IMPORT_BYTES)")
        self._digest.update(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._rest) > LINE_BYTES:
            where, wrong = f"line/{self._checker.number + 1}", f"must have at most {LINE_BYTES} bytes"
            raise InvalidInput(f"{where}: {wrong}", [FieldError(where, wrong)])

    def finish(self) -> Header:
        """All is there. Raises InvalidInput, also where the end is missing."""
        if self._rest:
            self._take(self._rest)
        header = self._checker.finish()
        self._write()
        return header

    def blocks(self, many: int) -> Iterator[list[tuple[int, str]]]:
        """The blocks in their order, numbered from 1, `many` at a time."""
        self._file.seek(0)
        for start in range(0, self.count, many):
            sizes = self._blocks[start : start + many]
            yield [(number, self._file.read(size).decode()) for number, size in enumerate(sizes, start + 1)]

    def _take(self, line: bytes) -> None:
        is_first = self._checker.header is None
        self._checker.feed(line)
        if is_first or self._checker.ended:
            return
        self._block.append(line)
        self._held += len(line)
        if self._held >= BLOCK_BYTES:
            self._write()

    def _write(self) -> None:
        if self._block:
            block = b"\n".join(self._block)
            self._file.write(block)
            self._blocks.append(len(block))
            self._block, self._held = [], 0
