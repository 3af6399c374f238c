"""Forgetting: what is deleted is hidden when the request is answered, and gone for good when its receipt is done.

A message goes with all that was derived from it in the transaction of the request (`services/erasing.py`). So do the
messages of a conversation, a slice in each transaction; should the request break off, the job `forget` goes on. That
job also does what takes a model, or the whole database: vectors of episodes that were told anew, and what the database
keeps of rows that are gone. A namespace is hidden as a whole; the job erases its rows.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from app.domain.audit import Act
from app.domain.errors import NotFound, StoreUnavailable
from app.domain.ids import ConversationId, MessageId, NamespaceId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.levels import Level
from app.domain.namespaces import Receipt, What
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.cleaning import Cleaning
from app.services.embedding import embed_parts, embedded_texts
from app.services.erasing import erase
from app.services.turns import TURN_SECONDS, Turn
from app.storage.unit_of_work import Clock, Storage, WriteUnit

MESSAGES_AT_ONCE = 50  # between two transactions: on SQLite all other writers wait for one
ROWS_AT_ONCE = 5000  # of a namespace that is gone: some 20 ms
EPISODES_AT_ONCE = 64  # that get vectors in one call

Choose = Callable[[WriteUnit], Awaitable[Sequence[MessageId]]]
"""Which messages go next; none once nothing is left of what a receipt is about."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Erases. `retold`: there is a language model, that words episodes and themes better than rules can."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock
    cleaning: Cleaning
    retold: bool = False
    turn_seconds: float = TURN_SECONDS

    async def message(self, namespace: str, id_: MessageId) -> Receipt:
        """Erase a message. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            await unit.messages.get(id_)
            receipt = await begin(unit, What.MESSAGE, now)
            await unit.receipts.count(receipt.id, await erase(unit, [id_], now, retold=self.retold))
            await unit.audit.record(Act.DELETE_MESSAGE, now, object=id_)
            await unit.commit()
        return receipt

    async def conversation(self, namespace: str, name: str) -> Receipt:
        """Erase a conversation; its name is free at once. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            id_ = await unit.messages.conversation(name)
            await unit.erasures.retire_conversation(id_, now)
            await unit.jobs.remove([str(id_)])
            await unit.directory.raise_erasures(unit.namespace.id)
            receipt = await begin(unit, What.CONVERSATION, now)
            await unit.audit.record(Act.DELETE_CONVERSATION, now, object=id_)
            await unit.commit()
        # Whatever stops us here, the job has it to do.
        with suppress(NotFound, StoreUnavailable):
            while await self._slice(unit.namespace.id, receipt.id, partial(_of_conversation, conversation=id_)):
                pass
        return receipt

    async def retire(self, name: str) -> Receipt:
        """Hide a namespace, free its name and queue its erasure. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(name, also_importing=True) as unit:
            await unit.jobs.cancel_all(now)
            receipt = await begin(unit, What.NAMESPACE, now)
            await unit.directory.retire(unit.namespace.id, now)
            await unit.audit.record(Act.DELETE_NAMESPACE, now, object=receipt.id)
            await unit.commit()
        return receipt

    async def receipt(self, receipt: UUID) -> Receipt:
        """How far an erasure is. Raises NotFound."""
        async with self.storage.directory() as directory:
            return await directory.receipt(receipt)

    async def forget(self, attempt: Attempt, receipt: UUID) -> Mapping[str, Any] | Unfinished:
        """Go on for a while with what a receipt is about; done once nothing of it is left in the database."""
        turn, about = Turn.begin(self.turn_seconds), await self.receipt(receipt)
        if about.what == What.NAMESPACE:
            return await self._namespace(attempt, receipt, turn)
        choose = _chosen(about)
        while choose is not None and await self._slice(attempt.namespace, receipt, choose, attempt):
            if turn.is_over:
                return Unfinished({})
        while await self._embed(attempt):
            if turn.is_over:
                return Unfinished({})
        if seconds := await self.cleaning.after(receipt):
            return Unfinished({}, rest=seconds)
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.report(attempt, {})
            erased = await unit.receipts.count(receipt, {})
            await unit.receipts.close(receipt, self.clock())
            await unit.commit(revises_memory=False)
        return erased

    async def _slice(
        self, namespace: NamespaceId, receipt: UUID, choose: Choose, attempt: Attempt | None = None
    ) -> bool:
        """Erase some of the messages that are chosen. False once there are none."""
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            if attempt is not None:
                await unit.jobs.report(attempt, {})
            ids = await choose(unit)
            await unit.receipts.count(receipt, await erase(unit, ids, now, retold=self.retold))
            await unit.commit()
        return bool(ids)

    async def _embed(self, attempt: Attempt) -> bool:
        """Make the vectors of some episodes that were told anew. False once there are none."""
        async with self.storage.read(attempt.namespace) as unit:
            found = await unit.erasures.episodes_without_vectors(unit.namespace.generation, EPISODES_AT_ONCE)
            texts = await embedded_texts(unit, Level.EPISODE, found)
            seen = unit.namespace
        if not texts:
            return False
        embedder = self.embedders.of(seen.embedding_profile)
        made = dict(zip(texts, await embed_parts(embedder, list(texts.values())), strict=True))
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.report(attempt, {})
            if (unit.namespace.erasures, unit.namespace.generation) == (seen.erasures, seen.generation):
                await unit.embeddings.replace(Level.EPISODE, made)
                await unit.commit()
        return True

    async def _namespace(self, attempt: Attempt, receipt: UUID, turn: Turn) -> Mapping[str, Any] | Unfinished:
        """Remove the rows of a retired namespace, and at last its own."""
        while True:
            async with self.storage.write(attempt.namespace, also_deleted=True) as unit:
                await unit.jobs.report(attempt, {})
                some = await unit.directory.erase_some(attempt.namespace, ROWS_AT_ONCE)
                if not some:
                    break
                await unit.receipts.count(receipt, some)
                await unit.commit(revises_memory=False)
            if turn.is_over:
                return Unfinished({})
        if seconds := await self.cleaning.after(receipt):
            return Unfinished({}, rest=seconds)
        async with self.storage.write(attempt.namespace, also_deleted=True) as unit:
            rest = await unit.directory.erase_rest(attempt.namespace)
            erased = await unit.receipts.count(receipt, rest)
            await unit.receipts.close_all(self.clock())
            await unit.commit(revises_memory=False)
        return erased


async def begin(unit: WriteUnit, what: What, now: datetime) -> Receipt:
    """A receipt, and the job that is done when nothing is left of what it is about."""
    receipt = await unit.receipts.open(what.value, now)
    await unit.jobs.enqueue(Step.FORGET, str(receipt.id), {}, now)
    return receipt


def _chosen(receipt: Receipt) -> Choose | None:
    """What its job erases; None where the request has erased it all."""
    if receipt.what == What.CONVERSATION:
        return _of_conversation
    return partial(_expired, by=receipt.requested_at) if receipt.what == What.EXPIRED else None


async def _of_conversation(unit: WriteUnit, conversation: ConversationId | None = None) -> Sequence[MessageId]:
    """Of a conversation that was deleted, or of any such; with its last messages it goes itself."""
    found = await unit.erasures.retired(conversation, MESSAGES_AT_ONCE)
    if not found:
        await unit.erasures.remove_retired(conversation)
    return found


async def _expired(unit: WriteUnit, by: datetime) -> Sequence[MessageId]:
    """Whose time is over; with them the conversations in which nothing is left, for their names tell something too.

    One that has a retention of its own stays, or what is said there next would be kept for longer.
    """
    found = await unit.erasures.expired(unit.namespace.retention, by, MESSAGES_AT_ONCE)
    if not found:
        await unit.jobs.remove([str(id_) for id_ in await unit.erasures.remove_emptied()])
    return found
