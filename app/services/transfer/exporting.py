"""The way out: a namespace as lines, read from one moment, a page at a time."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from app.domain.audit import Act
from app.domain.errors import Busy, Conflict, FieldError, InvalidInput, Unavailable
from app.services.transfer.checking import LEVELS
from app.services.transfer.lines import KINDS, Counts, End, Header, Line, VectorLine
from app.storage.transfer import MOVED, Row
from app.storage.unit_of_work import Clock, ReadUnit, Storage

AT_ONCE = 4  # exports of one process
RETRY_SECONDS = 10.0
FIRST_ROWS, MOST_ROWS = 20, 500  # of a page; how many in between is told by how long the lines before were
PAGE_BYTES = 2 * 1024 * 1024  # of a page's lines, about: all that an export holds in memory


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an export is to hold. `after` lines, counted from the header on, are there already, of that `revision`."""

    vectors: bool = False
    after: int = 0
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class Exporting:
    """Opens exports."""

    storage: Storage
    clock: Clock
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def begin(self, namespace: str, wanted: Wanted) -> "Export":
        """An export that must be closed. It is written down in the audit log.

        Raises NotFound; Conflict if the revision is another by now; InvalidInput if there are fewer lines than
        `after`; Busy if too many run; Unavailable while something is being erased.
        """
        if self.places.locked():
            raise Busy("too many exports run at the moment", "LIMITS__EXPORTS", RETRY_SECONDS)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.places)
            async with self.storage.read(namespace) as unit:
                await _begin(unit, wanted)
            # Written with no snapshot open: whoever writes may be waiting until all are closed.
            await self.storage.record(Act.EXPORT, self.clock(), namespace)
            unit = await stack.enter_async_context(self.storage.read(namespace))
            return Export(unit, await _begin(unit, wanted), wanted.after, stack.pop_all())


@dataclass(slots=True)
class Export:
    """One export. Its lines are of the moment at which it began."""

    unit: ReadUnit
    header: Header
    after: int
    stack: AsyncExitStack

    async def close(self) -> None:
        """Give back what it holds. May be called more than once."""
        await self.stack.aclose()

    async def chunks(self) -> AsyncGenerator[bytes]:
        """The lines, many at a time; those that are there already are made again, for the checksum, and not given."""
        number, checksum = 1, hashlib.sha256()
        if self.after < number:
            yield self.header.encode()
        async for lines in self._pages():
            checksum.update(b"".join(lines))
            fresh = lines[max(0, self.after - number) :]
            number += len(lines)
            if fresh:
                yield b"".join(fresh)
        if self.after <= number:
            yield End(lines=number, sha256=checksum.hexdigest()).encode()

    async def _pages(self) -> AsyncIterator[Sequence[bytes]]:
        for kind in MOVED:
            after: Row | None = None
            limit = FIRST_ROWS
            while rows := await self.unit.transfer.page(kind, after, limit):
                after = rows[-1]
                lines = await asyncio.to_thread(_encoded, KINDS[kind], await self._values(kind, rows))
                limit = max(1, min(MOST_ROWS, PAGE_BYTES * len(lines) // sum(map(len, lines))))
                yield lines
        for level in LEVELS if self.header.vectors else ():
            after = None
            while rows := await self.unit.transfer.vectors(level, after, MOST_ROWS):
                after = rows[-1]
                yield await asyncio.to_thread(_encoded, VectorLine, rows)

    async def _values(self, kind: str, rows: Sequence[Row]) -> Sequence[Row]:
        if kind == "statement":
            cited = await self.unit.transfer.cited([row["id"] for row in rows])
            return [{**one, "messages": cited.get(one["id"], ())} for one in rows]
        if kind == "theme" and not self.header.vectors:
            return [{**one, "vector_sum": None} for one in rows]
        return rows


async def _begin(unit: ReadUnit, wanted: Wanted) -> Header:
    """The first line. Raises what `begin` does."""
    if await unit.transfer.is_erasing():
        raise Unavailable("a conversation of the namespace is being erased: try again when that is done")
    header = await _header(unit, vectors=wanted.vectors)
    _check(wanted, header)
    return header


async def _header(unit: ReadUnit, *, vectors: bool) -> Header:
    namespace = unit.namespace
    counts = {**await unit.transfer.counts(), "vector": await unit.transfer.count_vectors() if vectors else 0}
    return Header(
        namespace=namespace.name,
        revision=namespace.revision,
        sequence=namespace.sequence,
        embedding_profile=namespace.embedding_profile,
        vectors=vectors,
        retention_seconds=namespace.retention_seconds,
        counts=Counts(**counts),
    )


def _check(wanted: Wanted, header: Header) -> None:
    if wanted.revision is not None and wanted.revision != header.revision:
        detail = f"the namespace is at revision {header.revision} by now: begin anew"
        raise Conflict(detail, [FieldError("query/revision", detail)])
    if wanted.after > header.counts.total() + 2:  # with the header and the end
        raise InvalidInput("there are fewer lines", [FieldError("query/after", "must be lines of this export")])


def _encoded(kind: type[Line], values: Sequence[Row]) -> list[bytes]:
    return [kind.model_validate(one, strict=False).encode() for one in values]
