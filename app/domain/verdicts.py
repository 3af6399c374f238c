"""A language model's answer held to the evidence: cited word for word, or turned down with a reason.

A model may be fooled by another person's words, by words of another time, or by one side of a contradiction. Whether
the evidence carries an answer is measured as it is without a model (`domain.answers`); the model is overruled where
that measure doubts it and its own answer shows why.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.answers import (
    CONFLICT,
    DEFAULT,
    NO_EVIDENCE,
    OUTSIDE_TIME,
    WRONG_PERSON,
    Answer,
    AnswerPolicy,
    Carried,
    Evidence,
    abstention,
    asks_of_a_long_time,
    cite,
    is_of_another_time,
)
from app.domain.dates import resolve
from app.domain.disagreement import Disagreement, disagreement
from app.domain.ids import MessageId
from app.domain.messages import render
from app.domain.phrasing import phrasing
from app.domain.questions import Asks, Question
from app.domain.stopwords import is_english
from app.domain.support import About, Look, Passage, Supported, unwatched, weigh
from app.domain.text import terms

WORKED_OUT = frozenset({Asks.YES_NO, Asks.HOW_MANY, Asks.HOW_LONG, Asks.WHEN})
"""What is counted, reckoned or concluded need not stand anywhere."""

LEAP_YEARS = (2000, 2004)
"""What means another time when it is said in one of these depends on the day on which it was said."""


@dataclass(frozen=True, slots=True)
class Source:
    """The messages behind a cited line. `quoted`: their words stand in it; else one of them may carry it."""

    passages: Sequence[Passage]
    quoted: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What a model says of a question: an answer, or a `reason` for none; with the lines that it names."""

    text: str
    reason: str
    sources: Sequence[Source]


@dataclass(frozen=True, slots=True)
class _Case:
    """All that a verdict rests on. `ranked` are the sentences of the evidence, `cited` the best of what was named."""

    question: Question
    told: Told
    ranked: Sequence[Supported]
    cited: Sequence[Supported]
    carried: Carried
    doubtful: bool

    @property
    def messages(self) -> frozenset[MessageId]:
        """Those that are cited."""
        return frozenset(sentence.passage.message.id for sentence in self.cited)


def judge(
    question: Question, evidence: Evidence, told: Told, policy: AnswerPolicy = DEFAULT, look: Look = unwatched
) -> Answer:
    """The answer with its quotes, or an abstention. Deterministic; of its own never raises on any text."""
    behind = [passage for source in told.sources if not source.quoted for passage in source.passages]
    ranked = weigh(question, [*evidence.passages, *behind], evidence.asked, look)
    if not ranked:
        return abstention(NO_EVIDENCE)
    carried = Carried.by(question, ranked, evidence)
    cited = _carrying(ranked, told)
    case = _Case(question, told, ranked, cited, carried, doubtful=carried.sure < policy.least_confidence)
    return _none_given(case) if told.reason else _given(case)


def _given(case: _Case) -> Answer:
    reason = _objection(case)
    if reason is not None:
        return abstention(reason, case.carried.sure)
    other = _other_side(case)
    cited = [*case.cited, *([other.source] if other is not None else [])]
    if other is not None and other.is_equal:
        return abstention(CONFLICT, case.carried.sure, cited)
    citations = tuple(dict.fromkeys(map(cite, cited)))
    text = _dated(case.question, case.told.text, case.cited[0])
    return Answer(text, abstained=False, reason=None, confidence=case.carried.sure, citations=citations)


def _dated(question: Question, text: str, source: Supported) -> str:
    """Of an answer to "when" that says "yesterday" all the same, the day as well."""
    said_at = source.passage.message.occurred_at
    if question.asks is not Asks.WHEN:
        return text
    another = said_at.replace(year=next(year for year in LEAP_YEARS if year != said_at.year))
    times = zip(resolve(text, said_at), resolve(text, another), strict=False)
    relative = [when for when, other in times if when.start != other.start]
    return f"{text} ({phrasing(question.text).time(relative[0])})" if relative else text


def _objection(case: _Case) -> str | None:
    """Why an answer is not believed."""
    if not case.cited:
        return NO_EVIDENCE
    if asks_of_a_long_time(case.question) and not any(s.on_time for s in _of_cited(case)):
        return OUTSIDE_TIME
    if not case.doubtful:
        return None
    if len(case.question.names) == 1 and all(sentence.about is About.OTHER for sentence in case.cited):
        return WRONG_PERSON
    return NO_EVIDENCE if _is_made_up(case) else None


def _of_cited(case: _Case) -> list[Supported]:
    return [sentence for sentence in case.ranked if sentence.passage.message.id in case.messages]


def _is_made_up(case: _Case) -> bool:
    """Whether not one word of an answer that should quote stands in the evidence; judged in English alone."""
    question = case.question
    said = [render(message) for message in {s.passage.message.id: s.passage.message for s in case.ranked}.values()]
    if question.asks in WORKED_OUT or phrasing(question.text).language != "en" or not is_english(said):
        return False
    own = set(terms(case.told.text)) - set(terms(question.text))
    return bool(own) and own.isdisjoint(term for text in said for term in terms(text))


def _none_given(case: _Case) -> Answer:
    """The model's reason where something speaks for it, else the one that the evidence gives."""
    told, question, sure = case.told.reason, case.question, case.carried.sure
    if told == CONFLICT and len(case.messages) > 1:
        return abstention(CONFLICT, sure, case.cited)
    if (told == WRONG_PERSON and question.names) or (told == OUTSIDE_TIME and question.dates):
        return abstention(told, sure)
    if case.doubtful and case.carried.by_another:
        return abstention(WRONG_PERSON, sure)
    return abstention(OUTSIDE_TIME if is_of_another_time(question, case.ranked) else NO_EVIDENCE, sure)


def _other_side(case: _Case) -> Disagreement | None:
    """What disagrees with a cited sentence and is not cited itself: who cites both sides has seen both."""
    found = (disagreement(sentence, case.ranked) for sentence in case.cited)
    return next((one for one in found if one and one.source.passage.message.id not in case.messages), None)


def _carrying(ranked: Sequence[Supported], told: Told) -> list[Supported]:
    """The sentences that carry most of the answer, one a message, in the order of the lines that were named."""
    of_message: dict[MessageId, list[Supported]] = defaultdict(list)
    for sentence in ranked:
        of_message[sentence.passage.message.id].append(sentence)
    said = frozenset(terms(told.text))
    carrying: dict[MessageId, Supported] = {}
    for source in told.sources:
        inside = [replace(one, passage=held) for held in source.passages for one in of_message[held.message.id]]
        best = _best(inside, said)
        for sentence in best if source.quoted else best[:1]:
            carrying.setdefault(sentence.passage.message.id, sentence)
    return list(carrying.values())


def _best(sentences: Sequence[Supported], said: frozenset[str]) -> list[Supported]:
    """Of each message the sentence with most words of the answer, then with most support; best first."""
    ranked = sorted(sentences, key=lambda one: (-len(said & set(terms(one.text))), -one.support))
    return list({one.passage.message.id: one for one in reversed(ranked)}.values())[::-1]
