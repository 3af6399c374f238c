"""Themes: browsing them, arranging them anew, taking them elsewhere as a graph."""

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.operations import JobOut
from app.api.schemas.themes import GraphQuery, ThemeOut
from app.api.security import Guarded
from app.domain.ids import ThemeId

GRAPHML = "text/xml"  # the same as application/xml (RFC 7303), and known to client generators; GraphML has none

router = APIRouter(prefix="/v1/namespaces/{namespace}/themes", tags=["themes"], route_class=Guarded)


@router.get("", operation_id="list_themes", responses=documented(404))
async def list_themes(namespace: NamespaceName, page: Annotated[PageQuery, Query()], use: Use) -> Page[ThemeOut]:
    """List themes, oldest first, each with the few statements that are closest to its centre."""
    found = await use.themes.page(namespace, page.after_id(), page.limit)
    full = len(found) == page.limit
    return Page(
        items=[ThemeOut.of(view) for view in found],
        next_cursor=encode_cursor(found[-1].theme.id) if full else None,
    )


@router.get(
    "/export",
    operation_id="export_themes",
    response_class=Response,
    responses={
        **documented(404, 413),
        200: {"content": {GRAPHML: {"schema": {"type": "string"}}}, "description": "GraphML"},
    },
)
async def export_themes(namespace: NamespaceName, query: Annotated[GraphQuery, Query()], use: Use) -> Response:
    """The hierarchy as a GraphML file, for Gephi and others: themes, statements, episodes and how they hang together.

    Nodes have `level`, `label`, `size` (of what they are made of), `text`, `first` and `last` (event time), statements
    also `kind` and `support`; edges have `relation` (contains, cites, in-episode, neighbour) and, between themes,
    `weight`. Node ids are those of the API. 413 if there may be more than 50,000 nodes and edges.
    """
    document = await use.theme_graph.graphml(namespace, query.levels)
    name = f"attachment; filename*=UTF-8''{quote(namespace, safe='')}-themes.graphml"
    return Response(document, media_type=GRAPHML, headers={"Content-Disposition": name})


@router.post("/rebuild", status_code=202, operation_id="rebuild_themes", responses=documented(404))
async def rebuild_themes(namespace: NamespaceName, use: Use) -> JobOut:
    """Arrange all statements in themes anew, as if they had come at once.

    Answered with the job that does it; while one waits or runs, with that one. Until its last moment the themes stay
    as they are. A new theme keeps the id of the one that it shares most statements with. The job's `result` tells how
    much moved, and what that gained.
    """
    return JobOut.of(await use.themes.order_rebuild(namespace))


@router.get("/{theme}", operation_id="get_theme", responses=documented(404))
async def get_theme(namespace: NamespaceName, theme: UUID, use: Use) -> ThemeOut:
    """One theme: all that is in it, what is near it, where it came from and why.

    404 also for a theme that has ended; the problem's detail names the one that took in its statements.
    """
    return ThemeOut.of(await use.themes.get(namespace, ThemeId(theme)))
