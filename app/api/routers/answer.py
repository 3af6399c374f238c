"""Answering from memory."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.dependencies import Use
from app.api.problems import documented
from app.api.schemas.common import NamespaceName
from app.api.schemas.reading import AnswerIn, AnswerOut, AnswerQuery

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["answer"])


@router.get("/answer", operation_id="answer_by_query", responses=documented(404, 409, 502))
async def answer_by_query(namespace: NamespaceName, query: Annotated[AnswerQuery, Query()], use: Use) -> AnswerOut:
    """Answer a question from memory, with citations, or abstain with a reason."""
    return AnswerOut.answered(await use.answering.answer(namespace, query.to_ask(use.default_tokens)))


@router.post("/answer", operation_id="answer_question", responses=documented(404, 409, 413, 502))
async def answer_question(namespace: NamespaceName, body: AnswerIn, use: Use) -> AnswerOut:
    """Answer a question from memory, with citations, or abstain with a reason."""
    return AnswerOut.answered(await use.answering.answer(namespace, body.to_ask(use.default_tokens)))
