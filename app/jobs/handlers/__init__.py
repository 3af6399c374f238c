"""One function a kind: from the job's payload to one service call."""

from app.jobs.handlers.admit import admit
from app.jobs.handlers.forget import forget
from app.jobs.handlers.maintain import maintain
from app.jobs.handlers.segment import segment

__all__ = ["admit", "forget", "maintain", "segment"]
