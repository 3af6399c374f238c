"""Answers without a language model: the best-supported words of the messages, dates resolved, cited.

Nothing is invented: an answer is a verbatim span or sentence, a date that a sentence names (resolved against
the day it was said), the name of a speaker, or Yes / No before the sentence that says so. Where the messages
do not carry an answer it abstains, and says why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from app.domain.confidence import Heard, confidence, read_signals
from app.domain.disagreement import Disagreement, disagreement
from app.domain.extracts import NEAR, Asked, Pick, compose
from app.domain.ids import EpisodeId, MessageId, StatementId
from app.domain.late import AskedWords
from app.domain.periods import Granularity
from app.domain.phrasing import phrasing
from app.domain.questions import Question
from app.domain.support import Look, Passage, Supported, unwatched, weigh

NO_EVIDENCE = "no_evidence"
"""Nothing was found, or nothing that speaks of what the question is about."""
WRONG_PERSON = "wrong_person"
"""What was found is said by somebody else about themselves."""
CONFLICT = "conflict"
"""Two current statements of equal standing disagree; both are cited."""
OUTSIDE_TIME = "outside_time"
"""What was found is of another time than the one asked about, or than the read was limited to."""

LONG_TIMES = frozenset((Granularity.SEASON, Granularity.YEAR, Granularity.DECADE, Granularity.CENTURY))
"""What is told of a day is often said days later; of a year it is seldom said in another."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """When to abstain: shares in 0–1, set on the development conversations of LoCoMo."""

    least_confidence: float = 0.5  # below it a wrong answer is likelier than a right one
    least_support: float = 0.2  # of the best sentence; under it 1 in 50 answerable questions, and small talk
    least_words: float = 0.16  # of the question's words in some message; below it only a score can help ...
    sure_score: float = 0.6  # ... from here on: other wording, another language


@dataclass(frozen=True, slots=True)
class Citation:
    """`quote` is a verbatim part of the message's content."""

    message: MessageId
    quote: str
    statement: StatementId | None
    episode: EpisodeId | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Either `text` with at least one citation, or abstained with a `reason`, which for a conflict cites both sides.

    `confidence` is in 0–1: how likely the evidence carries an answer.
    """

    text: str | None
    abstained: bool
    reason: str | None
    confidence: float
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer is drawn from.

    `passages` by falling score; `asked` and `heard` only where the model tells words apart (see `domain.late`).
    """

    passages: Sequence[Passage]
    speakers: Sequence[str]
    asked: AskedWords | None = None
    heard: Heard = Heard()

    @property
    def tells_words(self) -> bool:
        """Whether words were told apart: of a message that was posted a moment ago no vectors are there yet."""
        return self.asked is not None and any(passage.words is not None for passage in self.passages)


DEFAULT = AnswerPolicy()


@dataclass(frozen=True, slots=True)
class Carried:
    """How well evidence carries an answer: the probability, and whether another person's words fit better."""

    sure: float
    by_another: bool

    @classmethod
    def by(cls, question: Question, ranked: Sequence[Supported], evidence: Evidence) -> "Carried":
        """`ranked` are the evidence's sentences, best first, at least one."""
        signals = read_signals(question, ranked, evidence.speakers, evidence.heard)
        sure = confidence(signals, with_vectors=evidence.tells_words)
        return cls(round(sure, 3), by_another=signals.attribution < 0)


def answer(
    question: Question, evidence: Evidence, on: date, policy: AnswerPolicy = DEFAULT, look: Look = unwatched
) -> Answer:
    """Answer, or abstain. `on` is the day on which it is asked. Deterministic; of its own never raises on any text."""
    ranked = weigh(question, evidence.passages, evidence.asked, look)
    if not _speaks_of_it(ranked, policy):
        return abstention(NO_EVIDENCE)
    carried = Carried.by(question, ranked, evidence)
    if carried.sure < policy.least_confidence:
        return abstention(WRONG_PERSON if carried.by_another else NO_EVIDENCE, carried.sure)
    if is_of_another_time(question, ranked):
        return abstention(OUTSIDE_TIME, carried.sure)
    sure = carried.sure
    asked = Asked(question, evidence.speakers, on, phrasing(question.text))
    picks = compose(asked, ranked)
    other = disagreement(picks[0].source, ranked) if len(picks) == 1 else None
    if other is not None and other.is_equal:
        return abstention(CONFLICT, sure, [picks[0].source, other.source])
    return _given(asked, picks, other, sure)


def abstention(reason: str, sure: float = 0.0, cited: Sequence[Supported] = ()) -> Answer:
    """No answer. The confidence is that of the answer that was not given."""
    return Answer(None, abstained=True, reason=reason, confidence=sure, citations=tuple(map(cite, cited)))


def cite(source: Supported) -> Citation:
    """The sentence as a citation."""
    passage = source.passage
    return Citation(passage.message.id, source.text, passage.statement, passage.episode)


def _given(asked: Asked, picks: Sequence[Pick], other: Disagreement | None, sure: float) -> Answer:
    """The pieces, entries of a list joined; where older words disagree, both with the days on which they were said."""
    entries = dict.fromkeys(pick.text for pick in picks)
    text = asked.phrasing.comma.join(entries) if other is None else other.told(asked, picks[0])
    sources = [pick.source for pick in picks] + ([other.source] if other is not None else [])
    cited = dict.fromkeys(map(cite, sources))
    return Answer(text, abstained=False, reason=None, confidence=sure, citations=tuple(cited))


def _speaks_of_it(ranked: Sequence[Supported], policy: AnswerPolicy) -> bool:
    if not ranked or ranked[0].support < policy.least_support:
        return False
    return any(s.nearby >= policy.least_words or s.passage.score >= policy.sure_score for s in ranked)


def asks_of_a_long_time(question: Question) -> bool:
    """Whether a year or a season is asked about."""
    return any(when.granularity in LONG_TIMES and when.open is None for when in question.dates)


def is_of_another_time(question: Question, ranked: Sequence[Supported]) -> bool:
    """Whether a year or a season is asked about, and none of the sentences that speak of it is of that time."""
    near = (sentence for sentence in ranked if sentence.support >= NEAR * ranked[0].support)
    return asks_of_a_long_time(question) and not any(sentence.on_time for sentence in near)
