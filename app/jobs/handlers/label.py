"""`label`: key is the namespace itself."""

from collections.abc import Mapping
from typing import Any

from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.services.labelling import Labelling


def label(service: Labelling) -> JobKind:
    """Name the themes that wait for a better name."""

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        return await service.label(attempt)

    return JobKind(Step.LABEL, run)
