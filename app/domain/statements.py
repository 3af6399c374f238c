"""Statements before they are stored: candidates, and the decision what becomes of each."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from app.domain.assistants import ECHOED, retold
from app.domain.backing import Backing
from app.domain.chains import Ending, Link, divides, endings
from app.domain.claims import read
from app.domain.dates import When
from app.domain.ids import MessageId, StatementId
from app.domain.likeness import DEFAULT, alike
from app.domain.messages import SPOKEN
from app.domain.text import normalise, terms
from app.domain.wording import Wording, split_speaker, take_apart


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


@dataclass(frozen=True, slots=True)
class Known:
    """A stored statement, current or not, that a candidate may repeat or update.

    `messages` are those it cites, said from `occurred_at` to `latest`. `fixed`: it is the user's own version, and no
    candidate ends it.
    """

    id: StatementId
    text: str
    occurred_at: datetime
    latest: datetime | None = None
    messages: frozenset[MessageId] = frozenset()
    superseded_by: StatementId | None = None
    valid_to: datetime | None = None
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Alike:
    """Cosines of candidates (by text) and known statements, and the least at which two may say the same."""

    cosines: Mapping[tuple[str, StatementId], float] = field(default_factory=lambda: MappingProxyType({}))
    least: float = DEFAULT


NO_LIKENESS = Alike()
"""Nothing is known of it: only the words count."""


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
class AdmissionPlan:
    """What storage is to do: add `new`, add the citations of `reinforced`, report `refused`, end what is `ended`.

    An ending names a stored statement by its id and a new one by its place in `new`; so a statement that arrives
    late begins as history.
    """

    new: tuple[Candidate, ...]
    reinforced: tuple[tuple[StatementId, Candidate], ...]
    refused: tuple[Refusal, ...]
    ended: tuple[Ending, ...] = ()


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


def topic_of(text: str, said_at: datetime) -> str | None:
    """What a statement is about, if a later one may take its place: the same for both."""
    return read(take_apart(text, said_at)).topic


def essences(candidate: Candidate) -> tuple[str, ...]:
    """The essences of stored statements that the candidate may repeat: its own, and that of a line it quotes."""
    _, quoted = _unquoted(candidate)
    return (candidate.wording.essence, *((quoted.essence,) if quoted else ()))


def decide(screened: Screened, known: Sequence[Known], likeness: Alike = NO_LIKENESS) -> AdmissionPlan:
    """What becomes of each candidate; the same input gives the same plan.

    Args:
        screened: candidates in the order they were drawn.
        known: stored statements that may be meant, current and superseded; of several equal ones the first current
            one is reinforced.
        likeness: how similar candidates and known statements are.

    A candidate that says the same as a known statement, or as an earlier candidate, adds its citations to it. One
    that says something else of the same topic ends it, or is ended by it: what was said later holds. Said again
    after it had ended, it is new.
    """
    refused = list(screened.refused)
    told = []
    essences_known = {take_apart(one.text, one.occurred_at).essence for one in known}
    for candidate in screened.supported:
        reason = _returned(candidate, known, essences_known)
        if reason is None:
            told.append(candidate)
        else:
            refused.append(Refusal(candidate, reason))
    admitted = _Admitted(known, told, likeness)
    for candidate in sorted(told, key=lambda one: (one.occurred_at, max(one.messages))):
        admitted.take(candidate)
    return admitted.plan(refused)


@dataclass(slots=True)
class _Entry:
    """A statement that is known or becomes so; `candidate` is new, or what reinforces it."""

    wording: Wording
    link: Link
    known: StatementId | None = None
    candidate: Candidate | None = None


class _Admitted:
    """Statements as they stand while candidates are taken, one after the other, in the order they were said."""

    def __init__(self, known: Sequence[Known], coming: Sequence[Candidate], likeness: Alike) -> None:
        self._alike = likeness
        self._entries: list[_Entry] = []
        self._saying: dict[str, list[_Entry]] = defaultdict(list)  # by essence
        self._topical: dict[str | None, list[Link]] = defaultdict(list)  # what is known and what is still to come
        self._new = 0
        for statement in known:
            self._add(_stored(statement))
        self._by_id = {entry.known: entry for entry in self._entries}
        for place, candidate in enumerate(coming):
            link = _link(candidate, -1 - place)
            self._topical[link.claim.topic].append(link)

    def take(self, candidate: Candidate) -> None:
        """Let the candidate reinforce what says the same, or stand for itself."""
        wording = candidate.wording
        repeated = [entry for entry in self._saying_the_same(candidate, wording) if self._repeats(candidate, entry)]
        if not repeated:
            self._add(_Entry(wording, _link(candidate, self._new), candidate=candidate))
            self._new += 1
            return
        entry = next((entry for entry in repeated if entry.link.superseded_by is None), repeated[0])
        entry.candidate = candidate if entry.candidate is None else _merge(entry.candidate, candidate)
        link = entry.link
        link.first, link.last = min(link.first, candidate.occurred_at), max(link.last, candidate.occurred_at)
        link.messages |= frozenset(candidate.messages)

    def plan(self, refused: Sequence[Refusal]) -> AdmissionPlan:
        """What is to be written."""
        fresh = [entry.candidate for entry in self._entries if entry.known is None and entry.candidate]
        again = [(entry.known, entry.candidate) for entry in self._entries if entry.known and entry.candidate]
        ended = endings([entry.link for entry in self._entries])
        return AdmissionPlan(tuple(fresh), tuple(again), tuple(refused), tuple(ended))

    def _add(self, entry: _Entry) -> None:
        self._entries.append(entry)
        self._saying[entry.wording.essence].append(entry)
        self._topical[entry.link.claim.topic].append(entry.link)

    def _saying_the_same(self, candidate: Candidate, wording: Wording) -> Iterator[_Entry]:
        yield from self._saying.get(wording.essence, ())
        for (text, known), cosine in self._alike.cosines.items():
            entry = self._by_id.get(known) if text == candidate.text else None
            if entry is not None and alike(wording, entry.wording, cosine, self._alike.least):
                yield entry

    def _repeats(self, candidate: Candidate, entry: _Entry) -> bool:
        """Whether nothing in between ended what says the same."""
        link = entry.link
        if link.messages.issuperset(candidate.messages):
            return True
        if link.superseded_by is not None and link.valid_to is not None and link.valid_to <= candidate.occurred_at:
            return False
        return link.claim.topic is None or not divides(self._topical[link.claim.topic], link, candidate.occurred_at)


def _stored(statement: Known) -> _Entry:
    wording = take_apart(statement.text, statement.occurred_at)
    link = Link(
        ref=statement.id,
        claim=read(wording),
        first=statement.occurred_at,
        last=statement.latest or statement.occurred_at,
        messages=statement.messages,
        superseded_by=statement.superseded_by,
        valid_to=statement.valid_to,
        fixed=statement.fixed,
    )
    return _Entry(wording, link, statement.id)


def _link(candidate: Candidate, place: int) -> Link:
    return Link(
        ref=place,
        claim=read(candidate.wording),
        first=candidate.occurred_at,
        last=candidate.occurred_at,
        messages=frozenset(candidate.messages),
        follows=frozenset((candidate.updates,)) if candidate.updates else frozenset(),
    )


def _returned(candidate: Candidate, known: Sequence[Known], essences: Set[str]) -> RefusalReason | None:
    """Why a candidate is nothing new: what the service or somebody else said comes back in it."""
    speaker, quoted = _unquoted(candidate)
    if quoted is not None and quoted.essence in essences:
        return RefusalReason.RECALLED
    if not candidate.assistant:
        return None
    said = set(terms(retold(candidate.wording.body))) - set(terms(speaker))
    own = f"{speaker}: "
    if len(said) >= ECHOED and any(said <= set(terms(one.text)) for one in known if not one.text.startswith(own)):
        return RefusalReason.ECHO
    return None


def _unquoted(candidate: Candidate) -> tuple[str, Wording | None]:
    """Who says it, and the line `Name: text` that it consists of."""
    speaker, said = split_speaker(candidate.text)
    name, _ = split_speaker(said)
    return speaker, take_apart(said, candidate.occurred_at) if speaker and name else None


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


def _merge(first: Candidate, again: Candidate) -> Candidate:
    """One candidate with the evidence of both."""
    return replace(
        first,
        messages=tuple(dict.fromkeys(first.messages + again.messages)),
        occurred_at=min(first.occurred_at, again.occurred_at),
        again_at=max(first.latest, again.latest),
    )
