"""Lists: short entries that are alike, each with something new, from as many messages as have one.

The rules are English. What they are worth: docs/reader.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain import things
from app.domain.ids import MessageId
from app.domain.phrases import Phrase, Sort, Word, after, stems
from app.domain.questions import Question
from app.domain.support import Supported
from app.domain.text import terms
from app.domain.verbs import base
from app.domain.wanted import Wanted, want
from app.domain.whereabouts import PLACE, is_new

LOOKED_AT = 40  # sentences; what belongs to a list stands in few of the question's words
FIRST = 0.6  # share of the best sentence's support from which one gives the first entry
LISTED = 0.5  # the same for further ones; at 0.6 word F1 of lists is .003 to .006 lower
ITEMS = 5  # entries at most

ARTICLES = ("a ", "an ", "the ")
_SUBJECTS = frozenset(("i", "we", "i've", "we've", "i'm", "we're", "i'd", "we'd"))


def _stems(listed: str) -> frozenset[str]:
    return frozenset(base(term) for word in listed.split() for term in terms(word))


_PLACES = _stems("cities countries states towns villages places locations regions continents areas destinations")
_DEEDS = _stems("activities hobbies events things ways exercises sports trips adventures plans steps pastimes")
_MINDS = _stems("""
    think know feel hope wish guess mean believe agree understand appreciate remember hear look see say tell bet need
    want seem
""")  # verbs whose object is nothing that somebody does
_VAGUE = _stems("""
    new great good fun favorite favourite own few various different certain awesome amazing best some other several cool
    nice interesting exciting special many more most big little old lovely beautiful must gorgeous visit
    time stuff thing lot bit way kind type sort everything something anything one day today life part
""")  # words that say nothing of what a thing is


def entries(question: Question, speakers: Sequence[str], ranked: Sequence[Supported]) -> list[tuple[str, Supported]]:
    """The entries and the sentences they stand in, best first; none if no rule finds one. `ranked`: best first."""
    wanted, told = want(question), set(question.words)
    picks: dict[MessageId, tuple[str, Supported]] = {}
    named: bool | None = None
    for sentence in ranked[:LOOKED_AT]:
        message, least = sentence.passage.message.id, LISTED if picks else FIRST
        if message in picks or sentence.support < least * ranked[0].support:
            continue
        entry = _entry(_Looked(question, wanted, speakers, sentence.text, things.undated(sentence.text)))
        fresh = set(terms(entry)) - told
        if not fresh or (named is not None and named is not _is_name(entry, sentence.text)):
            continue
        named = _is_name(entry, sentence.text)
        picks[message] = entry, sentence
        told |= fresh
    return list(picks.values())[:ITEMS]


@dataclass(frozen=True, slots=True)
class _Looked:
    """A sentence with its words, and what is looked for in it."""

    question: Question
    wanted: Wanted
    speakers: Sequence[str]
    text: str
    found: Sequence[Word]

    def told_by(self, phrase: Phrase | None) -> str:
        """The phrase's words, if they say what something is, and not what was asked."""
        return self.telling("" if phrase is None else phrase.text(self.text, self.found))

    def telling(self, entry: str) -> str:
        """`entry` without its article; empty if it says nothing."""
        says = set(map(base, terms(entry))) - self.wanted.known - _VAGUE
        return next((entry[len(a) :] for a in ARTICLES if entry.lower().startswith(a)), entry) if says else ""


def _entry(looked: _Looked) -> str:
    """By the first rule that has one; empty if none has."""
    if looked.wanted.thing & _PLACES:
        return _place(looked)
    return next(filter(None, (rule(looked) for rule in _RULES)), "")


def _place(looked: _Looked) -> str:
    """Of "which cities": a name after "in" or "to"."""
    names = (name[1] for name in PLACE.finditer(looked.text))
    return looked.telling(next((name for name in names if is_new(looked.question, name, looked.speakers)), ""))


def _thing(looked: _Looked) -> str:
    """What answers a question for one thing."""
    return looked.telling(things.find(looked.question, looked.text, looked.speakers) or "")


def _deed(looked: _Looked) -> str:
    """Of "which activities": what the speaker does something to, as in "I signed up for a pottery class"."""
    if not (looked.wanted.any_deed or looked.wanted.thing & _DEEDS):
        return ""
    found = looked.found
    for at, word in enumerate(found):
        if word.text.lower().replace("’", "'") not in _SUBJECTS:
            continue
        verb = at + 1
        while verb < len(found) and found[verb].sort in (Sort.ADVERB, Sort.AUXILIARY):
            verb += 1
        if verb < len(found) and found[verb].sort is Sort.CONTENT and not found[verb].stems & _MINDS:
            phrase = after(found, verb + 1)
            if phrase is not None and phrase.first <= verb + 4 and (entry := looked.told_by(phrase)):
                return entry
    return ""


def _side(looked: _Looked) -> str:
    """Of "what are her goals": the other side of "my goal is …"."""
    wanted, found = looked.wanted, looked.found
    asked = wanted.thing or next(iter(wanted.deeds), frozenset())
    if not wanted.being or not asked:
        return ""
    for at, word in enumerate(found):
        if word.text.lower().replace("’", "'") in things.BEING:
            before, behind = things.sides(found, at)
            if stems(found, before) & asked:
                return looked.told_by(after(found, at + 1))
            if stems(found, behind) & asked:
                return looked.told_by(after(found, before.first, at))
    return ""


_Rule: TypeAlias = Callable[[_Looked], str]
_RULES: tuple[_Rule, ...] = (_thing, _deed, _side)


def _is_name(entry: str, sentence: str) -> bool:
    """Whether an entry is a name or a title; a capital at the beginning of a sentence tells only with others."""
    if entry[0] in '"“':
        return True
    begins = sentence.startswith(entry) or sentence.lower().startswith(tuple(f"{a}{entry.lower()}" for a in ARTICLES))
    capitals = [word[0].isupper() for word in entry.split()]
    return capitals[0] and not (begins and len(capitals) > 1 and not capitals[1])
