"""`forget`: key is a receipt."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind, Retry
from app.services.forgetting import Forgetting

PATIENT = Retry(attempts=40, longest_delay=timedelta(hours=1))  # more than a day: what was promised is not given up


def forget(service: Forgetting) -> JobKind:
    """Erase what a receipt is about."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        return await service.forget(attempt, UUID(attempt.job.key))

    return JobKind(Step.FORGET, run, PATIENT)
