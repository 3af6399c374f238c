"""Messages in, messages out."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import Use
from app.api.idempotency import IdempotencyKey, once, respond
from app.api.problems import documented
from app.api.schemas.common import ConversationName, NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.messages import AppendMessages, ConversationOut, IngestedOut, MessageOut
from app.domain.ids import MessageId
from app.services.ingest import Ingested

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["conversations"])


@router.post(
    "/conversations/{conversation}/messages",
    status_code=202,
    response_model=IngestedOut,
    operation_id="append_messages",
    responses=documented(409, 413),
)
async def append_messages(
    namespace: NamespaceName,
    conversation: ConversationName,
    body: AppendMessages,
    use: Use,
    request: Request,
    key: IdempotencyKey = None,
) -> IngestedOut | Response:
    """Append messages to a conversation.

    The namespace and the conversation come into being on first use. 202 means that the messages are durable,
    together with the job that will work on them; episodes, statements and themes follow in the background.
    """
    drafts = [message.to_draft() for message in body.messages]

    def write(ingested: Ingested) -> IngestedOut:
        return IngestedOut.of(namespace, conversation, ingested)

    if key is None:
        return write(await use.ingest.append(namespace, conversation, drafts))
    return respond(await use.ingest.append_once(namespace, conversation, drafts, once(key, request, body, 202, write)))


@router.get("/conversations", operation_id="list_conversations", responses=documented(404))
async def list_conversations(
    namespace: NamespaceName, page: Annotated[PageQuery, Query()], use: Use
) -> Page[ConversationOut]:
    """List conversations, oldest first."""
    found = await use.memory.conversations(namespace, page.after_id(), page.limit)
    items = [ConversationOut.model_validate(conversation) for conversation in found]
    full = len(found) == page.limit
    return Page(items=items, next_cursor=encode_cursor(found[-1].id) if full else None)


@router.get("/conversations/{conversation}/messages", operation_id="list_messages", responses=documented(404))
async def list_messages(
    namespace: NamespaceName, conversation: ConversationName, page: Annotated[PageQuery, Query()], use: Use
) -> Page[MessageOut]:
    """List a conversation's messages in their order."""
    found = await use.memory.messages(namespace, conversation, page.after_number(), page.limit)
    full = len(found) == page.limit
    return Page(
        items=[MessageOut.of(message, conversation) for message in found],
        next_cursor=encode_cursor(found[-1].sequence) if full else None,
    )


@router.get("/messages/{message}", operation_id="get_message", responses=documented(404))
async def get_message(namespace: NamespaceName, message: UUID, use: Use) -> MessageOut:
    """One message."""
    found, conversation = await use.memory.message(namespace, MessageId(message))
    return MessageOut.of(found, conversation)
