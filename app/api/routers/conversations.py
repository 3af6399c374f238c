"""Messages in, messages out."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from app.api.dependencies import Use
from app.api.idempotency import IdempotencyKey, once, respond
from app.api.problems import documented
from app.api.schemas.common import ConversationName, NamespaceName, Page, PageQuery, encode_cursor
from app.api.schemas.messages import AppendMessages, ConversationOut, IngestedOut, MessageOut
from app.api.schemas.operations import ReceiptOut
from app.api.schemas.retention import RetentionIn
from app.api.security import Guarded
from app.domain.ids import MessageId
from app.services.ingest import Ingested

router = APIRouter(prefix="/v1/namespaces/{namespace}", tags=["conversations"], route_class=Guarded)


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


@router.patch("/conversations/{conversation}", operation_id="update_conversation", responses=documented(404, 413))
async def update_conversation(
    namespace: NamespaceName, conversation: ConversationName, body: RetentionIn, use: Use
) -> ConversationOut:
    """Change how long a conversation's messages are kept, whatever its namespace says."""
    if not body.model_fields_set:
        return ConversationOut.model_validate(await use.memory.conversation(namespace, conversation))
    kept = await use.retention.keep_conversation(namespace, conversation, body.retention())
    return ConversationOut.model_validate(kept)


@router.delete(
    "/conversations/{conversation}", status_code=202, operation_id="delete_conversation", responses=documented(404)
)
async def delete_conversation(namespace: NamespaceName, conversation: ConversationName, use: Use) -> ReceiptOut:
    """Erase a conversation with all that was derived from it. Nothing of it is read from the answer on.

    Its name is free at once; the client's own ids in it stay reserved. The receipt tells when nothing is left of it
    in the database.
    """
    return ReceiptOut.model_validate(await use.forgetting.conversation(namespace, conversation))


@router.get("/messages/{message}", operation_id="get_message", responses=documented(404))
async def get_message(namespace: NamespaceName, message: UUID, use: Use) -> MessageOut:
    """One message."""
    found, conversation = await use.memory.message(namespace, MessageId(message))
    return MessageOut.of(found, conversation)


@router.delete("/messages/{message}", status_code=202, operation_id="delete_message", responses=documented(404))
async def delete_message(namespace: NamespaceName, message: UUID, use: Use) -> ReceiptOut:
    """Erase a message with all that was derived from it. Nothing of it is read from the answer on.

    Its `external_id` stays reserved: sent again it is answered with the status `deleted`. The receipt tells when
    nothing is left of it in the database.
    """
    return ReceiptOut.model_validate(await use.forgetting.message(namespace, MessageId(message)))
