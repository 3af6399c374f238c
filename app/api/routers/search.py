"""Searching memory."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.dependencies import Use
from app.api.presence import Waiting
from app.api.problems import documented
from app.api.schemas.common import NamespaceName
from app.api.schemas.reading import SearchIn, SearchOut, SearchQuery
from app.api.security import Guarded

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["search"], route_class=Guarded)


@router.get("/search", operation_id="search_by_query", responses=documented(404, 409, 502))
async def search_by_query(
    namespace: NamespaceName, query: Annotated[SearchQuery, Query()], use: Use, client: Waiting
) -> SearchOut:
    """Find what is known about something, within a budget of tokens."""
    return SearchOut.of(await client.waits_for(use.search.search(namespace, query.to_ask(use.default_tokens))))


@router.post("/search", operation_id="search_memory", responses=documented(404, 409, 413, 502))
async def search_memory(namespace: NamespaceName, body: SearchIn, use: Use, client: Waiting) -> SearchOut:
    """Find what is known about something, within a budget of tokens."""
    return SearchOut.of(await client.waits_for(use.search.search(namespace, body.to_ask(use.default_tokens))))
