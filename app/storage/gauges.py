"""Numbers over all namespaces, for metrics: counts, never names or texts; one bounded query each."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.jobs import JobState
from app.storage.tables import jobs, messages
from app.telemetry.metrics import Readings

SHOWN = tuple(state.value for state in JobState if state is not JobState.SUCCEEDED)

# Succeeded jobs are history: counting them would cost more with every message ever posted.
JOBS = (
    select(jobs.c.state, jobs.c.kind, func.count()).where(jobs.c.state.in_(SHOWN)).group_by(jobs.c.state, jobs.c.kind)
)
OLDEST = select(func.min(jobs.c.due_at)).where(jobs.c.state == JobState.QUEUED)  # the first entry of ix_jobs_due
BUFFERED = (
    select(func.count()).select_from(messages).where(messages.c.episode_id.is_(None))
)  # all of ix_messages_buffer


async def read(connection: AsyncConnection, now: datetime) -> Readings:
    """Take the readings."""
    by_state = {(row[0], row[1]): row[2] for row in await connection.execute(JOBS)}
    oldest = (await connection.execute(OLDEST)).scalar_one()
    return Readings(
        jobs=by_state,
        failed=sum(count for (state, _), count in by_state.items() if state == JobState.FAILED),
        oldest_due_seconds=0.0 if oldest is None else max(0.0, (now - oldest).total_seconds()),
        buffered=(await connection.execute(BUFFERED)).scalar_one(),
    )
