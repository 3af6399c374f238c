"""What may stay of a statement when messages that it rested on are erased."""

from collections.abc import Collection

from app.domain.backing import JOINING, Backing
from app.domain.ids import MessageId
from app.domain.records import Origin, Statement
from app.domain.text import terms

REDRAWN = frozenset((Origin.EXTRACTIVE, Origin.MODEL))
"""Whose statements can be drawn again from the messages that are left: what people brought cannot."""


def may_stay(statement: Statement, erased: Collection[MessageId], backing: Backing) -> bool:
    """Whether a statement's text may stay on the strength of the messages that it still cites.

    It may not if it holds a word of the erased ones that the others do not have, or if the others do not carry it.

    Args:
        statement: with the messages that it still cites.
        erased: those that it cited besides.
        backing: all of these messages.
    """
    if not statement.messages:
        return False
    lost = backing.words(erased) - backing.words(statement.messages) - JOINING
    if not lost.isdisjoint(terms(statement.text)):
        return False
    quotes_or_is_the_users = statement.origin in (Origin.EXTRACTIVE, Origin.USER)
    return quotes_or_is_the_users or backing.carries(statement.text, statement.messages)
