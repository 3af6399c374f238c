"""What a question used of the language model: counted while it is answered, added to its namespace's sums."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.domain.errors import AppError
from app.storage.unit_of_work import Storage
from app.telemetry.usage import EMBEDDER, Meter, Usage, metering

log = logging.getLogger(__name__)


@asynccontextmanager
async def spending(storage: Storage, namespace: str) -> AsyncIterator[Meter]:
    """Count what is used inside, also where it ends in an error. The namespace is only written to if that was much."""
    with metering() as meter:
        try:
            yield meter
        finally:
            used = {stage: counts for stage, counts in meter.added.items() if stage != EMBEDDER}
            if used:  # a question's vector alone is not worth a write
                await asyncio.shield(_keep(storage, namespace, used))


async def _keep(storage: Storage, namespace: str, used: Usage) -> None:
    try:
        async with storage.write(namespace) as unit:
            await unit.usage.add(used)
            await unit.commit(revises_memory=False)  # nothing that a reader could see
    except AppError as error:  # the answer is good all the same
        log.warning("the usage of a question was not counted", extra={"code": error.code})
