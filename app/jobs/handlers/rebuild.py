"""`rebuild`: key is the namespace itself."""

from collections.abc import Mapping
from typing import Any

from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind
from app.services.rebuilding import Rebuilding


def rebuild(service: Rebuilding) -> JobKind:
    """Arrange all statements of a namespace in themes anew."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        return await service.rebuild(attempt)

    return JobKind(Step.REBUILD, run)
