"""POST messages: durable in one short transaction, without any model."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime

from app.domain.errors import Conflict, FieldError
from app.domain.ids import ConversationId, JobId, MessageId
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.messages import Draft, Message, body
from app.domain.replies import DELETED, Reply
from app.domain.text import terms
from app.services.backlog import Backlog
from app.services.once import Once
from app.storage.messages import Known
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, Storage, WriteUnit

THREAD_ABOVE = 20_000  # characters: finding the words of more would hold up the event loop


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of one message: `status` is accepted, duplicate or deleted."""

    id: MessageId
    external_id: str | None
    sequence: int
    status: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one POST. `sequence` is the namespace's newest; `job` is None if nothing was new."""

    messages: tuple[Appended, ...]
    sequence: int
    job: JobId | None

    def count(self, status: str) -> int:
        """Messages with this status."""
        return sum(message.status == status for message in self.messages)


@dataclass(frozen=True, slots=True)
class Ingest:
    """Accepts messages. What it acknowledges is committed, together with the job that will work on it."""

    storage: Storage
    profile: str
    clock: Clock
    backlog: Backlog = field(default_factory=Backlog)

    async def append(self, namespace: str, conversation: str, drafts: Sequence[Draft]) -> Ingested:
        """Store new messages in order and queue their segmentation.

        Stores nothing, and raises Conflict if an external id is taken by another content, TooMany if too much waits.
        """
        now, words = self.clock(), await words_of(drafts)
        async with self.storage.write_or_create(namespace, self.profile, now) as unit:
            ingested = await self.append_to(unit, conversation, drafts, words, now)
            if ingested.job is not None:
                await unit.commit()
        return ingested

    async def append_once(
        self, namespace: str, conversation: str, drafts: Sequence[Draft], once: Once[Ingested]
    ) -> Reply:
        """The same under an idempotency key: a request that was answered already gets its first answer.

        Raises Conflict also if the key was used for another request. What fails leaves no key.
        """
        now, words = self.clock(), await words_of(drafts)
        async with self.storage.write_or_create(namespace, self.profile, now) as unit:
            reply = await once.earlier(unit, now)
            if reply is None:
                ingested = await self.append_to(unit, conversation, drafts, words, now)
                reply = await once.keep(unit, ingested, now)
                await unit.commit(revises_memory=ingested.job is not None)
        return reply

    async def append_to(
        self, unit: WriteUnit, conversation: str, drafts: Sequence[Draft], words: Sequence[Sequence[str]], now: datetime
    ) -> Ingested:
        """The same in the caller's transaction, which appends nothing else; `words` are those of `words_of`."""
        known = await _known(unit, conversation, drafts)
        digests = [digest(draft) for draft in drafts]
        appended, new = _number(drafts, digests, known, unit.namespace.sequence)
        if not new:
            return Ingested(appended, unit.namespace.sequence, None)
        await self.backlog.admit(unit, len(new))
        place = await unit.messages.get_or_create_conversation(conversation, now)
        job = await _store(unit, place, drafts, digests, words, [appended[i] for i in new], new, now)
        return Ingested(appended, unit.namespace.sequence + len(new), job)


def digest(draft: Draft) -> str:
    """SHA-256 of all that the client sent: a retry has the same, another message under the same id has not."""
    sent = {**asdict(draft), "occurred_at": draft.occurred_at and draft.occurred_at.isoformat()}
    return hashlib.sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()


async def words_of(drafts: Sequence[Draft]) -> Sequence[Sequence[str]]:
    """The terms that each message is found by."""
    texts = [f"{draft.speaker or ''} {body(draft.content, draft.images)}" for draft in drafts]
    if sum(map(len, texts)) > THREAD_ABOVE:
        return await asyncio.to_thread(lambda: [terms(text) for text in texts])
    return [terms(text) for text in texts]


async def _known(unit: WriteUnit, conversation: str, drafts: Sequence[Draft]) -> dict[str, Known]:
    """Which of the client's ids are taken, also by messages that were erased."""
    named = [draft.external_id for draft in drafts if draft.external_id is not None]
    erased = await unit.erasures.known(conversation, named)
    known = {name: Known(one.id, one.sequence, None) for name, one in erased.items()}
    place = await unit.messages.find_conversation(conversation)
    return known if place is None else known | dict(await unit.messages.known(place, named))


def _number(
    drafts: Sequence[Draft], digests: Sequence[str], known: dict[str, Known], sequence: int
) -> tuple[tuple[Appended, ...], list[int]]:
    """Give each message its id and sequence; also tell which (by index) are new. Raises Conflict."""
    appended: list[Appended] = []
    new: list[int] = []
    clashes: list[FieldError] = []
    for index, (draft, fingerprint) in enumerate(zip(drafts, digests, strict=True)):
        name = draft.external_id
        same = known.get(name) if name is not None else None
        if same is None:
            same = Known(MessageId(new_id()), sequence + len(new) + 1, fingerprint)
            new.append(index)
            appended.append(Appended(same.id, name, same.sequence, "accepted"))
            if name is not None:
                known[name] = same
        elif same.digest is None:
            appended.append(Appended(same.id, name, same.sequence, DELETED))
        elif same.digest == fingerprint:
            appended.append(Appended(same.id, name, same.sequence, "duplicate"))
        else:
            clashes.append(FieldError(f"#/messages/{index}/external_id", "is taken by a message with another content"))
    if clashes:
        raise Conflict("an external_id is taken by a message with another content; nothing was stored", clashes)
    return tuple(appended), new


async def _store(
    unit: WriteUnit,
    conversation: ConversationId,
    drafts: Sequence[Draft],
    digests: Sequence[str],
    words: Sequence[Sequence[str]],
    numbered: Sequence[Appended],
    new: Sequence[int],
    now: datetime,
) -> JobId:
    last = max(await unit.messages.last_position(conversation), await unit.erasures.last_position(conversation))
    rows = [
        (_message(drafts[index], where, conversation, last + step, now), digests[index])
        for step, (index, where) in enumerate(zip(new, numbered, strict=True), start=1)
    ]
    await unit.messages.add(rows)
    documents: Mapping[MessageId, Sequence[str]] = {
        where.id: words[index] for index, where in zip(new, numbered, strict=True)
    }
    await unit.words.add(Level.MESSAGE, documents)
    await unit.directory.set_sequence(unit.namespace.id, numbered[-1].sequence)
    return await unit.jobs.enqueue(
        Step.SEGMENT, str(conversation), {"close_through": None}, now, first_sequence=numbered[0].sequence
    )


def _message(draft: Draft, where: Appended, conversation: ConversationId, position: int, now: datetime) -> Message:
    return Message(
        id=where.id,
        conversation=conversation,
        sequence=where.sequence,
        role=draft.role,
        content=draft.content,
        occurred_at=draft.occurred_at or now,
        recorded_at=now,
        position=position,
        external_id=draft.external_id,
        speaker=draft.speaker,
        images=draft.images,
        metadata=draft.metadata,
    )
