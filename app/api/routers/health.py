"""Health, metrics and version."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.operations import Live, Ready, Version
from app.api.security import Guarded

router = APIRouter(tags=["health"], route_class=Guarded)


@router.get("/health/live", operation_id="check_live", responses=documented())
async def check_live() -> Live:
    """The process answers. Touches nothing else."""
    return Live(status="ok")


@router.get(
    "/health/ready",
    operation_id="check_ready",
    responses={**documented(), 503: {"model": Ready, "description": "The database or its schema is not usable"}},
)
async def check_ready(use: Use, response: Response) -> Ready:
    """Requests can be served: the database answers and its schema is the one this version needs.

    A model that fails is named in `checks`, with 200: messages are accepted and found by their words all the same.
    """
    checks = await use.health.checks()
    ok = checks["database"] == "ok" and checks["schema"] == "ok"
    response.status_code = 200 if ok else 503
    return Ready(status="ok" if ok else "failing", checks=dict(checks))


@router.get(
    "/metrics",
    operation_id="get_metrics",
    response_class=PlainTextResponse,
    responses={**documented(), 200: {"description": "Prometheus' text format"}},
)
async def get_metrics(use: Use) -> Response:
    """Numbers for monitoring, of this process and of the database; the latter are missing while it is down."""
    return Response(await use.observation.scrape(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/version", operation_id="get_version", responses=documented())
async def get_version(use: Use) -> Version:
    """What runs here."""
    return Version(**use.health.version())
