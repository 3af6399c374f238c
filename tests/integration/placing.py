"""What the tests of maintenance share: statements with chosen vectors, and the step itself."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.container import Container, utc_now
from app.domain.ids import StatementId
from app.domain.jobs import Attempt, Step, Unfinished
from app.domain.records import Theme
from app.domain.vectors import Vector, unit
from app.services.maintenance import Maintenance
from app.services.removing import take_out
from tests.admitted import admit
from tests.conftest import WAIT
from tests.integration.support import claim, drain, namespace_id, post, succeed

DIMENSION = 64  # of the scripted embedder


def about(topic: int, number: int, noise: float = 0.3) -> Vector:
    """A vector near the axis of a topic; two of one topic have a cosine of about 0.9."""
    own = np.random.default_rng([topic, number]).standard_normal(DIMENSION)
    vector: Vector = unit((np.eye(DIMENSION)[topic] + noise * own / np.linalg.norm(own)).astype(np.float32))
    return vector


async def begin(built: Container, namespace: str = "ada") -> None:
    """A namespace with one message, which all statements of these tests cite."""
    await post(built, namespace, "ok")
    await built.services.flush.flush(namespace, None, 0)
    await drain(built, namespace)


async def remember(built: Container, told: Mapping[str, Vector], namespace: str = "ada") -> Sequence[StatementId]:
    """Statements of one admission, as admission leaves them."""
    async with built.storage.write(namespace) as unit_of_work:
        ids = await admit(unit_of_work, told.items())
        await unit_of_work.commit()
    return ids


async def remove(built: Container, *statements: StatementId, namespace: str = "ada") -> None:
    """As a client removes statements."""
    now = utc_now()
    async with built.storage.write(namespace) as unit_of_work:
        for statement in statements:
            await take_out(unit_of_work, statement, now)
        await unit_of_work.jobs.enqueue(Step.MAINTAIN, str(unit_of_work.namespace.id), {}, now)
        await unit_of_work.commit()


async def claimed(built: Container, namespace: str = "ada") -> Attempt:
    """The maintenance that waits."""
    attempt = await claim(built, await namespace_id(built, namespace))
    assert attempt is not None
    assert attempt.job.kind is Step.MAINTAIN
    return attempt


async def maintain(
    built: Container, namespace: str = "ada", *, turn_seconds: float = WAIT, labels: bool = False
) -> Mapping[str, Any] | Unfinished:
    """Run the maintenance that waits, once."""
    attempt = await claimed(built, namespace)
    service = Maintenance(built.storage, utc_now, labels=labels, turn_seconds=turn_seconds)
    done = await service.maintain(attempt)
    await succeed(built, attempt, done)
    return done


async def themes(built: Container, namespace: str = "ada") -> dict[frozenset[StatementId], Theme]:
    """The themes, by their statements."""
    async with built.storage.read(namespace) as unit_of_work:
        found = await unit_of_work.themes.page(None, 1000)
        members = await unit_of_work.statements.of_themes([theme.id for theme in found])
    return {frozenset(id_ for id_, _ in members[theme.id]): theme for theme in found}
