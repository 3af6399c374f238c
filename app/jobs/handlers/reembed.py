"""`reembed`: key is the namespace itself, which knows the profile that it is to get."""

from collections.abc import Mapping
from typing import Any

from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind
from app.services.reembedding import Reembedding


def reembed(service: Reembedding) -> JobKind:
    """Give a namespace the vectors of another embedding model, a while at a time."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        return await service.reembed(attempt)

    return JobKind(Step.REEMBED, run)
