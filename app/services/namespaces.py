"""Namespaces: list, look at, and how far their background work is."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from app.domain.access import Caller
from app.domain.jobs import JobCounts
from app.domain.namespaces import Namespace
from app.storage.unit_of_work import ReadUnit, Storage
from app.telemetry.usage import Usage


@dataclass(frozen=True, slots=True)
class Status:
    """A namespace in numbers. `settled_sequence`: no queued or running job covers a message up to it."""

    namespace: Namespace
    messages: int
    buffered: int
    episodes: int
    statements: int
    themes: int
    degraded: int
    jobs: JobCounts
    settled_sequence: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Namespaces:
    """Reads about namespaces."""

    storage: Storage

    async def page(self, after: UUID | None, limit: int, caller: Caller) -> Sequence[Namespace]:
        """The namespaces that a caller's key opens, oldest first."""
        async with self.storage.directory() as directory:
            return await directory.page(after, limit, caller.namespaces)

    async def get(self, name: str) -> Namespace:
        """One namespace by name. Raises NotFound."""
        async with self.storage.directory() as directory:
            return await directory.get(name)

    async def status(self, name: str) -> Status:
        """Counts and progress. Raises NotFound."""
        async with self.storage.read(name, also_importing=True) as unit:
            messages, buffered = await unit.messages.counts()
            episodes, degraded_episodes = await unit.episodes.counts()
            themes, degraded_themes = await unit.themes.counts()
            return Status(
                namespace=unit.namespace,
                messages=messages,
                buffered=buffered,
                episodes=episodes,
                statements=await unit.statements.count(),
                themes=themes,
                degraded=degraded_episodes + degraded_themes,
                jobs=await unit.jobs.counts(),
                settled_sequence=await settled_sequence(unit),
                usage=await unit.usage.by_stage(),
            )


async def settled_sequence(unit: ReadUnit) -> int:
    """The highest sequence up to which no queued or running job covers a message."""
    first = await unit.jobs.first_pending_sequence()
    return unit.namespace.sequence if first is None else first - 1
