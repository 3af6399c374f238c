"""Closing open conversations and waiting for the work."""

from fastapi import APIRouter, Response

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName
from app.api.schemas.operations import FlushIn, FlushOut
from app.api.security import Guarded

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["flush"], route_class=Guarded)


@router.post(
    "/flush",
    operation_id="flush_namespace",
    responses={**documented(404, 413), 202: {"model": FlushOut, "description": "Not settled yet"}},
)
async def flush_namespace(
    namespace: NamespaceName, use: Use, response: Response, body: FlushIn | None = None
) -> FlushOut:
    """Close open conversations so that their last messages are remembered too; optionally wait.

    200 if everything is settled, 202 if work is still going on. Safe to repeat, and beside new messages.
    """
    asked = body or FlushIn()
    flushed = await use.flush.flush(namespace, asked.conversation, asked.wait_seconds)
    response.status_code = 200 if flushed.settled else 202
    return FlushOut.of(flushed)
