"""Keys and the audit log, for administrators."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import Page, PageQuery, encode_cursor
from app.api.schemas.keys import AuditEntryOut, AuditQuery, CreatedKeyOut, CreateKey, KeyOut
from app.api.security import Guarded

router = APIRouter(prefix="/v1", tags=["keys"], route_class=Guarded)


@router.post("/keys", status_code=201, operation_id="create_key", responses=documented(413))
async def create_key(body: CreateKey, use: Use, response: Response) -> CreatedKeyOut:
    """Make a key. Its text is shown in this answer and never again."""
    key, text = await use.keys.create(body.name, frozenset(body.scopes), body.namespaces, body.expires_at)
    response.headers["Cache-Control"] = "no-store"
    return CreatedKeyOut.of(key, key=text)


@router.get("/keys", operation_id="list_keys", responses=documented())
async def list_keys(page: Annotated[PageQuery, Query()], use: Use) -> Page[KeyOut]:
    """List keys, oldest first, also those that expired or were revoked."""
    found = await use.keys.page(page.after_id(), page.limit)
    full = len(found) == page.limit
    return Page(items=[KeyOut.of(key) for key in found], next_cursor=encode_cursor(found[-1].id) if full else None)


@router.delete("/keys/{key}", status_code=204, operation_id="revoke_key", responses=documented(404))
async def revoke_key(key: UUID, use: Use) -> None:
    """Revoke a key: it opens nothing from now on, on every replica. Safe to repeat; it stays listed."""
    await use.keys.revoke(key)


@router.get("/audit", operation_id="list_audit", responses=documented())
async def list_audit(query: Annotated[AuditQuery, Query()], use: Use) -> Page[AuditEntryOut]:
    """List what was done, newest first: keys made and revoked, deletions, exports, other acts of administrators.

    Also what a valid key was refused of these. No line holds memory text.
    """
    found = await use.audit.page(query.after_id(), query.limit, query.namespace)
    full = len(found) == query.limit
    return Page(
        items=[AuditEntryOut.of(one) for one in found], next_cursor=encode_cursor(found[-1].id) if full else None
    )
