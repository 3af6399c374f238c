"""`forget`: key is a receipt."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.services.forgetting import Forgetting


def forget(service: Forgetting) -> JobKind:
    """Erase a retired namespace."""

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        return await service.erase(attempt.namespace, UUID(attempt.job.key))

    return JobKind(Step.FORGET, run)
