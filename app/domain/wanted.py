"""What a what-question wants: a thing of a kind ("which book"), a name, the object of a verb, how something is."""

import re
from dataclasses import dataclass

from app.domain.phrases import Sort, Word, words
from app.domain.questions import AUXILIARY, Question
from app.domain.text import terms
from app.domain.verbs import base

_KIND_OF = re.compile(r"\b(what|which) (?:kind|type|sort)s? of\b", re.IGNORECASE)
_THING = re.compile(
    rf"\b(?:what|which)\s+(?!{AUXILIARY})(?!of\b)(.{{1,60}}?)\s+(?:{AUXILIARY}|for\b|that\b)", re.IGNORECASE
)
_NAME = re.compile(
    r"\bnames? of\b|\bnames?\W*$|['’]s? names?\b|\bwhat (?:is|was|are|were) .*\b(?:named|called)\b"
    r"|\b(?:named|called)\W*$",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow\b", re.IGNORECASE)
_BEING = re.compile(
    r"\b(?:what|which)\b.{0,80}?(?:\b(?:is|are|was|were)\b|['’]s\b)(?!\s+\S+\s+(?:\w+ly\s+)?\w+ing\b)", re.IGNORECASE
)
_AFTER = re.compile(rf"\b(?:what|which|how)\b.{{0,80}}?\b{AUXILIARY}(.+)", re.IGNORECASE | re.DOTALL)
_ANY_DEED = frozenset({"do", "does", "did", "done", "doing"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """All stems of words (`phrases.Word.stems`).

    `thing`: the noun after what or which, `known`: every word of the question, names included; `deeds`: the words
    after the auxiliary, in order, the verb among the first; `any_deed`: it asks what somebody does; `name`, `how`,
    `being`: it asks for a name, how something is, what something is.
    """

    thing: frozenset[str]
    known: frozenset[str]
    deeds: tuple[frozenset[str], ...]
    any_deed: bool
    name: bool
    how: bool
    being: bool


def want(question: Question) -> Wanted:
    """Read what a question wants. Of a question that is not English little is found."""
    text = _KIND_OF.sub(r"\1", question.text)
    thing, asked = _THING.search(text), _AFTER.search(text)
    following = words(asked[1]) if asked else []
    of_names = {term for name in question.names for term in terms(name)}
    deeds = tuple(w.stems for w in following if w.sort is Sort.CONTENT and w.stems and not w.stems <= of_names)
    return Wanted(
        thing=_head(words(thing[1])) if thing else frozenset(),
        known=frozenset(map(base, terms(question.text))),
        deeds=deeds,
        any_deed=any(word.text.lower() in _ANY_DEED for word in following),
        name=bool(_NAME.search(question.text)),
        how=bool(_HOW.match(question.text)),
        being=bool(_BEING.search(question.text)),
    )


def _head(found: list[Word]) -> frozenset[str]:
    """The noun of "new activity", "gift of hers": the last content word before any small word."""
    head: frozenset[str] = frozenset()
    for word in found:
        if word.sort is Sort.CONTENT:
            head = word.stems
        elif head:
            break
    return head
