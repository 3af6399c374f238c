"""Re-embedding: a namespace gets the vectors of another embedding profile, while it is read with those it has.

New vectors are made ready beside the ones that are read, a slice in a transaction of its own. Once no item lacks
one, a single transaction exchanges them: generation, profile and the sums of themes. What is left over is removed
afterwards, again in slices. Each attempt goes on where the one before it ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.domain.audit import Act
from app.domain.errors import Conflict, FieldError, InvalidInput
from app.domain.ids import JobId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.levels import Level
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.embedding import embed_parts, embedded_texts, first_slice
from app.services.sums import sums_of_themes
from app.services.turns import TURN_SECONDS, Turn
from app.storage.unit_of_work import Clock, ReadUnit, Storage, WriteUnit

LEVELS = (Level.MESSAGE, Level.EPISODE, Level.STATEMENT)
REMOVED_AT_ONCE = 500  # items whose vectors go in one transaction: on SQLite all other writers wait for it


@dataclass(frozen=True, slots=True)
class ReembedPolicy:
    """How a long re-embedding lets others pass."""

    turn_seconds: float = TURN_SECONDS
    slice_items: int = 128  # between two transactions


@dataclass(frozen=True, slots=True)
class Ordered:
    """What became of a request. `job` is None where all vectors are of the wanted profile already."""

    namespace: str
    embedding_profile: str
    profile: str
    job: JobId | None


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Changes the embedding profile of namespaces."""

    storage: Storage
    embedders: Embedders[Embedder]
    clock: Clock
    policy: ReembedPolicy = ReembedPolicy()

    async def order(self, namespace: str, profile: str | None) -> Ordered:
        """Queue a namespace's re-embedding; without `profile`, for the one that new namespaces have.

        For the profile that it has there is something to do where texts lack the vectors of their words. An order
        that is being worked on is answered with its job. Raises NotFound; InvalidInput where no such profile is
        configured; Conflict while the namespace is being re-embedded for another one.
        """
        wanted = str(self.embedders.newest.profile) if profile is None else profile
        if self.embedders.find(wanted) is None:
            configured = FieldError("#/profile", f"must be {' or '.join(self.embedders.profiles)}")
            raise InvalidInput("no embedding model of this profile is configured", [configured])
        async with self.storage.write(namespace) as unit:
            job = await self._queue(unit, wanted)
            if job is not None:
                await unit.audit.record(Act.REEMBED, self.clock(), object=job)
            await unit.commit(revises_memory=False)
        return Ordered(namespace, unit.namespace.embedding_profile, wanted, job)

    async def _queue(self, unit: WriteUnit, wanted: str) -> JobId | None:
        namespace, job = unit.namespace, await unit.jobs.find_open(Step.REEMBED)
        if job is not None and namespace.next_profile is not None:
            if namespace.next_profile != wanted:
                message = f"the namespace is being re-embedded for {namespace.next_profile}: cancel job {job.id} first"
                raise Conflict(message)
            return job.id
        if wanted != namespace.embedding_profile or await self._lacks_words(unit):
            await unit.directory.begin_reembedding(namespace, wanted)
        elif namespace.next_profile is None:
            return None
        else:
            await unit.directory.give_up_reembedding(namespace)  # the job removes what was made ready
        return await unit.jobs.enqueue(Step.REEMBED, str(namespace.id), {}, self.clock())

    async def _lacks_words(self, unit: ReadUnit) -> bool:
        embedder = self.embedders.find(unit.namespace.embedding_profile)
        return embedder is not None and embedder.tells_words and await unit.embeddings.lack_words()

    async def reembed(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Go on with a namespace's re-embedding for a while."""
        run = await _begin(self, attempt)
        done = (run.target is None or await run.exchange(self.embedders.of(run.target))) and await run.remove_rest()
        return run.progress() if done else Unfinished(run.progress())


async def _begin(service: Reembedding, attempt: Attempt) -> "_Run":
    async with service.storage.read(attempt.namespace) as unit:
        target = unit.namespace.next_profile
        ready, present = await unit.staging.tally()
        after = {level: await unit.staging.last(level) for level in LEVELS}
    turn = Turn.begin(service.policy.turn_seconds)
    return _Run(service, attempt, turn, target, present if target is None else ready, present, after)


@dataclass(slots=True)
class _Run:
    """One attempt. `ready` of `total` items have a vector of `target`; `after` is the last such item of each level."""

    service: Reembedding
    attempt: Attempt
    turn: Turn
    target: str | None
    ready: int
    total: int
    after: dict[Level, UUID | None]

    async def exchange(self, embedder: Embedder) -> bool:
        """Make ready what is missing, then switch. False if the time was over first."""
        while await self._make_ready(embedder):
            if await self._switch(embedder.profile.dimension):
                return True
            self.after = dict.fromkeys(LEVELS)  # an item got another text: its place is anywhere
        return False

    async def remove_rest(self) -> bool:
        """Remove the vectors that nothing needs any more. False if the time was over first."""
        while True:
            async with self.service.storage.write(self.attempt.namespace) as unit:
                await unit.jobs.report(self.attempt, self.progress())
                more = await unit.staging.remove_rest(REMOVED_AT_ONCE)
                await unit.commit(revises_memory=False)
            if not more or self.turn.is_over:
                return not more

    def progress(self) -> Mapping[str, Any]:
        """How far it is, as its job shows it."""
        return {"profile": self.target or self.attempt.embedding_profile, "done": self.ready, "total": self.total}

    async def _make_ready(self, embedder: Embedder) -> bool:
        for level in LEVELS:
            while await self._slice(level, embedder):
                if self.turn.is_over:
                    return False
        return True

    async def _slice(self, level: Level, embedder: Embedder) -> bool:
        """Make some items' vectors. False if none is missing after the last one."""
        storage, namespace = self.service.storage, self.attempt.namespace
        async with storage.read(namespace) as unit:
            items = await unit.staging.missing(level, self.after[level], self.service.policy.slice_items)
            texts = first_slice(items, await embedded_texts(unit, level, items))
            erasures = unit.namespace.erasures
        if not texts:
            return False
        vectors = dict(zip(texts, await embed_parts(embedder, list(texts.values())), strict=True))
        async with storage.write(namespace) as unit:
            if unit.namespace.erasures != erasures:
                return True  # what was read may be forgotten: read it again
            self.ready += len(vectors)
            self.total = max(self.total, self.ready)
            await unit.jobs.report(self.attempt, self.progress())
            await unit.staging.ready.add(level, vectors)
            await unit.commit(revises_memory=False)
        self.after[level] = list(vectors)[-1]
        return True

    async def _switch(self, dimension: int) -> bool:
        """From now on the namespace is read with what was made ready. False if an item lacks it, or a theme changed."""
        storage, namespace = self.service.storage, self.attempt.namespace
        async with storage.read(namespace) as unit:
            erasures, versions = unit.namespace.erasures, await unit.themes.versions()
            sums = await sums_of_themes(unit, unit.staging.ready, dimension)
        async with storage.write(namespace) as unit:
            await unit.jobs.report(self.attempt, self.progress())
            if unit.namespace.erasures != erasures or await self._lacks_some(unit):
                return False
            if await unit.themes.versions() != versions:
                return False  # a client edited statements meanwhile: the sums are of others
            await unit.themes.set_sums(sums)
            await unit.directory.switch_embeddings(unit.namespace)
            await unit.commit()
        return True

    async def _lacks_some(self, unit: ReadUnit) -> bool:
        for level in LEVELS:
            if await unit.staging.missing(level, None, 1):
                return True
        return False
