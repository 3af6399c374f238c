"""Whether an English word names a thing or tells what one does or is like, guessed from the words beside it.

A guess from closed classes of words only, for choosing what makes a good label: nothing depends on its being right.
Text in other languages has hardly any role, for few of these words are in it.
"""

from enum import Enum

from app.domain.verbs import is_past


class Role(Enum):
    """What a word does in its sentence."""

    THING = "thing"
    TELLING = "telling"  # a verb, or an adjective or adverb by itself
    UNKNOWN = "unknown"


_THINGS_FOLLOW = """
    a about an and another any at by during each every for from her his in into its my near no of on our over some
    than that the their these this those through under with without your
"""
_TELLING_FOLLOWS = """
    am are be been being can cannot could did didn't do does doesn't don't feel feels had has have he i i'd i'll i'm
    i've is it it's let let's may might must not please quite she should so they they're they've to too very was
    we we'd we'll we're we've were who will won't would you you'd you'll you're you've
"""
_BEFORE_THINGS = frozenset(_THINGS_FOLLOW.split())
_BEFORE_TELLING = frozenset(_TELLING_FOLLOWS.split())
_ASKING = frozenset(("am", "are", "can", "could", "did", "do", "does", "had", "has", "have", "is", "was", "will"))
_NO_ADVERBS = frozenset(("assembly", "belly", "butterfly", "family", "fly", "jelly", "reply", "supply"))


def role(word: str, before: str, *, initial: bool, after_name: bool) -> Role:
    """The role of a word; of one with a capital, which may be a name, UNKNOWN.

    Args:
        word: as it is written.
        before: the word right before it, in lower case; empty if there is none.
        initial: it is the first of its sentence.
        after_name: the name of somebody who does something is right before it.
    """
    if is_past(word) and (initial or word.islower()):
        return Role.TELLING
    if not word.islower() or not word.isascii():
        return Role.UNKNOWN
    if after_name or (word.endswith("ly") and word not in _NO_ADVERBS):
        return Role.TELLING
    if before in _BEFORE_TELLING:
        plural = before == "to" and word.endswith("s")  # "allergic to walnuts"; an infinitive hardly ends so
        return Role.THING if plural else Role.TELLING
    return Role.THING if before in _BEFORE_THINGS else Role.UNKNOWN


def asks(before: str) -> bool:
    """Whether a name after this word is followed by what its bearer does: `Did Miso survive`."""
    return before in _ASKING
