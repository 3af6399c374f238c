"""Candidates: statements that are not admitted yet, and which of them may be remembered at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.backing import Backing
from app.domain.dates import When
from app.domain.ids import MessageId, StatementId
from app.domain.messages import SPOKEN
from app.domain.text import normalise
from app.domain.wording import Wording, take_apart


class Kind(StrEnum):
    """What a statement is about, where a rule can tell; a fact otherwise."""

    FACT = "fact"
    EVENT = "event"  # names a time that has begun
    PLAN = "plan"  # names a time to come, or an intention
    PREFERENCE = "preference"  # a liking or a dislike of the speaker


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement that is not admitted yet.

    `text` is self-contained; without a model it begins with its speaker ("Rosa: …"). `messages` are its evidence,
    in order; `occurred_at` is when the evidence was first said, `again_at` when it was said last, `when` the first
    time that it tells of, if any. `updates` is a stored statement that is true no more because of it, as a model
    says. `assistant`: it is said by an assistant, whose words about others are no evidence if they only repeat
    somebody's.
    """

    text: str
    kind: Kind
    messages: tuple[MessageId, ...]
    occurred_at: datetime
    when: When | None
    updates: StatementId | None = None
    assistant: bool = False
    again_at: datetime | None = None

    @property
    def latest(self) -> datetime:
        """When the newest message behind it was said."""
        return self.again_at or self.occurred_at

    @property
    def wording(self) -> Wording:
        """Its text, taken apart."""
        return take_apart(self.text, self.occurred_at)


class RefusalReason(StrEnum):
    """Why a candidate was refused."""

    BLANK = "blank"
    NO_CITATION = "no_citation"
    UNKNOWN_MESSAGE = "unknown_message"  # it cites a message that was not shown
    UNKNOWN_STATEMENT = "unknown_statement"  # it updates a statement that was not shown
    NOT_SPOKEN = "not_spoken"  # it cites an instruction, or what a tool returned
    RECALLED = "recalled"  # the service handed these words out, and they came back
    ECHO = "echo"  # the assistant says what somebody said before
    NOT_SUPPORTED = "not_supported"  # its words, or a number in it, do not stand in the messages it cites


@dataclass(frozen=True, slots=True)
class Refusal:
    """A candidate that is not stored, and why."""

    candidate: Candidate
    reason: RefusalReason


@dataclass(frozen=True, slots=True)
class Screened:
    """Candidates that their messages support, and those that they do not."""

    supported: tuple[Candidate, ...]
    refused: tuple[Refusal, ...]


def screen(candidates: Sequence[Candidate], backing: Backing) -> Screened:
    """Which candidates may be remembered at all; `backing` holds every message that one may cite.

    Linear in the length of the messages, which may be long: not for an event loop.
    """
    supported, refused = [], []
    for candidate in candidates:
        reason = _fault(candidate, backing)
        if reason is None:
            supported.append(candidate)
        else:
            refused.append(Refusal(candidate, reason))
    return Screened(tuple(supported), tuple(refused))


def _fault(candidate: Candidate, backing: Backing) -> RefusalReason | None:
    if not normalise(candidate.text):
        return RefusalReason.BLANK
    if not candidate.messages:
        return RefusalReason.NO_CITATION
    if any(cited not in backing.messages for cited in candidate.messages):
        return RefusalReason.UNKNOWN_MESSAGE
    if any(backing.messages[cited].role not in SPOKEN for cited in candidate.messages):
        return RefusalReason.NOT_SPOKEN
    return None if backing.carries(candidate.text, candidate.messages) else RefusalReason.NOT_SUPPORTED
