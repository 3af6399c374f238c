"""Statements before they are stored: candidates, and the decision what becomes of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from app.domain.dates import When, resolve, written
from app.domain.ids import MessageId, StatementId
from app.domain.messages import Message, render
from app.domain.text import normalise, terms

MIN_SUPPORTED = 0.75  # share of a statement's different words that its messages must hold; the rest may rephrase


class Kind(StrEnum):
    """What a statement is about, where a rule can tell; a fact otherwise."""

    FACT = "fact"
    EVENT = "event"  # names a time that has begun
    PLAN = "plan"  # names a time to come, or an intention
    PREFERENCE = "preference"  # a liking or a dislike of the speaker


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that is not admitted yet.

    `text` is self-contained and begins with its speaker ("Rosa: …"); `messages` are its evidence, in order;
    `occurred_at` is when the evidence was said, `when` the first time that the text itself names,
    if any, with its place in `text`.
    """

    text: str
    kind: Kind
    messages: tuple[MessageId, ...]
    occurred_at: datetime
    when: When | None


@dataclass(frozen=True, slots=True)
class Known:
    """A stored, current statement that a candidate may repeat."""

    id: StatementId
    text: str
    occurred_at: datetime


class RefusalReason(StrEnum):
    """Why a candidate was refused."""

    BLANK = "blank"
    NO_CITATION = "no_citation"
    UNKNOWN_MESSAGE = "unknown_message"  # it cites a message that was not shown
    NOT_SUPPORTED = "not_supported"  # its words, or a number in it, do not stand in the messages it cites


JOINING = ("ask",)  # the word that joins an answer to its question


@dataclass(frozen=True, slots=True)
class Refusal:
    """A candidate that is not stored, and why."""

    candidate: Candidate
    reason: RefusalReason


@dataclass(frozen=True, slots=True)
class AdmissionPlan:
    """What storage is to do: add `new`, add the citations of `reinforced`, report `refused`."""

    new: tuple[Candidate, ...]
    reinforced: tuple[tuple[StatementId, Candidate], ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Screened:
    """Candidates that their messages support, and those that they do not."""

    supported: tuple[Candidate, ...]
    refused: tuple[Refusal, ...]


def screen(candidates: Sequence[Candidate], messages: Mapping[MessageId, Message]) -> Screened:
    """Which candidates may be remembered at all; `messages` holds every message that one may cite.

    Linear in the length of the messages, which may be long: not for an event loop.
    """
    said: dict[MessageId, frozenset[str]] = {}
    supported, refused = [], []
    for candidate in candidates:
        reason = _fault(candidate, messages, said)
        if reason is None:
            supported.append(candidate)
        else:
            refused.append(Refusal(candidate, reason))
    return Screened(tuple(supported), tuple(refused))


def decide(screened: Screened, known: Sequence[Known]) -> AdmissionPlan:
    """What becomes of each candidate; the same input gives the same plan.

    Args:
        screened: candidates in the order they were drawn.
        known: current statements that may be meant; the first of several equal ones is reinforced.

    A candidate that repeats a known statement, or an earlier candidate, word for word (case, punctuation and
    spaces aside; the speaker is part of the text) adds its citations to it.
    """
    merged: dict[str, Candidate] = {}
    for candidate in screened.supported:
        key = normalise(candidate.text)
        merged[key] = _merge(merged[key], candidate) if key in merged else candidate
    owners = {normalise(statement.text): statement.id for statement in reversed(known)}
    return AdmissionPlan(
        new=tuple(candidate for key, candidate in merged.items() if key not in owners),
        reinforced=tuple((owners[key], candidate) for key, candidate in merged.items() if key in owners),
        refused=screened.refused,
    )


def _fault(
    candidate: Candidate, messages: Mapping[MessageId, Message], said: dict[MessageId, frozenset[str]]
) -> RefusalReason | None:
    if not normalise(candidate.text):
        return RefusalReason.BLANK
    if not candidate.messages:
        return RefusalReason.NO_CITATION
    if any(cited not in messages for cited in candidate.messages):
        return RefusalReason.UNKNOWN_MESSAGE
    for cited in candidate.messages:
        if cited not in said:
            said[cited] = _words_of(messages[cited])
    held = frozenset(JOINING).union(*(said[cited] for cited in candidate.messages))
    return None if _supported(candidate.text, held) else RefusalReason.NOT_SUPPORTED


def _words_of(message: Message) -> frozenset[str]:
    """The stems of a message and of the dates that it resolves to."""
    dates = (written(when) for when in resolve(message.content, message.occurred_at))
    return frozenset(term for text in (render(message), *dates) for term in terms(text))


def _supported(text: str, held: frozenset[str]) -> bool:
    """Whether nearly all words of `text` are held, and every number."""
    needed = set(terms(text))
    missing = needed - held
    if any(character.isdigit() for term in missing for character in term):
        return False
    return len(missing) <= (1 - MIN_SUPPORTED) * len(needed)


def _merge(first: Candidate, again: Candidate) -> Candidate:
    """One candidate with the evidence of both, said when it was first said."""
    messages = tuple(dict.fromkeys(first.messages + again.messages))
    return replace(first, messages=messages, occurred_at=min(first.occurred_at, again.occurred_at))
