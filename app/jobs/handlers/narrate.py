"""`narrate`: key is an episode."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.ids import EpisodeId
from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.services.narration import Narration


def narrate(service: Narration) -> JobKind:
    """Write the title and narrative of an episode."""

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        return await service.narrate(attempt, EpisodeId(UUID(attempt.job.key)))

    return JobKind(Step.NARRATE, run)
