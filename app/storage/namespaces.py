"""The directory: the one repository that sees more than one namespace. It holds names, never memory."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    delete,
    exists,
    false,
    func,
    insert,
    or_,
    select,
    true,
    tuple_,
    union,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.access import EVERY
from app.domain.errors import NotFound
from app.domain.ids import NamespaceId
from app.domain.jobs import OPEN_STATES, JobState, Step
from app.domain.namespaces import Namespace, Receipt
from app.storage.bells import has_bell
from app.storage.erasure_tables import receipts, tombstones
from app.storage.receipts import PENDING
from app.storage.repository import new_id
from app.storage.tables import (
    citations,
    conversations,
    embeddings,
    ended_themes,
    episodes,
    idempotency_keys,
    import_blocks,
    jobs,
    messages,
    namespaces,
    postings,
    regions,
    statements,
    themes,
    usage,
    word_statistics,
)
from app.telemetry.acting import actor

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
    tombstones,
    episodes,
    conversations,
    jobs,
    usage,
    idempotency_keys,
    import_blocks,
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
        row.importing,
        row.retention_seconds,
    )


def _covered(pattern: str) -> ColumnElement[bool]:
    """Condition: a name is this pattern, or begins with it (domain.access). LIKE would not tell A from a on SQLite."""
    if not pattern.endswith(EVERY):
        return namespaces.c.name == pattern
    prefix = pattern.removesuffix(EVERY)
    return func.substr(namespaces.c.name, 1, len(prefix)) == prefix if prefix else true()


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
            "embedding_profile": profile, "created_by": actor().key,
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

    async def page(self, after: UUID | None, limit: int, patterns: Sequence[str]) -> Sequence[Namespace]:
        """Live namespaces whose names these patterns cover, oldest first."""
        query = select(namespaces).where(namespaces.c.deleted_at.is_(None), or_(*map(_covered, patterns), false()))
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

    async def with_lines_of_imports(self) -> Sequence[NamespaceId]:
        """Namespaces with lines that came in for an import."""
        query = select(import_blocks.c.namespace_id).distinct()
        return [NamespaceId(row.namespace_id) for row in await self._connection.execute(query)]

    async def made_by(self, key: UUID | None) -> int:
        """Live namespaces that a key has made; None: those made without one."""
        query = select(func.count()).select_from(namespaces).where(namespaces.c.deleted_at.is_(None))
        return (await self._connection.execute(query.where(namespaces.c.created_by == key))).scalar_one()

    async def pending(self) -> int:
        """Jobs of all namespaces that wait or run."""
        query = select(func.count()).select_from(jobs).where(jobs.c.state.in_(OPEN_STATES))
        return (await self._connection.execute(query)).scalar_one()

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

    async def stuck_erasures(self, before: datetime) -> Sequence[tuple[NamespaceId, UUID]]:
        """Erasures that are not done, whose job has vanished or ended before: namespace and receipt."""
        unsettled = or_(jobs.c.state.in_(OPEN_STATES), jobs.c.finished_at > before)
        at_work = select(jobs.c.key).where(jobs.c.kind == Step.FORGET, unsettled)
        working = set((await self._connection.execute(at_work)).scalars())
        there = exists().where(  # what is pending in a namespace that is being erased ends with it
            namespaces.c.id == receipts.c.namespace_id,
            or_(namespaces.c.deleted_at.is_(None), receipts.c.what == "namespace"),
        )
        pending = select(receipts.c.namespace_id, receipts.c.id).where(receipts.c.state == PENDING, there)
        rows = await self._connection.execute(pending.order_by(receipts.c.id))
        return [(NamespaceId(row.namespace_id), row.id) for row in rows if str(row.id) not in working]

    async def abandoned(self) -> Sequence[NamespaceId]:
        """Retired namespaces whose rows no open job is going to erase."""
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

    async def begin_import(self, namespace: NamespaceId, profile: str) -> None:
        """Hide an empty namespace until what is imported is whole; its vectors will be of this profile."""
        await self._set(namespace, importing=True, embedding_profile=profile, next_profile=None)

    async def end_import(self, namespace: NamespaceId) -> None:
        """From this commit on it is read."""
        await self._set(namespace, importing=False)

    async def retire(self, namespace: NamespaceId, now: datetime) -> None:
        """Free the name and hide the namespace."""
        await self._set(namespace, deleted_at=now, erasures=namespaces.c.erasures + 1)

    async def set_retention(self, namespace: NamespaceId, seconds: int | None) -> None:
        """How long messages are kept after their receipt; None: for ever."""
        await self._set(namespace, retention_seconds=seconds)

    async def with_retention(self) -> Sequence[NamespaceId]:
        """Live namespaces in which messages expire."""
        kept = select(namespaces.c.id).where(
            namespaces.c.retention_seconds.is_not(None), namespaces.c.deleted_at.is_(None)
        )
        partly = select(conversations.c.namespace_id).where(conversations.c.retention_seconds.is_not(None))
        return [NamespaceId(row[0]) for row in await self._connection.execute(union(kept, partly))]

    async def erase_some(self, namespace: NamespaceId, most: int) -> Mapping[str, int]:
        """Remove at most `most` rows of a retired namespace: how many of which table; none are left if it is empty.

        Its jobs stay, for one of them does this.
        """
        for table in ERASED_IN_ORDER:
            if table is jobs:
                continue
            key = list(table.primary_key.columns)
            some = select(*key).where(table.c.namespace_id == namespace).limit(most)
            gone = delete(table).where(table.c.namespace_id == namespace, tuple_(*key).in_(some))
            removed = (await self._connection.execute(gone)).rowcount
            if removed:
                return {table.name: removed}
        return {}

    async def erase_rest(self, namespace: NamespaceId) -> Mapping[str, int]:
        """Remove the jobs of a retired namespace, and its own row."""
        gone = await self._connection.execute(delete(jobs).where(jobs.c.namespace_id == namespace))
        await self._connection.execute(delete(namespaces).where(namespaces.c.id == namespace))
        return {jobs.name: gone.rowcount}

    async def pending_receipts(self, kinds: Collection[str]) -> set[UUID]:
        """Receipts of these kinds whose erasure is not done."""
        query = select(receipts.c.id).where(receipts.c.state == PENDING, receipts.c.what.in_(kinds))
        return set((await self._connection.execute(query)).scalars())

    async def has_receipts(self, before: datetime) -> bool:
        """Whether there are receipts of erasures that were done by then."""
        query = select(receipts.c.id).where(receipts.c.finished_at <= before)
        return (await self._connection.execute(query.limit(1))).first() is not None

    async def purge_receipts(self, before: datetime) -> int:
        """Remove receipts of erasures that were done by then. Returns how many."""
        old = delete(receipts).where(receipts.c.finished_at <= before)
        return (await self._connection.execute(old)).rowcount

    async def receipt(self, receipt: UUID) -> Receipt:
        """A receipt by id. Raises NotFound."""
        row = (await self._connection.execute(select(receipts).where(receipts.c.id == receipt))).one_or_none()
        if row is None:
            raise NotFound("no such receipt")
        return Receipt(row.id, row.namespace, row.what, row.state, row.requested_at, row.finished_at, row.erased)

    async def _set(self, namespace: NamespaceId, **values: Any) -> None:  # noqa: ANN401
        await self._connection.execute(update(namespaces).where(namespaces.c.id == namespace).values(**values))
