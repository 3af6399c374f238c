"""Background work, visible."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, encode_cursor
from app.api.schemas.operations import JobOut, JobsQuery
from app.api.security import Guarded
from app.domain.ids import JobId

router = APIRouter(prefix="/v1/namespaces/{namespace}/jobs", tags=["jobs"], route_class=Guarded)


@router.get("", operation_id="list_jobs", responses=documented(404))
async def list_jobs(namespace: NamespaceName, query: Annotated[JobsQuery, Query()], use: Use) -> Page[JobOut]:
    """List jobs, newest first."""
    found = await use.work.page(namespace, query.state, query.after_id(), query.limit)
    full = len(found) == query.limit
    return Page(items=[JobOut.of(job) for job in found], next_cursor=encode_cursor(found[-1].id) if full else None)


@router.get("/{job}", operation_id="get_job", responses=documented(404))
async def get_job(namespace: NamespaceName, job: UUID, use: Use) -> JobOut:
    """One job: its state, its tries, and why it failed if it did."""
    return JobOut.of(await use.work.get(namespace, JobId(job)))


@router.post("/{job}/retry", operation_id="retry_job", responses=documented(404, 409))
async def retry_job(namespace: NamespaceName, job: UUID, use: Use) -> JobOut:
    """Queue a failed or cancelled job again, its tries counted anew; 409 for any other."""
    return JobOut.of(await use.work.retry(namespace, JobId(job)))


@router.post("/{job}/cancel", operation_id="cancel_job", responses=documented(404, 409))
async def cancel_job(namespace: NamespaceName, job: UUID, use: Use) -> JobOut:
    """Cancel a queued or running job; 409 for any other.

    What a running one finds out is discarded, and it is stopped within a heartbeat, also if it hangs.
    """
    return JobOut.of(await use.work.cancel(namespace, JobId(job)))
