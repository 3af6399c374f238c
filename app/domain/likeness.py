"""Whether two statements say the same in other words, as far as that is certain.

Equal essences do (`Wording.essence`). Beyond them an embedding model must find the texts alike and the words must
not contradict it: a model sees little difference between a left knee and a right one, 5 and 6, likes and dislikes.
So either may add words that tell nothing ("yes", "please write that down"), or use another word of the same
meaning from a short list; any other word that only one of them has makes them different.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from app.domain.stopwords import STOP_WORDS
from app.domain.wording import Wording

THRESHOLDS: Mapping[str, float] = MappingProxyType({"all-minilm-l6-v2": 0.8})
"""The least cosine of two statements that say the same, by embedding model, in lower case and without its owner.

Of all-MiniLM-L6-v2, reworded pairs in tests/dialogues lie between 0.80 and 0.99; so do pairs that differ in a word,
which is why the words decide.
"""
DEFAULT = 0.9

_SYNONYMS = {
    word: group[0]
    for group in (
        ("start", "begin", "commence"),
        ("starts", "begins"),
        ("finish", "end"),
        ("finishes", "ends"),
        ("buy", "purchase"),
        ("bought", "purchased"),
        ("mum", "mom", "mother"),
        ("dad", "father"),
        ("kids", "children"),
        ("kid", "child"),
        ("big", "large"),
        ("tv", "television"),
        ("phone", "telephone"),
        ("photo", "picture"),
        ("movie", "film"),
        ("called", "named"),
        ("flat", "apartment"),
        ("car", "automobile"),
        ("autumn", "fall"),
        ("job", "work"),
    )
    for word in group
}
_WORKS_AS = re.compile(r" (?:work|works|am working|is working) as ")
_EMPTY_LISTING = """
    yes yeah yep lol haha please write down note remember know say said tell told remind again still too also
    well like so much lot always already anyway oh hey right sure indeed of course a an the forget by way am is
    are be have has that this it i me you do did does for in on at to and
    """
_EMPTY = frozenset(_EMPTY_LISTING.split())


def threshold(model: str) -> float:
    """The least cosine from which two statements may be the same, for an embedding model."""
    return THRESHOLDS.get(model.rsplit("/", 1)[-1].lower(), DEFAULT)


def alike(one: Wording, other: Wording, cosine: float, least: float) -> bool:
    """Whether two statements of different essence say the same: they are alike, and no word speaks against it."""
    if cosine < least or one.speaker != other.speaker or sorted(one.times) != sorted(other.times):
        return False
    if one.days != other.days or one.question or other.question:
        return False
    first, second = _telling(one), _telling(other)
    return bool(first) and first == second


def _telling(wording: Wording) -> list[str]:
    """The words that tell something, in order; negations among them, and a picture's words."""
    said = _WORKS_AS.sub(" am ", f" {' '.join(wording.tokens)} ").split()
    words = (_SYNONYMS.get(word, word) for word in said)
    return [word for word in words if word == "not" or (word not in _EMPTY and word not in STOP_WORDS)]
