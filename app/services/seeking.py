"""Seeking: where in the database a text stands, of all namespaces and in every column: whether it was forgotten."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from app.domain.sightings import Sighting, Sought
from app.storage.unit_of_work import Storage

SHOWN = 3  # ids of each place
READ_AT_ONCE = 2**20  # bytes of a file
INDEX = "postings.term"


@dataclass(frozen=True, slots=True)
class Seeker:
    """Looks, and changes nothing. `file` is an SQLite database's."""

    storage: Storage
    file: str | None

    async def seek(self, sought: Sought) -> Sequence[Sighting]:
        """All places where a text stands, in order; rows first, then files."""
        found: dict[str, Sighting] = {}
        async with self.storage.everything() as everything:
            for name in await everything.tables():
                async for row in everything.rows(name):
                    _look(name, row, sought, found)
            for item in await everything.indexed(sought.terms) if sought.terms else ():
                found.setdefault(INDEX, Sighting(INDEX)).add(item, SHOWN)
        rows = [found[place] for place in sorted(found)]
        return rows if self.file is None else [*rows, *await asyncio.to_thread(_files, self.file, sought)]


def _look(name: str, row: Mapping[str, Any], sought: Sought, found: dict[str, Sighting]) -> None:
    for column, value in row.items():
        place = f"{name}.{column}"
        if place != INDEX and sought.stands_in(value):
            found.setdefault(place, Sighting(place)).add(_id(row), SHOWN)


def _id(row: Mapping[str, Any]) -> UUID | None:
    value = row.get("id", row.get("item_id"))
    if isinstance(value, UUID) or value is None:
        return value
    try:
        return UUID(str(value))
    except ValueError:
        return None


def _files(path: str, sought: Sought) -> Sequence[Sighting]:
    """What the bytes of the database's files hold, rows and remains of earlier ones alike."""
    found = []
    for file in (path, f"{path}-wal", f"{path}-shm"):
        count = _count(Path(file), sought.spellings())
        if count:
            found.append(Sighting(f"file {Path(file).name}", count))
    return found


def _count(file: Path, spellings: frozenset[bytes]) -> int:
    """How often any of the spellings stands in a file; 0 if there is none."""
    overlap, count, rest = max(map(len, spellings)) - 1, 0, b""
    if not file.exists():
        return 0
    with file.open("rb") as stream:
        while chunk := stream.read(READ_AT_ONCE):
            window = rest + chunk
            # What lies in the overlap alone was counted with the chunk before.
            count += sum(window.count(one) - rest.count(one) for one in spellings)
            rest = window[-overlap:] if overlap else b""
    return count
