"""Retention: how long messages are kept after their receipt, and the erasure of those whose time is over.

The clock is that of the record, not of the event: what was said years ago and is imported today is kept from today on.
Lines of the audit log may have a time, too.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.audit import Act
from app.domain.errors import BeingImported, NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import Step
from app.domain.namespaces import Conversation, Namespace, What
from app.services.forgetting import begin
from app.storage.unit_of_work import Clock, Storage

SHARE = 0.01  # of its time by which a message may outstay it, so that not each goes by itself
LONGEST_OUTSTAY = timedelta(hours=1)
RECEIPTS_KEPT = timedelta(days=30)  # after an erasure is done: they name the namespace
STUCK = timedelta(hours=1)  # after its job was given up an erasure is tried anew


@dataclass(frozen=True, slots=True)
class Retention:
    """Sets retentions, and carries them out. `audit_kept`: how long lines of the audit log are; None: for ever."""

    storage: Storage
    clock: Clock
    audit_kept: timedelta | None = None

    async def keep_namespace(self, name: str, kept: timedelta | None) -> Namespace:
        """How long a namespace's messages are kept; None: for ever. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(name) as unit:
            seconds = None if kept is None else round(kept.total_seconds())
            await unit.directory.set_retention(unit.namespace.id, seconds)
            await unit.audit.record(Act.UPDATE_NAMESPACE, now)
            await unit.commit(revises_memory=False)
        async with self.storage.directory() as directory:
            return await directory.get(name)

    async def keep_conversation(self, namespace: str, name: str, kept: timedelta | None) -> Conversation:
        """How long a conversation's messages are kept; None: as its namespace has it. Raises NotFound."""
        now = self.clock()
        async with self.storage.write(namespace) as unit:
            id_ = await unit.messages.conversation(name)
            seconds = None if kept is None else round(kept.total_seconds())
            await unit.erasures.set_retention(id_, seconds)
            await unit.audit.record(Act.UPDATE_CONVERSATION, now, object=id_)
            [conversation] = await unit.messages.list_conversations(None, 1, only=id_)
            await unit.commit(revises_memory=False)
        return conversation

    async def run(self) -> int:
        """Queue what is due: the erasure of expired messages, and erasures that lost their job.

        Returns how many jobs. Also removes old receipts and old lines of the audit log.
        """
        now = self.clock()
        async with self.storage.directory() as directory:
            keeping = await directory.with_retention()
            stuck = await directory.stuck_erasures(now - STUCK)
        await self.storage.purge_receipts(now - RECEIPTS_KEPT)
        if self.audit_kept is not None:
            await self._shorten_audit(self.audit_kept, now)
        for namespace, receipt in stuck:
            with suppress(NotFound):
                async with self.storage.write(namespace, also_deleted=True) as unit:
                    await unit.jobs.enqueue(Step.FORGET, str(receipt), {}, now)
                    await unit.commit(revises_memory=False)
        return len(stuck) + sum([await self._expire(namespace, now) for namespace in keeping])

    async def _shorten_audit(self, kept: timedelta, now: datetime) -> None:
        """Remove the lines whose time is over, once the first has outstayed it: each removal leaves a line itself."""
        async with self.storage.access() as access:
            oldest = await access.audit.oldest()
        if oldest is None or oldest >= now - kept * (1 + SHARE):
            return
        async with self.storage.write_access() as access:
            if await access.audit.remove(now - kept):
                await access.audit.record(Act.SHORTEN, now)
                await access.commit()

    async def _expire(self, namespace: NamespaceId, now: datetime) -> int:
        with suppress(NotFound, BeingImported):
            async with self.storage.read(namespace) as unit:
                due = await unit.erasures.expired(unit.namespace.retention, now, 1, _overdue)
            if not due:
                return 0
            async with self.storage.write(namespace) as unit:
                if await unit.receipts.is_pending(What.EXPIRED.value):
                    return 0
                receipt = await begin(unit, What.EXPIRED, now)
                await unit.audit.record(Act.EXPIRE, now, object=receipt.id)
                await unit.commit(revises_memory=False)
            return 1
        return 0


def _overdue(kept: timedelta) -> timedelta:
    """How old a message may become until it is time to see to those that have expired."""
    return kept + min(kept * SHARE, LONGEST_OUTSTAY)
