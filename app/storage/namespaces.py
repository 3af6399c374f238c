"""The directory: the one repository that sees more than one namespace. It holds names, never memory."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, and_, delete, exists, func, insert, or_, select, union, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.errors import NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import OPEN_STATES, JobState, Step
from app.domain.namespaces import Namespace, Receipt
from app.storage.bells import has_bell
from app.storage.repository import new_id
from app.storage.tables import (
    citations,
    conversations,
    embeddings,
    ended_themes,
    episodes,
    idempotency_keys,
    jobs,
    messages,
    namespaces,
    postings,
    receipts,
    regions,
    statements,
    themes,
    usage,
    word_statistics,
)

ERASED_IN_ORDER = (
    citations,
    statements,
    themes,
    ended_themes,
    regions,
    embeddings,
    postings,
    word_statistics,
    messages,
    episodes,
    conversations,
    jobs,
    usage,
    idempotency_keys,
)  # children before parents


def to_namespace(row: Row[Any]) -> Namespace:
    """A namespace row as a value."""
    return Namespace(
        NamespaceId(row.id),
        row.name,
        row.created_at,
        row.sequence,
        row.revision,
        row.erasures,
        row.embedding_profile,
        row.generation,
        row.next_profile,
        row.next_generation,
    )


def _takeable(now: datetime, stale_before: datetime, since: datetime | None) -> Select[Any]:
    due = and_(jobs.c.state == JobState.QUEUED, jobs.c.due_at <= now)
    if since is not None:
        due = and_(due, jobs.c.due_at >= since)
    silent = and_(jobs.c.state == JobState.RUNNING, jobs.c.heartbeat_at < stale_before)
    other = jobs.alias()
    taken = exists().where(
        other.c.namespace_id == jobs.c.namespace_id,
        other.c.state == JobState.RUNNING,
        other.c.heartbeat_at >= stale_before,
    )
    return select(jobs.c.namespace_id).where(or_(due, silent), ~taken).group_by(jobs.c.namespace_id)


class Directory:
    """Names, receipts, and which namespaces have work."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def find(self, name: str) -> Namespace | None:
        """The live namespace called `name`."""
        query = select(namespaces).where(namespaces.c.name == name, namespaces.c.deleted_at.is_(None))
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else to_namespace(row)

    async def get_or_create(self, name: str, profile: str, now: datetime) -> NamespaceId:
        """The live namespace called `name`, made if there is none."""
        found = await self.find(name)
        if found is not None:
            return found.id
        values = {
            "id": new_id(), "name": name, "created_at": now, "sequence": 0, "revision": 0, "erasures": 0,
            "embedding_profile": profile,
        }  # fmt: skip
        # Two first messages at once: the loser of the race waits for the winner, then finds its row.
        with suppress(IntegrityError):
            async with self._connection.begin_nested():
                await self._connection.execute(insert(namespaces).values(values))
        return (await self.get(name)).id

    async def get(self, name: str) -> Namespace:
        """The live namespace called `name`. Raises NotFound."""
        found = await self.find(name)
        if found is None:
            raise NotFound("no such namespace")
        return found

    async def page(self, after: UUID | None, limit: int) -> Sequence[Namespace]:
        """Live namespaces, oldest first."""
        query = select(namespaces).where(namespaces.c.deleted_at.is_(None))
        if after is not None:
            query = query.where(namespaces.c.id > after)
        rows = await self._connection.execute(query.order_by(namespaces.c.id).limit(limit))
        return [to_namespace(row) for row in rows]

    async def profiles(self) -> Sequence[str]:
        """Embedding profiles in use."""
        query = select(namespaces.c.embedding_profile).where(namespaces.c.deleted_at.is_(None)).distinct()
        return list((await self._connection.execute(query)).scalars())

    async def with_due_jobs(self, now: datetime, stale_before: datetime) -> Sequence[NamespaceId]:
        """Namespaces with work for the taking, longest due first.

        A queued job whose time has come, or a running one whose worker went silent; but not where a living
        worker runs one: a namespace's steps follow one another.
        """
        query = _takeable(now, stale_before, None).order_by(func.min(jobs.c.due_at))
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(query)]

    async def with_unheard_jobs(
        self, now: datetime, stale_before: datetime, since: datetime | None
    ) -> Sequence[NamespaceId]:
        """Postgres only: of those, the ones for whom no bell rings; fallen due `since` then, if given."""
        query = _takeable(now, stale_before, since).where(~has_bell(jobs.c.namespace_id))
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(query)]

    async def with_resting_buffers(self, before: datetime) -> Sequence[NamespaceId]:
        """Namespaces with a message in the buffer of a conversation at rest since `before`."""
        query = (
            select(messages.c.namespace_id)
            .where(messages.c.episode_id.is_(None))
            .group_by(messages.c.namespace_id, messages.c.conversation_id)
            .having(func.max(messages.c.recorded_at) <= before)
        )
        return sorted({NamespaceId(row.namespace_id) for row in await self._connection.execute(query)})

    async def with_unfinished_rows(self) -> Sequence[NamespaceId]:
        """Namespaces with an episode not admitted, a current statement without a theme, or a theme to look at again."""
        episode = select(episodes.c.namespace_id).where(episodes.c.admitted_at.is_(None))
        statement = select(statements.c.namespace_id).where(
            statements.c.theme_id.is_(None), statements.c.superseded_by.is_(None)
        )
        theme = select(themes.c.namespace_id).where(themes.c.dirty)
        query = union(episode, statement, theme)
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(query)]

    async def with_degraded_texts(self) -> Sequence[NamespaceId]:
        """Namespaces with an admitted episode or a theme whose texts stand in for a model's."""
        episode = select(episodes.c.namespace_id).where(episodes.c.degraded, episodes.c.admitted_at.is_not(None))
        theme = select(themes.c.namespace_id).where(themes.c.degraded)
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(union(episode, theme))]

    async def with_replies_before(self, before: datetime) -> Sequence[NamespaceId]:
        """Namespaces with an idempotency key from before that moment."""
        query = select(idempotency_keys.c.namespace_id).where(idempotency_keys.c.created_at <= before).distinct()
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(query)]

    async def requeue_running(self) -> int:
        """Queue again all that ran when the only process that runs jobs ended. Returns how many."""
        running = update(jobs).where(jobs.c.state == JobState.RUNNING)
        changed = await self._connection.execute(running.values(state=JobState.QUEUED.value, token=None))
        return changed.rowcount

    async def rows_of_nobody(self) -> Mapping[str, int]:
        """Rows of namespaces that do not exist, by table: an erasure leaves none."""
        found: dict[str, int] = {}
        for table in ERASED_IN_ORDER:
            query = select(func.count()).where(~exists().where(namespaces.c.id == table.c.namespace_id))
            count = (await self._connection.execute(query.select_from(table))).scalar_one()
            if count:
                found[table.name] = count
        return found

    async def stuck_erasures(self) -> Sequence[NamespaceId]:
        """Deleted namespaces whose rows no open job is going to erase."""
        working = exists().where(
            jobs.c.namespace_id == namespaces.c.id, jobs.c.kind == Step.FORGET, jobs.c.state.in_(OPEN_STATES)
        )
        query = select(namespaces.c.id).where(namespaces.c.deleted_at.is_not(None), ~working)
        return [NamespaceId(row.id) for row in await self._connection.execute(query.order_by(namespaces.c.id))]

    async def raise_erasures(self, namespace: NamespaceId) -> None:
        """Make the steps that run now discard their results: what they have read is about to change."""
        await self._set(namespace, erasures=namespaces.c.erasures + 1)

    async def raise_revision(self, namespace: NamespaceId) -> None:
        """Count one more write."""
        await self._set(namespace, revision=namespaces.c.revision + 1)

    async def set_sequence(self, namespace: NamespaceId, sequence: int) -> None:
        """Record the newest message's sequence."""
        await self._set(namespace, sequence=sequence)

    async def begin_reembedding(self, namespace: Namespace, profile: str) -> None:
        """Vectors of this profile are going to be made ready, beside those that are read.

        What was made ready for the same profile counts; what was for another is read by nobody any more.
        """
        if namespace.next_profile != profile:
            await self.give_up_reembedding(namespace)
            await self._set(namespace.id, next_profile=profile)

    async def give_up_reembedding(self, namespace: Namespace) -> None:
        """What was made ready will never be read."""
        if namespace.next_profile is not None:
            await self._set(namespace.id, next_profile=None, next_generation=namespaces.c.next_generation + 1)

    async def switch_embeddings(self, namespace: Namespace) -> None:
        """From this commit on reads see what was made ready. `next_profile` must be set."""
        await self._set(
            namespace.id,
            embedding_profile=namespaces.c.next_profile,
            generation=namespaces.c.next_generation,
            next_profile=None,
            next_generation=namespaces.c.next_generation + 1,
        )

    async def retire(self, namespace: Namespace, now: datetime) -> Receipt:
        """Free the name, hide the namespace, and write a receipt for the erasure to come."""
        await self._set(namespace.id, deleted_at=now, erasures=namespaces.c.erasures + 1)
        receipt = Receipt(new_id(), namespace.name, "namespace", "pending", now, None, None)
        values = {name: getattr(receipt, name) for name in receipts.c.keys()}  # noqa: SIM118
        await self._connection.execute(insert(receipts).values(values))
        return receipt

    async def erase(self, namespace: NamespaceId, receipt: UUID, now: datetime) -> Mapping[str, int]:
        """Remove every row of the namespace and close the receipt. Returns rows removed, by table."""
        erased: dict[str, int] = {}
        for table in ERASED_IN_ORDER:
            result = await self._connection.execute(delete(table).where(table.c.namespace_id == namespace))
            erased[table.name] = result.rowcount
        await self._connection.execute(delete(namespaces).where(namespaces.c.id == namespace))
        closed = update(receipts).where(receipts.c.id == receipt)
        await self._connection.execute(closed.values(state="done", finished_at=now, erased=erased))
        return erased

    async def receipt(self, receipt: UUID) -> Receipt:
        """A receipt by id. Raises NotFound."""
        row = (await self._connection.execute(select(receipts).where(receipts.c.id == receipt))).one_or_none()
        if row is None:
            raise NotFound("no such receipt")
        return Receipt(**row._mapping)

    async def _set(self, namespace: NamespaceId, **values: Any) -> None:  # noqa: ANN401
        await self._connection.execute(update(namespaces).where(namespaces.c.id == namespace).values(**values))
