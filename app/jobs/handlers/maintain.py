"""`maintain`: key is the namespace itself."""

from collections.abc import Mapping
from typing import Any

from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind
from app.services.maintenance import Maintenance


def maintain(service: Maintenance) -> JobKind:
    """Place statements that have no theme yet, and keep the themes in shape."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        return await service.maintain(attempt)

    return JobKind(Step.MAINTAIN, run)
