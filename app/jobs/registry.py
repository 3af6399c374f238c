"""A kind of job as a value: what to do, and how often to try."""

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from app.domain.errors import AppError, ProviderUnavailable
from app.domain.jobs import Attempt, Step, Unfinished

Handler = Callable[[Attempt], Awaitable[Mapping[str, Any] | Unfinished]]
"""Runs one attempt; returns what it did in counts and codes, never memory text."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a job is tried and how long it waits in between: `first_delay`, doubled each time."""

    attempts: int = 5  # that end in an error; an outage of half a minute passes unnoticed; a longer one is shown
    first_delay: timedelta = timedelta(seconds=2)
    factor: float = 2.0
    longest_delay: timedelta = timedelta(minutes=1)  # between two attempts, however many there were
    longest_rest: timedelta = timedelta(hours=1)  # that a model may ask for; a mistaken answer must not park a job
    jitter: float = 0.2  # of the delay, at most, on top: jobs that failed together do not come back together

    def delay(self, error: Exception, attempt: int) -> timedelta | None:
        """How long to wait before the next attempt (the first is 1); None gives the job up."""
        retryable = isinstance(error, AppError) and error.retryable
        if not retryable or attempt >= self.attempts:
            return None
        spread = 1.0 + random.uniform(0.0, self.jitter)  # noqa: S311  (no secret)
        first, longest = self.first_delay.total_seconds(), self.longest_delay.total_seconds()
        own = min(first * self.factor ** (attempt - 1), max(first, longest))
        return max(timedelta(seconds=own), self._rest(error)) * spread

    def _rest(self, error: Exception) -> timedelta:
        """How long a model asks to be left alone."""
        asked = error.retry_after if isinstance(error, ProviderUnavailable) else None
        return min(timedelta(seconds=asked or 0.0), self.longest_rest)


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job."""

    step: Step
    run: Handler
    retry: Retry = Retry()
