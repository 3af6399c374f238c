"""Which sentences support an answer, how well, and whose they are.

Support is a number in 0–1 made of three signals: how well the search liked the message, how many of the
question's words stand in the sentence, and how many in the message around it. A word that few passages have
counts more. The sum is scaled by attribution: first-person words belong to their speaker, "you" to the other.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TypeAlias

from app.domain.claims import read
from app.domain.dates import resolve
from app.domain.ids import EpisodeId, StatementId
from app.domain.messages import Message, body
from app.domain.questions import Asks, Question, named
from app.domain.text import count_tokens, sentences, split_long, terms
from app.domain.verbs import base
from app.domain.wording import take_apart

SCORE_SHARE = 0.5  # of support; search has read more than words can tell
SENTENCE_SHARE = 0.3
MESSAGE_SHARE = 0.2  # the sentence around the fact often holds the words, the next one the fact
ASKING = 0.5  # factor for a sentence that itself asks
OUTDATED = 0.5  # factor for a sentence that says what no longer holds, unless the question asks for the past
ENOUGH_NEW = 2  # terms that neither the question nor a name brings; "Take care!" has too few to say much
ON_TIME = "@time"  # stands among the words for a date of the question; no term is written like that
LONGEST_SENTENCE = 120  # tokens; a longer one (a log, a list without full stops) is taken in parts


class About(Enum):
    """Whose the words are, seen from the question; the value is the factor on support."""

    NAMED = 1.0  # the person asked about speaks of themselves, or the question names nobody
    TOLD = 0.8  # another speaks to them or of them
    OTHER = 0.5  # another's words about something else, or their words about another


Saying: TypeAlias = tuple[str, ...]
"""What a statement or a sentence says; equal for those that say the same."""


def saying(text: str, said_at: datetime) -> Saying:
    """By topic and value where a rule is certain of them, else by the words."""
    wording = take_apart(text, said_at)
    claim = read(wording)
    return (claim.topic, claim.value, claim.count, str(claim.denied)) if claim.topic else (wording.essence,)


@dataclass(frozen=True, slots=True)
class Passage:
    """A message behind the evidence that search handed out, with its score in 0–1 and what led to it.

    `outdated` are what superseded statements that cite it say (see `saying`).
    """

    message: Message
    score: float
    statement: StatementId | None = None
    episode: EpisodeId | None = None
    outdated: frozenset[Saying] = frozenset()


@dataclass(frozen=True, slots=True)
class Supported:
    """A sentence of a passage, verbatim.

    `words` is its share of the question's words, `nearby` its whole message's share, `support` how well it
    carries the answer: all in 0–1.
    """

    passage: Passage
    text: str
    about: About
    words: float
    nearby: float
    support: float

    @property
    def fit(self) -> float:
        """How well the words alone fit the question, whoever said them, in 0–1."""
        return (self.words + self.nearby) / 2


def weigh(question: Question, passages: Sequence[Passage]) -> list[Supported]:
    """Every sentence of the passages, best-supported first; ties keep the order of the passages."""
    held = {passage.message.id: passage for passage in reversed(passages)}  # the first of a message stays
    distinct = [passage for passage in passages if held[passage.message.id] is passage]
    around = [_marks(question, body(p.message.content, p.message.images), p) for p in distinct]
    asked = [base(word) for word in question.words]
    weights = _weights([*asked, ON_TIME] if question.dates else asked, around)
    known = {ON_TIME} | {term for passage in distinct for term in terms(passage.message.who)}
    if question.asks not in {Asks.YES_NO, Asks.WHICH}:  # there, saying it again is the answer
        known |= set(asked)
    found = [
        _support(question, passage, text, weights, marks, known)
        for passage, marks in zip(distinct, around, strict=True)
        for text in _cut(passage.message.content)
    ]
    return sorted(found, key=lambda sentence: -sentence.support)


FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_FORMER = re.compile(
    r"\b(?:was|were|did|had|used to|before|previous(?:ly)?|former(?:ly)?|earlier|first|once|originally)\b",
    re.IGNORECASE,
)
SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)


def about(text: str, speaker: str, names: Sequence[str]) -> About:
    """Whom a sentence speaks about, as far as its pronouns and names tell."""
    if not names:
        return About.NAMED
    mine, yours = bool(FIRST_PERSON.search(text)), bool(SECOND_PERSON.search(text))
    if speaker in names:
        return About.OTHER if yours and not mine and len(names) == 1 else About.NAMED
    if named(text, names) or (yours and not mine):
        return About.TOLD
    return About.OTHER


def _support(
    question: Question,
    passage: Passage,
    text: str,
    weights: Mapping[str, float],
    around: frozenset[str],
    known: set[str],
) -> Supported:
    """One sentence weighed; `around` are its message's marks, `known` the terms that add nothing new."""
    whose = about(text, passage.message.who, question.names)
    marks = _marks(question, text, passage)
    words, nearby = _share(weights, marks), _share(weights, around)
    score = min(max(passage.score, 0.0), 1.0)
    support = SCORE_SHARE * score + SENTENCE_SHARE * words + MESSAGE_SHARE * nearby
    support *= whose.value * (ASKING if text.endswith(("?", "？")) else 1.0)
    support *= min(1.0, (1 + len(marks - known)) / (1 + ENOUGH_NEW))
    if passage.outdated and not _asks_for_the_past(question):
        message = passage.message
        support *= OUTDATED if saying(f"{message.who}: {text}", message.occurred_at) in passage.outdated else 1.0
    return Supported(passage, text, whose, words, nearby, support)


def _asks_for_the_past(question: Question) -> bool:
    return bool(question.dates) or _FORMER.search(question.text) is not None


def _marks(question: Question, text: str, passage: Passage) -> frozenset[str]:
    """The terms of a text, verbs in their base form, and ON_TIME where it tells of a time that the question names."""
    found = frozenset(map(base, terms(text)))
    if not question.dates:
        return found
    said = passage.message.occurred_at
    told = [(when.start, when.end) for when in resolve(text, said)] or [(said.date(), said.date())]
    on_time = any(start <= date.end and date.start <= end for date in question.dates for start, end in told)
    return found | {ON_TIME} if on_time else found


def _cut(content: str) -> list[str]:
    """Sentences, none longer than LONGEST_SENTENCE tokens; each is a verbatim part of `content`."""
    return [
        part
        for sentence in sentences(content)
        for part in (
            [sentence] if count_tokens(sentence) <= LONGEST_SENTENCE else split_long(sentence, LONGEST_SENTENCE)
        )
    ]


def _weights(words: Sequence[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Rarity of each word among the texts: one that none of them has weighs most, and nobody earns it."""
    total = len(texts) + 1
    return {word: math.log(1 + total / (0.5 + sum(word in text for text in texts))) for word in words}


def _share(weights: Mapping[str, float], held: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in held) / total if total else 0.0
