"""Answers without a language model: the best-supported words of the messages, dates resolved, cited.

Nothing is invented: an answer is a verbatim span or sentence, a date that a sentence names (resolved against
the day it was said), the name of a speaker, or Yes / No before the sentence that says so. Where the messages
do not carry an answer it abstains, and says why.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.domain import spans
from app.domain.dates import When, resolve, spoken
from app.domain.ids import EpisodeId, MessageId, StatementId
from app.domain.questions import Asks, Question
from app.domain.support import FIRST_PERSON, About, Passage, Supported, weigh
from app.domain.text import terms

NO_EVIDENCE = "no_evidence"
"""Nothing was found, or nothing that speaks of what the question is about."""
WRONG_PERSON = "wrong_person"
"""What was found is said by somebody else about themselves."""


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """Shares in 0–1, and a count. The first four were set on the development conversations of LoCoMo."""

    least_support: float = 0.32  # of the best sentence; below it most questions had no answer in the messages
    least_words: float = 0.16  # of the question's words in some message; below it only a score can help ...
    sure_score: float = 0.6  # ... from here on: other wording, another language
    other_margin: float = 0.1  # by which another's own words must fit better than the named person's
    near: float = 0.7  # sentences this close to the best, as a share of its support, are searched for a span
    stated: float = 0.4  # of the question's words in a sentence that states, undated, the event asked about
    items: int = 5  # most entries of a list


@dataclass(frozen=True, slots=True)
class Citation:
    """`quote` is a verbatim part of the message's content."""

    message: MessageId
    quote: str
    statement: StatementId | None
    episode: EpisodeId | None


@dataclass(frozen=True, slots=True)
class Answer:
    """Either `text` with at least one citation, or abstained with a `reason`. `confidence` is in 0–1."""

    text: str | None
    abstained: bool
    reason: str | None
    confidence: float
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What every composer works from, beside the sentences."""

    question: Question
    speakers: Sequence[str]
    policy: AnswerPolicy

    def span(self, sentence: str) -> str | None:
        return spans.find(self.question, sentence, self.speakers)


@dataclass(frozen=True, slots=True)
class _Pick:
    """A piece of the answer and the sentence it rests on."""

    text: str
    source: Supported


DEFAULT = AnswerPolicy()


def answer(
    question: Question,
    passages: Sequence[Passage],
    *,
    known_speakers: Sequence[str],
    policy: AnswerPolicy = DEFAULT,
) -> Answer:
    """Answer from `passages` (descending score), or abstain. Deterministic; never raises on any text."""
    ranked = weigh(question, passages)
    if not _speaks_of_it(ranked, policy):
        return _abstention(NO_EVIDENCE, ranked)
    if _is_anothers(question, ranked, known_speakers, policy):
        return _abstention(WRONG_PERSON, ranked)
    bar = max(policy.least_support, policy.near * ranked[0].support)
    near = [sentence for sentence in ranked if sentence.support >= bar]
    picks = _COMPOSERS.get(question.asks, _spanned)(_Asked(question, known_speakers, policy), near)
    text = "; ".join(dict.fromkeys(pick.text for pick in picks))
    confidence = max(pick.source.support for pick in picks)
    return Answer(
        text=text,
        abstained=False,
        reason=None,
        confidence=round(confidence, 3),
        citations=tuple(_cite(pick.source) for pick in picks),
    )


def _cite(source: Supported) -> Citation:
    passage = source.passage
    return Citation(passage.message.id, source.text, passage.statement, passage.episode)


# Abstaining --------------------------------------------------------------------------------------------


def _abstention(reason: str, ranked: Sequence[Supported]) -> Answer:
    """The confidence is that of the answer that was not given."""
    confidence = round(ranked[0].support, 3) if ranked else 0.0
    return Answer(text=None, abstained=True, reason=reason, confidence=confidence, citations=())


def _speaks_of_it(ranked: Sequence[Supported], policy: AnswerPolicy) -> bool:
    if not ranked or ranked[0].support < policy.least_support:
        return False
    return any(s.nearby >= policy.least_words or s.passage.score >= policy.sure_score for s in ranked)


def _is_anothers(
    question: Question, ranked: Sequence[Supported], known_speakers: Sequence[str], policy: AnswerPolicy
) -> bool:
    """Whether the question names one speaker, and another speaker's words about themselves fit it better."""
    if len(question.names) != 1:
        return False
    others = [s.fit for s in ranked if s.about is About.OTHER and s.passage.message.who in known_speakers]
    proper = [s.fit for s in ranked if s.about is not About.OTHER]
    return max(others, default=0.0) - max(proper, default=0.0) > policy.other_margin


# Composing: one function a kind, each given the near-best sentences, best first ------------------------

FAR = frozenset({Asks.HOW_MANY, Asks.HOW_LONG, Asks.WHO, Asks.WHERE})
"""Kinds whose spans are sure enough to be taken from a sentence that is not the very best."""

AHEAD = re.compile(r"\b(?:will|going to|gonna|plan(?:s|ned|ning)?|upcoming|next|about to)\b|['’]ll\b", re.IGNORECASE)
UNREAL = re.compile(
    r"\b(?:would|could|should|might|(?-i:may)|if|want(?:s|ed)?|wish|hope|hoping|maybe|perhaps|thinking of)\b"
    r"|['’]d (?:love|like)\b|\?$",
    re.IGNORECASE,
)
WHO_IS = re.compile(r"\bwho(?: is| are| was| were|['’]s)\b", re.IGNORECASE)
WHO_IS_NAME = re.compile(r"\b[Ww]ho(?: is| are| was| were|['’]s) [A-Z][\w-]*\W*$")
NEGATION = re.compile(r"\b(?:no|not|never|none|nobody|nothing|without)\b|n['’]t\b", re.IGNORECASE)


def _spanned(asked: _Asked, near: Sequence[Supported]) -> list[_Pick]:
    """The first span of the asked-for kind, else the best sentence."""
    for sentence in near if asked.question.asks in FAR else near[:1]:
        span = asked.span(sentence.text)
        if span:
            return [_Pick(span, sentence)]
    return [_Pick(near[0].text, near[0])]


def _who(asked: _Asked, near: Sequence[Supported]) -> list[_Pick]:
    """Somebody mentioned; where the question says what was done, and by nobody named, "I" is the speaker."""
    best, question = near[0], asked.question
    if WHO_IS_NAME.search(question.text):
        return [_Pick(best.text, best)]
    if not question.names and FIRST_PERSON.search(best.text) and not WHO_IS.search(question.text):
        return [_Pick(best.passage.message.who, best)]
    return _spanned(asked, near)


def _yes_no(asked: _Asked, near: Sequence[Supported]) -> list[_Pick]:
    """The sentence, after Yes or No where it states (not: wishes, doubts) all that the question asks."""
    best, question = near[0], asked.question.text
    if best.words < 1.0 or UNREAL.search(best.text) or UNREAL.search(question.rstrip("?")):
        return [_Pick(best.text, best)]
    agrees = bool(NEGATION.search(best.text)) == bool(NEGATION.search(question))
    return [_Pick(f"{'Yes' if agrees else 'No'}. {best.text}", best)]


def _list(asked: _Asked, near: Sequence[Supported]) -> list[_Pick]:
    """One entry a message, each with something new, at most `policy.items`."""
    picks: dict[MessageId, _Pick] = {}
    told: set[str] = set(asked.question.words)
    for sentence in near:
        entry = asked.span(sentence.text) or sentence.text
        fresh = set(terms(entry)) - told
        if sentence.passage.message.id not in picks and fresh and sentence.words > 0:
            picks[sentence.passage.message.id] = _Pick(entry, sentence)
            told |= fresh
    return list(picks.values())[: asked.policy.items] or [_Pick(near[0].text, near[0])]


def _when(asked: _Asked, near: Sequence[Supported]) -> list[_Pick]:
    """The date a sentence names; else, of an event that it states, the day on which it was told."""
    ahead = bool(AHEAD.search(asked.question.text))
    for sentence in near:
        date = _date(sentence, ahead=ahead)
        if date:
            return [_Pick(spoken(date), sentence)]
    best = near[0]
    if ahead or best.words < asked.policy.stated or UNREAL.search(best.text) or AHEAD.search(best.text):
        return [_Pick(best.text, best)]
    told = resolve("today", best.passage.message.occurred_at)[0]
    return [_Pick(f"on or before {spoken(told)}", best)]


def _date(sentence: Supported, *, ahead: bool) -> When | None:
    """The first date of the sentence on the right side of the day it was said, else its first."""
    said = sentence.passage.message.occurred_at
    dates = resolve(sentence.text, said)
    fitting = [d for d in dates if (d.end >= said.date() if ahead else d.start <= said.date())]
    return next(iter(fitting or dates), None)


_COMPOSERS: dict[Asks, Callable[[_Asked, Sequence[Supported]], list[_Pick]]] = {
    Asks.WHEN: _when,
    Asks.WHO: _who,
    Asks.YES_NO: _yes_no,
    Asks.LIST: _list,
}
