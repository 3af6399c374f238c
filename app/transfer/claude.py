"""Reads Claude's data export (conversations.json): conversations, each a list of `chat_messages`.

Of a message the blocks of text are kept, and what was extracted from attached files, which may be a long text that was
pasted. Calls of tools, their results and thoughts are not said by anyone; a message of nothing else counts as silent.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.messages import Draft, Role
from app.transfer.chats import Log, Malformed, Unreadable, draft, moment, of_kind, text_of

SPEAKERS: Mapping[str, Role] = {"human": Role.USER, "assistant": Role.ASSISTANT}


def is_one(item: object) -> bool:
    """Whether an item of a file is a conversation of this format."""
    return isinstance(item, dict) and "chat_messages" in item


def read(document: list[Any]) -> Log:
    """All conversations of a file."""
    log = Log()
    for number, item in enumerate(document, 1):
        place = f"conversation {number}"
        try:
            name, told = of_kind(item, "uuid", str), of_kind(item, "chat_messages", list)
        except Unreadable as error:
            log.malformed.append(Malformed(place, str(error)))
        else:
            log.add(name, list(_messages(told, place, log)))
    return log


def _messages(told: list[Any], place: str, log: Log) -> Iterator[Draft]:
    for number, message in enumerate(told, 1):
        try:
            role = _role(message)
            content = "\n\n".join([*_texts(message), *_attached(message)])
            if not content.strip():
                log.silent += 1
                continue
            yield draft(role, content, of_kind(message, "uuid", str), moment(message.get("created_at")))
        except Unreadable as error:
            log.malformed.append(Malformed(f"{place}, message {number}", str(error)))


def _role(message: object) -> Role:
    role = SPEAKERS.get(of_kind(message, "sender", str))
    if role is None:
        raise Unreadable("its sender is neither human nor assistant")
    return role


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    """The blocks of text; older exports have the text alone."""
    blocks = message.get("content")
    if not isinstance(blocks, list) or not blocks:
        yield text_of(message, "text") or ""
        return
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "text":
            yield text_of(block, "text") or ""


def _attached(message: Mapping[str, Any]) -> Iterator[str]:
    files = message.get("attachments")
    for file in files if isinstance(files, list) else ():
        content = text_of(file, "extracted_content")
        if content is not None:
            name = text_of(file, "file_name")
            yield f"{name}:\n{content}" if name else content
