"""Statements: listing, history, bringing, correcting and deleting them."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import Use
from app.api.idempotency import IdempotencyKey, once, respond
from app.api.problems import documented
from app.api.schemas.common import NamespaceName, Page, encode_cursor
from app.api.schemas.statements import (
    AddedOut,
    AddStatements,
    CorrectStatement,
    HistoryOut,
    StatementOut,
    StatementsQuery,
)
from app.api.security import Guarded
from app.domain.ids import StatementId
from app.domain.replies import Reply
from app.services.editing import Decided

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["memory"], route_class=Guarded)


@router.get("/statements", operation_id="list_statements", responses=documented(404))
async def list_statements(
    namespace: NamespaceName, query: Annotated[StatementsQuery, Query()], use: Use
) -> Page[StatementOut]:
    """List current statements, oldest first; `include=superseded` lists history too, `as_of` reads the past."""
    found = await use.memory.statements(
        namespace, query.after_id(), query.limit, superseded=query.include == "superseded", as_of=query.as_of
    )
    full = len(found) == query.limit
    return Page(
        items=[StatementOut.of(cited) for cited in found],
        next_cursor=encode_cursor(found[-1].statement.id) if full else None,
    )


@router.post("/statements", response_model=AddedOut, operation_id="add_statements", responses=documented(404, 409, 413))
async def add_statements(
    namespace: NamespaceName, body: AddStatements, use: Use, request: Request, key: IdempotencyKey = None
) -> AddedOut | Response:
    """Add the client's own statements, through the same rule as all others.

    Each must cite messages that exist and that carry its words. What is known already is reinforced; what says
    something else of the same matter takes the older one's place, by event time.
    """

    def shown(decided: Sequence[Decided]) -> AddedOut:
        return AddedOut.of(list(decided))

    claimed = [one.claimed() for one in body.statements]
    kept = None if key is None else once(key, request, body, 200, shown)
    result = await use.editing.claim(namespace, claimed, kept)
    return respond(result) if isinstance(result, Reply) else shown(result)


@router.get("/statements/{statement}", operation_id="get_statement", responses=documented(404))
async def get_statement(namespace: NamespaceName, statement: UUID, use: Use) -> StatementOut:
    """One statement, current or not."""
    return StatementOut.of(await use.memory.statement(namespace, StatementId(statement)))


@router.patch("/statements/{statement}", operation_id="correct_statement", responses=documented(404, 413))
async def correct_statement(
    namespace: NamespaceName, statement: UUID, body: CorrectStatement, use: Use
) -> StatementOut:
    """Correct a current statement: a new version takes its place, the old one stays in its history.

    The new version has an id of its own and the origin `user`: nothing that is drawn from messages ends it.
    """
    return StatementOut.of(await use.editing.correct(namespace, StatementId(statement), body.text))


@router.delete("/statements/{statement}", status_code=204, operation_id="delete_statement", responses=documented(404))
async def delete_statement(namespace: NamespaceName, statement: UUID, use: Use, response: Response) -> None:
    """Delete a statement and the versions that it corrected. What it had superseded holds again.

    The messages that it rested on stay, and nothing more is drawn from them. `Location` names the receipt, which tells
    when nothing is left of it in the database.
    """
    receipt = await use.editing.remove(namespace, StatementId(statement))
    response.headers["Location"] = f"/v1/receipts/{receipt.id}"


@router.get("/statements/{statement}/history", operation_id="get_statement_history", responses=documented(404))
async def get_statement_history(namespace: NamespaceName, statement: UUID, use: Use) -> HistoryOut:
    """All versions of a statement: what it took the place of and what took its place, in the order they held."""
    return HistoryOut(
        items=[StatementOut.of(one) for one in await use.memory.history(namespace, StatementId(statement))]
    )
