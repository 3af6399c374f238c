"""Reading a question: what kind of thing it asks for, whom it names, which dates and words it carries.

A question is read once, before the search; the reader and the answer both work from the result. The cues
are English, German, Chinese and Japanese; a question in any other language, or in none, is a plain `what` with its
words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain import question_words
from app.domain.dates import When, resolve
from app.domain.phrasing import phrasing, small_words
from app.domain.text import content_words, terms


class Asks(StrEnum):
    """The kind of thing that would answer a question."""

    WHEN = "when"
    WHO = "who"
    WHERE = "where"
    HOW_MANY = "how_many"  # also how much, how often, how old
    HOW_LONG = "how_long"
    YES_NO = "yes_no"
    WHICH = "which"  # one of several, named in the question or not
    WHY = "why"
    LIST = "list"  # several things, probably from several messages
    WHAT = "what"  # everything else


@dataclass(frozen=True, slots=True)
class Question:
    """A question that was read.

    `names` are speakers of the namespace, spelled as there; `dates` are resolved against the moment of
    asking; `words` are its distinct index terms (`text.terms`), without those of names and dates.
    """

    text: str
    asks: Asks
    names: tuple[str, ...]
    dates: tuple[When, ...]
    words: tuple[str, ...]


def read(text: str, speakers: Sequence[str], asked_at: datetime) -> Question:
    """Read a question. `speakers` are the namespace's; `asked_at` is aware. Never raises on any text."""
    names = named(text, speakers)
    dates = tuple(resolve(text, asked_at))
    passed_over = small_words(phrasing(text).language).union(*(terms(name) for name in names))
    words = dict.fromkeys(term for term in terms(_matter(text, dates)) if term not in passed_over)
    return Question(text, kind(text), names, dates, tuple(words))


def _matter(text: str, dates: Sequence[When]) -> str:
    """The text without its date phrases and what only shapes a question: answers seldom repeat either."""
    for start, end in sorted((date.span for date in dates), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return SHAPE.sub(" ", text)


SHAPE = re.compile(
    r"\bhow (?:long(?: ago)?|many(?: times)?|much|often|old|tall|far|big|frequently)\b"
    r"|\b(?:what|which) (?:(?:kind|type|sort)s? of|year|month|date|day|week|season)\b"
    r"|\b(?:answer )?yes or no\b",
    re.IGNORECASE,
)


# What is asked for -------------------------------------------------------------------------------------

AUXILIARY = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)"
    r"(?:n't|nt)?\b"
)
POLITE = re.compile(
    r"(?:(?:and|but|so|or|well|ok|okay|hey|hi|please|also)[\s,]+"
    r"|(?:can|could|would|will) you (?:please )?(?:tell me|remind me|say|recall|remember)\s+"
    r"|(?:please )?(?:tell|remind) me\s+"
    r"|do you (?:happen to )?(?:know|remember|recall)\s+"
    r"|i(?:'d| would) like to know\s+|i wonder\s+)+"
)
PLURAL = r"[\w/-]*[^\W\d_siu]s"  # cities, books; not glass, Paris, bus

# Tried in this order at each start of a clause; the first that matches decides.
CUES: tuple[tuple[Asks, re.Pattern[str]], ...] = tuple(
    (asks, re.compile(r"(?:(?:in|on|at|for|from|to|by|since|until|with|about|around|of|during)\s+)?" + cue))
    for asks, cue in (
        (Asks.WHEN, rf"when(?:'s\b|\s+(?:exactly\s+)?{AUXILIARY}|\s*\?*$)"),
        (
            Asks.WHEN,
            r"(?:what|which)(?: is| was|'s)?(?: the)? (?:exact )?(?:year|month|date|day|week|season)\b",
        ),
        (Asks.HOW_LONG, r"how long\b"),
        (Asks.HOW_MANY, r"how (?:many|much|often|old|tall|far|big|frequently)\b"),
        (Asks.WHO, r"who(?:m|se|'s|'d|'ll)?\b"),
        (Asks.WHERE, r"where(?:'s|abouts)?\b"),
        (Asks.WHERE, r"(?:what|which) (?:city|country|state|town|village|place|location|region|continent)\b"),
        (Asks.WHY, r"(?:why|how come)\b|what(?:'s| is| was| are| were)? (?:the )?(?:reasons?\b|caused\b)"),
        (Asks.LIST, r"(?:list|enumerate|name (?:all|some|the|\w+ of|two|three|four|five))\b"),
        (Asks.LIST, r"(?:what|which)(?: are| were|'re)\b"),
        (
            Asks.LIST,
            rf"(?:what|which) (?!{AUXILIARY}|of\b)(?:[\w'/-]+ ){{0,3}}?{PLURAL} (?:of [\w ]+? )?{AUXILIARY}",
        ),
        (Asks.WHICH, r"which\b"),
        (Asks.WHICH, rf"{AUXILIARY}.* or (?!not\b|no\b)"),
        (Asks.YES_NO, AUXILIARY),
    )
)
LOOSE = re.compile(r"^(when)\b|\b(when|where|who|why)\W*$")  # "When Ann moved?", "Ann moved to Rome when?"
CLAUSE = re.compile(r"(?<=[,.:;!?—])\s+")


def kind(text: str) -> Asks:
    """What the question asks for, by its first clause that opens like a question."""
    foreign = question_words.kind(text, phrasing(text).language)
    if foreign:
        return Asks(foreign)
    plain = _after_courtesies(" ".join(text.casefold().replace("’", "'").split()))
    if "yes or no" in plain:
        return Asks.YES_NO
    for clause in CLAUSE.split(plain):
        start = _after_courtesies(clause)
        for asks, cue in CUES:
            if cue.match(start):
                return asks
    loose = LOOSE.search(plain)
    return Asks(loose[1] or loose[2]) if loose else Asks.WHAT


def _after_courtesies(clause: str) -> str:
    courtesy = POLITE.match(clause)
    return clause[courtesy.end() :] if courtesy else clause


# Who is named ------------------------------------------------------------------------------------------

EVERYDAY = frozenset({"art", "bill", "chase", "faith", "grace", "hope", "joy", "mark", "may", "rose", "will"})
"""Names that are also words of ordinary questions."""
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"  # scripts without word ends
UNSPACED = re.compile(f"[{_UNSPACED}]")


def named(text: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """The speakers that the text names, in the order of `speakers`.

    Whole words only, possessives included. The first word of a longer name is enough, unless another speaker
    who shares it is named in full. A capitalised name is found in any case, save where it is also an everyday
    word (Will, May): then only with its capital, and not as the first word.
    """
    in_full = [speaker for speaker in dict.fromkeys(speakers) if _occurs(speaker, text)]
    taken = {_first(speaker) for speaker in in_full}
    by_first = {
        speaker
        for speaker in speakers
        if speaker not in in_full and _first(speaker) not in taken and _occurs(_first(speaker), text)
    }
    return tuple(s for s in dict.fromkeys(speakers) if s in in_full or s in by_first)


def _first(name: str) -> str:
    return name.split()[0] if name.split() else ""


def _occurs(name: str, text: str) -> bool:
    if not name.strip():
        return False
    if UNSPACED.search(name):
        return name in text
    everyday = name.casefold() in EVERYDAY or not content_words(name)
    flags = re.IGNORECASE if name[0].isupper() and not everyday else 0
    before, after = rf"(?:(?<![\w-])|(?<=[{_UNSPACED}]))", rf"(?:(?![\w-])|(?=[{_UNSPACED}]))"
    pattern = before + r"\s+".join(map(re.escape, name.split())) + after
    found = re.finditer(pattern, text, flags)
    return any(not everyday or text[: match.start()].strip() for match in found)
