"""Namespaces and receipts."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.operations import NamespaceOut, ReceiptOut, ReembedIn, ReembedOut, StatusOut
from app.api.schemas.retention import RetentionIn
from app.api.security import Guarded, Who
from app.domain.errors import NotFound

router = APIRouter(prefix="/v1", tags=["namespaces"], route_class=Guarded)


@router.get("/namespaces", operation_id="list_namespaces", responses=documented())
async def list_namespaces(page: Annotated[PageQuery, Query()], use: Use, who: Who) -> Page[NamespaceOut]:
    """List the namespaces that the key opens, oldest first."""
    found = await use.namespaces.page(page.after_id(), page.limit, who)
    full = len(found) == page.limit
    return Page(
        items=[NamespaceOut.model_validate(namespace) for namespace in found],
        next_cursor=encode_cursor(found[-1].id) if full else None,
    )


@router.get("/namespaces/{namespace}", operation_id="get_namespace", responses=documented(404))
async def get_namespace(namespace: NamespaceName, use: Use) -> NamespaceOut:
    """One namespace."""
    return NamespaceOut.model_validate(await use.namespaces.get(namespace))


@router.get("/namespaces/{namespace}/status", operation_id="get_status", responses=documented(404))
async def get_status(namespace: NamespaceName, use: Use) -> StatusOut:
    """What is in a namespace, and how far its background work is."""
    return StatusOut.of(await use.namespaces.status(namespace))


@router.post(
    "/namespaces/{namespace}/reembed",
    status_code=202,
    operation_id="reembed_namespace",
    responses={**documented(404, 409, 413), 200: {"model": ReembedOut, "description": "Nothing to do"}},
)
async def reembed_namespace(
    namespace: NamespaceName, use: Use, response: Response, body: ReembedIn | None = None
) -> ReembedOut:
    """Give a namespace the vectors of another embedding model that the service is configured for.

    202 with the job that does it; 200 if it has them already. Until its last moment the namespace is read with the
    vectors that it has. Safe to repeat: a job that is at work is not doubled, one that failed is taken up where it was.
    """
    ordered = await use.reembedding.order(namespace, (body or ReembedIn()).profile)
    response.status_code = 200 if ordered.job is None else 202
    return ReembedOut.model_validate(ordered)


@router.patch("/namespaces/{namespace}", operation_id="update_namespace", responses=documented(404, 413))
async def update_namespace(namespace: NamespaceName, body: RetentionIn, use: Use) -> NamespaceOut:
    """Change how long messages are kept. Those whose time is over are erased in the background, soon after.

    The time counts from when a message was received. A conversation may have a time of its own.
    """
    if not body.model_fields_set:
        return NamespaceOut.model_validate(await use.namespaces.get(namespace))
    return NamespaceOut.model_validate(await use.retention.keep_namespace(namespace, body.retention()))


@router.delete("/namespaces/{namespace}", status_code=202, operation_id="delete_namespace", responses=documented(404))
async def delete_namespace(namespace: NamespaceName, use: Use) -> ReceiptOut:
    """Erase a namespace. It is hidden and its name free at once; the receipt tells when its rows are gone."""
    return ReceiptOut.model_validate(await use.forgetting.retire(namespace))


@router.get("/receipts/{receipt}", operation_id="get_receipt", responses=documented(404))
async def get_receipt(receipt: UUID, use: Use, who: Who) -> ReceiptOut:
    """How far an erasure is. 404 also for one in a namespace that the key does not open."""
    found = await use.forgetting.receipt(receipt)
    if not who.covers(found.namespace):
        raise NotFound("no such receipt")
    return ReceiptOut.model_validate(found)
