"""Reads ChatGPT's data export (conversations.json): trees of messages, of which one branch is what was shown last.

Read is the branch that ends in `current_node`; other branches are answers that were asked for again, or questions that
were written anew. What user and assistant say to each other is kept; calls of tools and what they return, hidden
instructions and thoughts are counted as silent. Pictures are known by what they were made from, if that is told.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.messages import Draft, Image, Role
from app.transfer.chats import Log, Malformed, Unreadable, draft, moment, of_kind, text_of

SPEAKERS: Mapping[str, Role] = {"user": Role.USER, "assistant": Role.ASSISTANT}
SAID = ("text", "multimodal_text")  # kinds of content that somebody said
PICTURE = "a picture"  # the caption of one of which nothing is told


def is_one(item: object) -> bool:
    """Whether an item of a file is a conversation of this format."""
    return isinstance(item, dict) and "mapping" in item


def read(document: list[Any]) -> Log:
    """All conversations of a file."""
    log = Log()
    for number, item in enumerate(document, 1):
        place = f"conversation {number}"
        try:
            name = _name(item)
            branch = list(_branch(of_kind(item, "mapping", dict), item.get("current_node")))
        except Unreadable as error:
            log.malformed.append(Malformed(place, str(error)))
        else:
            log.add(name, list(_messages(branch, moment(item.get("create_time")), place, log)))
    return log


def _name(item: object) -> str:
    name = text_of(item, "conversation_id", "id")
    if name is None:
        raise Unreadable("it has no id")
    return name


def _branch(nodes: Mapping[str, Any], last: object) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one."""
    if not isinstance(last, str) or last not in nodes:
        last = _newest_leaf(nodes)
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(last, str):
        if last in seen:
            raise Unreadable("its messages run in a circle")
        seen.add(last)
        node = nodes.get(last)
        if not isinstance(node, dict):
            raise Unreadable("a message that others follow is missing")
        branch.append(node)
        last = node.get("parent")
    return branch[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in nodes.items() if isinstance(node, dict) and not node.get("children")]
    return max(leaves, key=lambda name: (_time(nodes[name].get("message")), name), default=None)


def _time(message: object) -> float:
    value = message.get("create_time") if isinstance(message, dict) else None
    return float(value) if isinstance(value, int | float) else 0.0


def _messages(branch: list[Mapping[str, Any]], begun: Any, place: str, log: Log) -> Iterator[Draft]:  # noqa: ANN401
    before = begun
    for number, node in enumerate(branch, 1):
        message = node.get("message")
        if message is None:
            continue  # the root
        try:
            role = _role(message)
            if role is None:
                log.silent += 1
                continue
            before = moment(message.get("create_time")) or before
            content, images = _content(of_kind(message, "content", dict))
            if not content.strip() and not images:
                log.silent += 1
                continue
            yield draft(role, content, of_kind(message, "id", str), before, images=images)
        except Unreadable as error:
            log.malformed.append(Malformed(f"{place}, message {number}", str(error)))


def _role(message: object) -> Role | None:
    """Whose words these are; None if nobody said them to the other."""
    role = of_kind(of_kind(message, "author", dict), "role", str)
    kind = of_kind(of_kind(message, "content", dict), "content_type", str)
    assert isinstance(message, dict)
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    to_all = message.get("recipient") in (None, "all")
    return SPEAKERS.get(role) if kind in SAID and to_all and not hidden else None


def _content(content: Mapping[str, Any]) -> tuple[str, list[Image]]:
    texts: list[str] = []
    images: list[Image] = []
    for part in of_kind(content, "parts", list):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("content_type") == "image_asset_pointer":
            images.append(_image(part))
        elif (heard := text_of(part, "text")) is not None:  # what a voice said
            texts.append(heard)
    return "\n\n".join(text for text in texts if text.strip()), images[:20]


def _image(part: Mapping[str, Any]) -> Image:
    metadata = part.get("metadata")
    made = metadata.get("dalle") if isinstance(metadata, dict) else None
    return Image(text_of(made, "prompt") or PICTURE, None, text_of(part, "asset_pointer"))
