"""`segment`: key is a conversation; `close_through` is a sequence that a flush closes up to, or null."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from app.domain.ids import ConversationId
from app.domain.jobs import Attempt, Step, Unfinished
from app.jobs.registry import JobKind
from app.services.segmentation import Segmentation


def segment(service: Segmentation) -> JobKind:
    """Cut a conversation's buffer into episodes, a while at a time."""

    async def run(attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        conversation = ConversationId(UUID(attempt.job.key))
        return await service.segment(attempt, conversation, attempt.job.payload["close_through"])

    return JobKind(Step.SEGMENT, run)
