"""English words that say nothing about what a text is about. Negations are not among them: they do."""

from collections.abc import Iterable

_LISTING = """
    a about after again all also am an and any are as at be because been before being both but by can could
    did do does doing done eg etc for from had has have having he her here hers herself him himself his how
    i ie if in into is it its itself just let lets me more most my myself of off on once only or other our
    ours ourselves out over own same shall she should so some such than that the their theirs them themselves
    then there these they this those through to too under until up very was we were what when where
    which while who whom whose why will with would you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_LISTING.split())
ENGLISH_SHARE = 0.2  # of them among the words: below it a text is hardly English


def is_english(texts: Iterable[str]) -> bool:
    """Whether texts read like English: many of their words are its commonest."""
    words = [word for text in texts for word in text.lower().split()]
    return sum(word in STOP_WORDS for word in words) >= ENGLISH_SHARE * max(1, len(words))
