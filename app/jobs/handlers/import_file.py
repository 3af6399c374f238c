"""`import`: key is the namespace; its payload tells what is done with the lines that came in."""

from collections.abc import Mapping
from typing import Any

from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind, Retry
from app.services.transfer.importing import Importing

PATIENT = Retry(attempts=10)  # a quarter of an hour: while it waits for a model or for a full backlog, nobody reads


def import_file(service: Importing) -> JobKind:
    """Make memory of a file, a while at a time."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        return await service.work(attempt)

    return JobKind(Step.IMPORT, run, PATIENT)
