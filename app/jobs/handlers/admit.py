"""`admit`: key is an episode."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.ids import EpisodeId
from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.services.admission import Admission


def admit(service: Admission) -> JobKind:
    """Draw statements from an episode."""

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        return await service.admit(attempt, EpisodeId(UUID(attempt.job.key)))

    return JobKind(Step.ADMIT, run)
