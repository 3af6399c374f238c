"""Editing: statements that a client brings, corrects or deletes."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from app.domain.audit import Act
from app.domain.backing import Backing
from app.domain.errors import FieldError, InvalidInput, NotFound
from app.domain.ids import MessageId, StatementId
from app.domain.jobs import Step
from app.domain.messages import Message
from app.domain.namespaces import Receipt, What
from app.domain.provenance import MadeBy
from app.domain.records import Origin, Statement
from app.domain.replies import Reply
from app.domain.screening import Candidate, Kind, RefusalReason, Screened, screen
from app.domain.statements import AdmissionPlan
from app.domain.text import normalise
from app.domain.validity import first_time, validity_of
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts
from app.services.forgetting import begin
from app.services.memory import CitedStatement, cited
from app.services.once import Once
from app.services.remembering import Source, Vectors, add, likeness, supersede, weigh, write
from app.services.removing import take_out
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, ReadUnit, Storage, WriteUnit

NOWHERE = MessageId(UUID(int=0))
"""In the place of a message that does not exist."""

LONG_AGO = datetime.min.replace(tzinfo=UTC)
CLIENT = MadeBy("client", "1")
BY_HAND = MadeBy("user", "1")


@dataclass(frozen=True, slots=True)
class Claimed:
    """A statement that a client brings, with the messages it rests on: (conversation, external id)."""

    text: str
    messages: tuple[tuple[str, str], ...]
    occurred_at: datetime | None = None


class Outcome(StrEnum):
    """What became of a statement that a client brought."""

    NEW = "new"
    REINFORCED = "reinforced"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Decided:
    """The outcome, why it was refused, and the statement that says it now."""

    outcome: Outcome
    reason: RefusalReason | None
    statement: CitedStatement | None


@dataclass(frozen=True, slots=True)
class Editing:
    """Writes what clients say about statements. The rule of admission holds for them too."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock

    async def claim(
        self, namespace: str, claimed: Sequence[Claimed], once: Once[Sequence[Decided]] | None = None
    ) -> Sequence[Decided] | Reply:
        """Admit a client's statements. Raises NotFound, and what the embedding model raises.

        Under an idempotency key the answer that was kept comes back; raises Conflict if the key is another's.
        """
        while True:
            async with self.storage.read(namespace) as unit:
                if once and (reply := await once.earlier(unit, self.clock())):
                    return reply
                profile = unit.namespace.embedding_profile
                messages = await _messages(unit, claimed)
            candidates = [_candidate(one, found) for one, found in zip(claimed, messages, strict=True)]
            shown = {message.id: message for found in messages for message in found if message is not None}
            screened = await asyncio.to_thread(screen, candidates, Backing(shown, rephrased=True))
            vectors = await self._embed(profile, [candidate.text for candidate in screened.supported])
            async with self._write(namespace, profile) as unit:
                if unit is not None:
                    return await self._admit(unit, candidates, screened, vectors, once)

    async def _admit(
        self,
        unit: WriteUnit,
        candidates: Sequence[Candidate],
        screened: Screened,
        vectors: Vectors,
        once: Once[Sequence[Decided]] | None,
    ) -> Sequence[Decided] | Reply:
        now = self.clock()
        if once and (reply := await once.earlier(unit, now)):
            return reply
        alike = await likeness(unit, screened.supported, vectors)
        plan = await weigh(unit, screened, alike, vectors)
        new = await write(unit, plan, Source(Origin.CLIENT, CLIENT), vectors, now)
        await _maintain(unit, now)
        decided = await _decided(unit, candidates, plan, new)
        kept = await once.keep(unit, decided, now) if once else None
        await unit.commit()
        return kept or decided

    async def correct(self, namespace: str, id_: StatementId, text: str) -> CitedStatement:
        """Put the user's own version in the place of a current statement, which stays readable as history.

        It rests on the same messages and holds from when they were said: the old version never held. Raises
        NotFound; InvalidInput if the statement was superseded, or says the same.
        """
        while True:
            async with self.storage.read(namespace) as unit:
                _correctable(await unit.statements.get(id_), text)
                profile = unit.namespace.embedding_profile
            vectors = await self._embed(profile, [text])
            async with self._write(namespace, profile) as unit:
                if unit is not None:
                    version = await self._version(unit, id_, text, vectors)
                    await unit.commit()
                    return version

    async def _version(self, unit: WriteUnit, id_: StatementId, text: str, vectors: Vectors) -> CitedStatement:
        now, old = self.clock(), await unit.statements.get(id_)
        _correctable(old, text)
        valid_from, valid_to = validity_of(text, old.occurred_at)
        version = replace(
            old,
            id=StatementId(new_id()),
            text=text,
            origin=Origin.USER,
            made_by=BY_HAND,
            theme=None,
            recorded_at=now,
            valid_from=valid_from,
            valid_to=valid_to,
        )
        await add(unit, [version], vectors)
        await supersede(unit, id_, version.id, old.occurred_at, now)
        await _maintain(unit, now)
        return (await cited(unit, [version]))[0]

    async def remove(self, namespace: str, id_: StatementId) -> Receipt:
        """Delete a statement with the versions that it corrected, as if they had never been drawn. Raises NotFound.

        What it had superseded is superseded by what supersedes it or comes next, or holds again. The messages that it
        rested on stay; nothing more is drawn from them.
        """
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            removed = await take_out(unit, id_, now)
            await unit.directory.raise_erasures(unit.namespace.id)
            await _maintain(unit, now)
            receipt = await begin(unit, What.STATEMENT, now)
            await unit.receipts.count(receipt.id, {"statements": removed})
            await unit.audit.record(Act.DELETE_STATEMENT, now, object=id_)
            await unit.commit()
        return receipt

    @asynccontextmanager
    async def _write(self, namespace: str, profile: str) -> AsyncIterator[WriteUnit | None]:
        """A write unit; None if the namespace's vectors are of another profile than they were: embed again."""
        async with self.storage.write(namespace) as unit:
            yield unit if unit.namespace.embedding_profile == profile else None

    async def _embed(self, profile: str, texts: Sequence[str]) -> Vectors:
        made = await embed_parts(self.embedders.of(profile), texts)
        return dict(zip(texts, made, strict=True))


async def _messages(unit: ReadUnit, claimed: Sequence[Claimed]) -> Sequence[Sequence[Message | None]]:
    """The messages that each statement rests on; None where there is none of that name."""
    named: dict[str, set[str]] = defaultdict(set)
    for conversation, external_id in (name for one in claimed for name in one.messages):
        named[conversation].add(external_id)
    ids: dict[tuple[str, str], MessageId] = {}
    for conversation, wanted in named.items():
        try:
            place = await unit.messages.conversation(conversation)
        except NotFound:
            continue
        found = await unit.messages.known(place, sorted(wanted))
        ids |= {(conversation, external_id): known.id for external_id, known in found.items()}
    messages = await unit.messages.many(ids.values())
    return [[messages[ids[name]] if name in ids else None for name in one.messages] for one in claimed]


def _candidate(claimed: Claimed, found: Sequence[Message | None]) -> Candidate:
    said = claimed.occurred_at or max((message.occurred_at for message in found if message), default=LONG_AGO)
    when = first_time(claimed.text, said)
    kind = Kind.FACT if when is None else Kind.PLAN if when.start > said.date() else Kind.EVENT
    cited_ids = dict.fromkeys(message.id if message else NOWHERE for message in found)
    return Candidate(claimed.text, kind, tuple(cited_ids), said, when)


async def _decided(
    unit: ReadUnit, candidates: Sequence[Candidate], plan: AdmissionPlan, new: Sequence[Statement]
) -> Sequence[Decided]:
    """What became of each candidate, in their order."""
    refused = {id(refusal.candidate): refusal.reason for refusal in plan.refused}
    made = {candidate.wording.essence: statement.id for candidate, statement in zip(plan.new, new, strict=True)}
    known = {candidate.wording.essence: id_ for id_, candidate in plan.reinforced}
    found = await unit.statements.many([*made.values(), *known.values()])
    shown = {one.statement.id: one for one in await cited(unit, list(found.values()))}
    decided = []
    for candidate in candidates:
        essence = candidate.wording.essence
        reason = refused.get(id(candidate))
        statement = made.pop(essence, None) if reason is None else None
        outcome = Outcome.REFUSED if reason else Outcome.NEW if statement else Outcome.REINFORCED
        if statement is not None:
            known[essence] = statement
        decided.append(Decided(outcome, reason, None if reason else shown[_saying(candidate, known, plan)]))
    return decided


def _saying(candidate: Candidate, known: Mapping[str, StatementId], plan: AdmissionPlan) -> StatementId:
    """The statement that a candidate became or reinforced, perhaps together with another in other words."""
    found = known.get(candidate.wording.essence)
    return found or next(id_ for id_, one in plan.reinforced if set(candidate.messages) <= set(one.messages))


def _correctable(statement: Statement, text: str) -> None:
    if statement.superseded_by is not None:
        raise InvalidInput("only a current statement can be corrected", [FieldError("statement", "was superseded")])
    if not normalise(text) or statement.text == text:
        raise InvalidInput("the text says nothing new", [FieldError("text", "must be another text with words in it")])


async def _maintain(unit: WriteUnit, now: datetime) -> None:
    await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
