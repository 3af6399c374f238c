"""Which statements are worth their room beside the messages they rest on.

A statement cut out of a short message, or one that retells it, takes nearly the room of the message and has fewer of
its words. It pays where it is much shorter; or where its messages were not found, or have no room.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from app.domain.levels import Level
from app.domain.packing import Item
from app.domain.text import count_tokens


@dataclass(frozen=True, slots=True)
class BrevityPolicy:
    """`share`: a statement of more than this share of its messages' tokens stands back for them. 0: all do."""

    share: float = 0.5  # measured with 20 representatives: docs/decisions/0018


DEFAULT = BrevityPolicy()
ANY_LENGTH = BrevityPolicy(share=math.inf)


def brief(
    items: Iterable[Item],
    beside: Iterable[Item],
    policy: BrevityPolicy = DEFAULT,
    count: Callable[[str], int] = count_tokens,
) -> Sequence[Item]:
    """The items, in their order, without the statements that are hardly shorter than the messages they rest on.

    `beside` are the items that can be handed out. A statement stays if any message it rests on is not among them, or
    if it corrects them.
    """
    said = {message: item.text for item in beside if item.level is Level.MESSAGE for message in item.messages}

    def is_long(item: Item) -> bool:
        if item.level is not Level.STATEMENT or item.corrects or any(message not in said for message in item.messages):
            return False
        return count(item.text) > policy.share * sum(count(said[message]) for message in item.messages)

    return [item for item in items if not is_long(item)]
