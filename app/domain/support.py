"""Which sentences support an answer, how well, and whose they are.

Support is a number in 0–1 made of four signals: how well the search liked the message, how many of the
question's words stand in the sentence, how many in the message around it, and, where the model tells words apart,
how near the sentence's words come to those asked for. A word that few passages have counts more. The sum is scaled
by attribution: first-person words belong to their speaker, "you" to the other.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import TypeAlias

from app.domain.claims import read
from app.domain.dates import When, resolve
from app.domain.ids import EpisodeId, StatementId
from app.domain.late import AskedWords, WordVectors, content_spans, matches
from app.domain.messages import Message, body, render
from app.domain.questions import Asks, Question, named
from app.domain.text import count_tokens, sentences, split_long, terms
from app.domain.verbs import base
from app.domain.wording import take_apart

SCORE_SHARE = 0.5  # beside the other signals; search has read more than words can tell
SENTENCE_SHARE = 0.3
MESSAGE_SHARE = 0.2  # the sentence around the fact often holds the words, the next one the fact
MATCH_SHARE = 0.8  # of a match, 0.3 to 0.7 as a rule; it puts .04 more of the first sentences into evidence messages
ASKING = 0.5  # factor for a sentence that itself asks
OUTDATED = 0.5  # factor for a sentence that says what no longer holds, unless the question asks for the past
ENOUGH_NEW = 2  # terms that neither the question nor a name brings; "Take care!" has too few to say much
ON_TIME = "@time"  # stands among the words for a date of the question; no term is written like that
MET = 0.6  # match of a word that stands there, whatever its vector says: "went" for "go"
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

    `outdated` are what superseded statements that cite it say (see `saying`); `words` the vectors of its words,
    in the order of `late.content_spans(render(message))`, where the model tells words apart.
    """

    message: Message
    score: float
    statement: StatementId | None = None
    episode: EpisodeId | None = None
    outdated: frozenset[Saying] = frozenset()
    words: WordVectors | None = None


@dataclass(frozen=True, slots=True)
class Supported:
    """A sentence of a passage, verbatim.

    `words` is its share of the question's words, `nearby` its whole message's share, `match` how near its words
    come to those asked for (0 where the model tells no words apart), `on_time` whether it tells of a time that the
    question names (True if that names none), `support` how well it carries the answer: shares all in 0–1.
    """

    passage: Passage
    text: str
    about: About
    words: float
    nearby: float
    match: float
    on_time: bool
    support: float

    @property
    def fit(self) -> float:
        """How well the words alone fit the question, whoever said them, in 0–1."""
        return (self.words + self.nearby) / 2


Look: TypeAlias = Callable[[], None]
"""Called now and then by what takes long; it raises once nobody waits for the result any more."""


def unwatched() -> None:
    """A `Look` of work that is always waited for."""


def weigh(
    question: Question, passages: Sequence[Passage], asked: AskedWords | None = None, look: Look = unwatched
) -> list[Supported]:
    """Every sentence of the passages, best-supported first; ties keep the order of the passages.

    `asked` are the vectors of the question's words.
    """
    held = {passage.message.id: passage for passage in reversed(passages)}  # the first of a message stays
    distinct = [passage for passage in passages if held[passage.message.id] is passage]
    read: list[_Read] = []
    for passage in distinct:
        look()
        read.append(_Read.of(question, passage, asked))
    words = [base(word) for word in question.words]
    around = [one.around for one in read]
    weights = _weights([*words, ON_TIME] if question.dates else words, around)
    known = {ON_TIME} | {term for passage in distinct for term in terms(passage.message.who)}
    if question.asks not in {Asks.YES_NO, Asks.WHICH}:  # there, saying it again is the answer
        known |= set(words)
    found: list[Supported] = []
    for one in read:
        look()
        found += [one.supported(question, place, weights, known) for place in range(len(one.texts))]
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


@dataclass(frozen=True, slots=True)
class _Read:
    """A passage in sentences, each with its marks (see `_marks`) and its match; `around` are the message's marks."""

    passage: Passage
    texts: Sequence[str]
    marks: Sequence[frozenset[str]]
    around: frozenset[str]
    matches: Sequence[float]

    @classmethod
    def of(cls, question: Question, passage: Passage, asked: AskedWords | None) -> "_Read":
        message = passage.message
        texts = _cut(message.content)
        marks = [_marks(question, text, message) for text in texts]
        pictures = body("", message.images)
        around = frozenset().union(*marks, _marks(question, pictures, message) if pictures else ())
        return cls(passage, texts, marks, around, _matches(passage, texts, asked))

    def supported(
        self, question: Question, place: int, weights: Mapping[str, float], known: Collection[str]
    ) -> Supported:
        """One sentence weighed; `known` are the terms that add nothing new."""
        passage, text, marks, match = self.passage, self.texts[place], self.marks[place], self.matches[place]
        whose = about(text, passage.message.who, question.names)
        words, nearby = _share(weights, marks), _share(weights, self.around)
        match = max(match, MET * words) if passage.words is not None else 0.0
        score = min(max(passage.score, 0.0), 1.0)
        support = SCORE_SHARE * score + SENTENCE_SHARE * words + MESSAGE_SHARE * nearby + MATCH_SHARE * match
        support *= whose.value * (ASKING if text.endswith(("?", "？")) else 1.0)
        support *= min(1.0, (1 + len(marks.difference(known))) / (1 + ENOUGH_NEW))
        if not _asks_for_the_past(question) and _says_outdated(passage, text):
            support *= OUTDATED
        on_time = not question.dates or ON_TIME in marks
        most = SCORE_SHARE + SENTENCE_SHARE + MESSAGE_SHARE + (MATCH_SHARE if passage.words is not None else 0.0)
        return Supported(passage, text, whose, words, nearby, match, on_time, support / most)


def is_outdated(sentence: Supported) -> bool:
    """Whether it says what a superseded statement says."""
    return _says_outdated(sentence.passage, sentence.text)


def _says_outdated(passage: Passage, text: str) -> bool:
    message = passage.message
    return bool(passage.outdated) and saying(f"{message.who}: {text}", message.occurred_at) in passage.outdated


def _matches(passage: Passage, texts: Sequence[str], asked: AskedWords | None) -> list[float]:
    """For each sentence, in 0–1: the mean, over the words asked for, of the nearness of its nearest word."""
    if passage.words is None or asked is None:
        return [0.0] * len(texts)
    whole = render(passage.message)
    spans = content_spans(whole)[: len(passage.words)]
    rows: list[WordVectors] = []
    end = 0
    for text in texts:
        start = max(whole.find(text, end), end)
        end = start + len(text)
        inside = [row for row, (first, last) in enumerate(spans) if start <= first and last <= end]
        rows.append(passage.words[inside])
    return [max(match, 0.0) for match in matches(asked, rows).tolist()]


def _asks_for_the_past(question: Question) -> bool:
    return bool(question.dates) or _FORMER.search(question.text) is not None


def _marks(question: Question, text: str, message: Message) -> frozenset[str]:
    """The terms of a text, verbs in their base form, and ON_TIME where it tells of a time that the question names."""
    found = frozenset(map(base, terms(text)))
    if not question.dates:
        return found
    told = [(when.start, when.end) for when in resolve(text, message.occurred_at)]
    told = told or [(message.occurred_at.date(), message.occurred_at.date())]
    is_on_time = any(names_time(date, start, end) for date in question.dates for start, end in told)
    return found | {ON_TIME} if is_on_time else found


def names_time(asked: When, start: date, end: date) -> bool:
    """Whether a time from `start` to `end` is in that asked about, whose year may be untold ("in June")."""
    if not asked.yearless:
        return start <= asked.end and asked.start <= end
    return any(_touches(asked, start, end, year) for year in {start.year, end.year})


def _touches(asked: When, start: date, end: date, year: int) -> bool:
    try:
        first, last = asked.start.replace(year=year), asked.end.replace(year=year)
    except ValueError:  # 29 February
        return False
    return start <= last and first <= end


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
