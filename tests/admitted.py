"""Statements with chosen vectors, stored as admission leaves them: for tests and measurements of maintenance."""

from collections.abc import Iterable, Sequence

from app.container import utc_now
from app.domain.ids import StatementId
from app.domain.jobs import Step
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Origin, Statement
from app.domain.text import terms
from app.domain.vectors import Vector
from app.storage.repository import new_id
from app.storage.statements import Keys
from app.storage.unit_of_work import WriteUnit


async def admit(unit: WriteUnit, told: Iterable[tuple[str, Vector]]) -> Sequence[StatementId]:
    """Store statements, all citing the namespace's first message, and ask for maintenance; the caller commits."""
    now = utc_now()
    [cited] = [message.id for message in await unit.doctor.walk(None, 1)]
    new = {
        Statement(
            id=StatementId(new_id()),
            text=text,
            kind="fact",
            origin=Origin.EXTRACTIVE,
            support=1,
            theme=None,
            occurred_at=now,
            valid_from=None,
            valid_to=None,
            superseded_by=None,
            made_by=EXTRACTIVE,
            recorded_at=now,
            messages=(cited,),
        ): vector
        for text, vector in told
    }
    await unit.statements.add([(one, Keys(str(one.id), None)) for one in new])
    await unit.words.add(Level.STATEMENT, {one.id: terms(one.text) for one in new})
    await unit.embeddings.add(Level.STATEMENT, {one.id: [Embedding(vector, None)] for one, vector in new.items()})
    await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
    return [one.id for one in new]
