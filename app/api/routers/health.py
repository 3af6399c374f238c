"""Health and version."""

from fastapi import APIRouter, Response

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.operations import Live, Ready, Version

router = APIRouter(tags=["health"])


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
    """Requests can be served: the database answers and its schema is the one this version needs."""
    checks = await use.health.checks()
    ok = checks["database"] == "ok" and checks["schema"] == "ok"
    response.status_code = 200 if ok else 503
    return Ready(status="ok" if ok else "failing", checks=dict(checks))


@router.get("/version", operation_id="get_version", responses=documented())
async def get_version(use: Use) -> Version:
    """What runs here."""
    return Version(**use.health.version())
