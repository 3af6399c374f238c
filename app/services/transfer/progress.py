"""How far a job is with a file: what it shows, and from where its next attempt goes on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from app.domain.errors import Conflict
from app.domain.jobs import Attempt
from app.services.transfer.lines import LINE, AnyLine
from app.storage.unit_of_work import Storage


@dataclass(slots=True)
class Far:
    """Counts of all attempts of one job. `block` is the last that was worked through.

    `level` counts the levels whose items all have vectors; of the next one those up to the id `item` have.
    """

    block: int = 0
    lines: int = 0
    embedded: int = 0
    level: int = 0
    item: str | None = None
    messages: int = 0
    skipped: int = 0

    @classmethod
    def of(cls, attempt: Attempt) -> "Far":
        """From what the attempts before have left."""
        done = attempt.job.result or {}
        return cls(**{one.name: done[one.name] for one in fields(cls) if one.name in done})

    def result(self, attempt: Attempt) -> Mapping[str, Any]:
        """As the job shows it."""
        payload = attempt.job.payload
        return {"mode": payload["mode"], **asdict(self), "total": payload["lines"]}


async def read_block(storage: Storage, attempt: Attempt, number: int) -> str | None:
    """A block of the job's lines; None after the last. Raises Conflict if it is gone."""
    if number > attempt.job.payload["blocks"]:
        return None
    async with storage.read(attempt.namespace, also_importing=True) as unit:
        block = await unit.transfer.block(attempt.job.id, number)
    if block is None:
        raise Conflict("the lines of this import are gone: import the file again")
    return block


def parsed(block: str) -> list[AnyLine]:
    """The lines of a block, which were checked when they came in."""
    return [LINE.validate_json(line) for line in block.split("\n")]
