"""The rule of admission: what becomes of each candidate, given the statements that are stored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from app.domain.assistants import ECHOED, retold
from app.domain.chains import Ending, Link, divides, endings
from app.domain.claims import read
from app.domain.ids import MessageId, StatementId
from app.domain.likeness import DEFAULT, alike
from app.domain.screening import Candidate, Refusal, RefusalReason, Screened
from app.domain.text import terms
from app.domain.wording import Wording, split_speaker, take_apart


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
            self._add(_Entry(take_apart(statement.text, statement.occurred_at), link_of(statement), statement.id))
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


def link_of(statement: Known) -> Link:
    """A stored statement among those of its topic."""
    return Link(
        ref=statement.id,
        claim=read(take_apart(statement.text, statement.occurred_at)),
        first=statement.occurred_at,
        last=statement.latest or statement.occurred_at,
        messages=statement.messages,
        superseded_by=statement.superseded_by,
        valid_to=statement.valid_to,
        fixed=statement.fixed,
    )


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


def _merge(first: Candidate, again: Candidate) -> Candidate:
    """One candidate with the evidence of both."""
    return replace(
        first,
        messages=tuple(dict.fromkeys(first.messages + again.messages)),
        occurred_at=min(first.occurred_at, again.occurred_at),
        again_at=max(first.latest, again.latest),
    )
