"""Answering from memory."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from app.api.dependencies import Use
from app.api.presence import Waiting
from app.api.problems import documented
from app.api.schemas.answers import AnswerIn, AnswerOut, AnswerQuery
from app.api.schemas.common import NamespaceName
from app.api.security import Guarded
from app.api.streaming import MEDIA_TYPE, AnswerStream

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["answer"], route_class=Guarded)

EVENT = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
EVENTS = {"description": "Server-sent events", "content": {MEDIA_TYPE: {"schema": EVENT}}}


@router.get("/answer", operation_id="answer_by_query", responses=documented(404, 409, 502))
async def answer_by_query(
    namespace: NamespaceName, query: Annotated[AnswerQuery, Query()], use: Use, client: Waiting
) -> AnswerOut:
    """Answer a question from memory, with citations, or abstain with a reason."""
    answering = use.answering.answer(namespace, query.to_ask(use.default_tokens))
    return AnswerOut.answered(await client.waits_for(answering))


@router.post("/answer", operation_id="answer_question", responses=documented(404, 409, 413, 502))
async def answer_question(namespace: NamespaceName, body: AnswerIn, use: Use, client: Waiting) -> AnswerOut:
    """Answer a question from memory, with citations, or abstain with a reason."""
    answering = use.answering.answer(namespace, body.to_ask(use.default_tokens))
    return AnswerOut.answered(await client.waits_for(answering))


@router.post(
    "/answer/stream",
    operation_id="answer_stream",
    response_class=StreamingResponse,
    responses={200: EVENTS, **documented(404, 409, 413, 502)},
)
async def answer_stream(namespace: NamespaceName, body: AnswerIn, use: Use, client: Waiting) -> StreamingResponse:
    """Answer a question while the client follows, as server-sent events with JSON.

    `evidence`: what `POST …/search` would answer; another one replaces it. `delta`: a piece of the answer, `text` to
    append, after dropping what came before if `restart`; provisional. `final`: what `POST …/answer` answers, verified,
    the only binding one. `error`: a problem document, instead of `final`; one that comes before any evidence is the
    response itself. Lines that begin with a colon only keep the connection open.
    """
    stream = AnswerStream(client)
    return await stream.follow(use.answering.answer(namespace, body.to_ask(use.default_tokens), stream.listener))
