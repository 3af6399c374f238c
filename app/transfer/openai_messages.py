"""Reads messages in the form of OpenAI's chat API: an object a line, or one array of them.

A line is a message, or a conversation with `messages`. A message has `role` and `content`, a text or a list of parts;
it may have `id`, `name`, a time (`occurred_at`, `timestamp`, `created_at`, `created`) and `conversation` (or
`conversation_id`, `thread_id`, `session_id`). Lines without a conversation belong to one, called as the file.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from app.domain.messages import Draft, Image, Role
from app.transfer.chats import Log, Malformed, Unreadable, draft, moment, of_kind, text_of

ROLES: Mapping[str, Role] = {**{role.value: role for role in Role}, "developer": Role.SYSTEM, "function": Role.TOOL}
TIMES = ("occurred_at", "timestamp", "created_at", "created")
CONVERSATIONS = ("conversation", "conversation_id", "thread_id", "session_id")
TEXTS = ("text", "input_text", "output_text")
PICTURES = ("image_url", "input_image")
PICTURE = "a picture"  # a caption: these parts tell of none


def is_one(item: object) -> bool:
    """Whether an item of a file is a message or a conversation of this format."""
    return isinstance(item, dict) and (
        "messages" in item or ("content" in item and ("role" in item or "speaker" in item))
    )


def read(items: list[tuple[str, Any]], stem: str) -> Log:
    """All items of a file, each with its place; `stem` is the file's name without its ending."""
    log = Log()
    chats: dict[str, list[Draft]] = defaultdict(list)
    for number, (place, item) in enumerate(items, 1):
        if isinstance(item, dict) and isinstance(item.get("messages"), list):
            name = text_of(item, *CONVERSATIONS, "id") or f"{stem}-{number}"
            for count, message in enumerate(item["messages"], 1):
                _take(message, name, chats[name], f"{place}, message {count}", log)
        else:
            name = text_of(item, *CONVERSATIONS) or stem
            _take(item, name, chats[name], place, log)
    for name, drafts in chats.items():
        log.add(name, drafts)
    return log


def _take(message: object, name: str, drafts: list[Draft], place: str, log: Log) -> None:
    try:
        found = _message(message, name, len(drafts))
    except Unreadable as error:
        log.malformed.append(Malformed(place, str(error)))
        return
    if found is None:
        log.silent += 1
    else:
        drafts.append(found)


def _message(message: object, conversation: str, number: int) -> Draft | None:
    speaker = text_of(message, "name", "speaker")
    role = ROLES.get("user" if speaker and "role" not in _fields(message) else of_kind(message, "role", str))
    if role is None:
        raise Unreadable("its role is none of user, assistant, system, developer, tool and function")
    content, images = _content(_fields(message).get("content"))
    if not content.strip() and not images:
        return None  # an assistant that only calls tools has no content
    times = (moment(_fields(message).get(key)) for key in TIMES)
    return draft(
        role,
        content,
        text_of(message, "id") or _made_id(conversation, number, role, content),
        next((time for time in times if time is not None), None),
        speaker=speaker,
        images=images,
    )


def _fields(message: object) -> Mapping[str, Any]:
    if not isinstance(message, dict):
        raise Unreadable("it is no object")
    return message


def _content(content: object) -> tuple[str, list[Image]]:
    if content is None or isinstance(content, str):
        return content or "", []
    if not isinstance(content, list):
        raise Unreadable("its content is neither a text nor a list of parts")
    texts = [text_of(part, "text") or "" for part in content if isinstance(part, dict) and part.get("type") in TEXTS]
    pictures = [_image(part) for part in content if isinstance(part, dict) and part.get("type") in PICTURES]
    return "\n\n".join(filter(None, texts)), pictures[:20]


def _image(part: Mapping[str, Any]) -> Image:
    link = part.get("image_url")
    url = text_of(link, "url") if isinstance(link, dict) else link
    is_link = isinstance(url, str) and not url.startswith("data:") and len(url) <= 10_000
    return Image(PICTURE, None, url if is_link else None)


def _made_id(conversation: str, number: int, role: Role, content: str) -> str:
    """For a message without an id: of its place and its words, so that a longer file later finds it again."""
    said = f"{conversation}\n{number}\n{role.value}\n{content}"
    return f"sha256:{hashlib.sha256(said.encode(errors='replace')).hexdigest()}"
