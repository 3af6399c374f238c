"""Remembering: candidates against what is known, and what the rule of admission decides, written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from app.domain.chains import Ending
from app.domain.filters import Filter
from app.domain.ids import StatementId, ThemeId
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.likeness import threshold
from app.domain.namespaces import model_of
from app.domain.provenance import MadeBy
from app.domain.records import Origin, Statement
from app.domain.screening import Candidate, Screened
from app.domain.statements import AdmissionPlan, Alike, Known, decide, essences, topic_of
from app.domain.text import terms
from app.domain.theme_policy import policy_for
from app.domain.validity import validity
from app.domain.wording import take_apart
from app.storage.filters import within
from app.storage.repository import new_id
from app.storage.statements import Keys
from app.storage.unit_of_work import ReadUnit, WriteUnit

NEAREST = 4  # stored statements whose words are compared with a candidate's because their vectors are close

Vectors = Mapping[str, Sequence[Embedding]]
"""By text, one a part."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where statements come from: recorded with each."""

    origin: Origin
    made_by: MadeBy


async def likeness(unit: ReadUnit, candidates: Sequence[Candidate], vectors: Vectors) -> Alike:
    """The current statements nearest to each candidate, which may say the same; read before the writing begins."""
    least = threshold(model_of(unit.namespace.embedding_profile))
    current = within(Level.STATEMENT, Filter())
    cosines = {}
    for text in dict.fromkeys(candidate.text for candidate in candidates):
        near = await unit.embeddings.nearest(Level.STATEMENT, vectors[text][0].vector, NEAREST, current)
        cosines.update({(text, StatementId(id_)): cosine for id_, cosine in near.similarities.items()})
    return Alike(cosines, least)


async def weigh(
    unit: WriteUnit, screened: Screened, alike: Alike, vectors: Vectors, shown: Sequence[StatementId] = ()
) -> AdmissionPlan:
    """What becomes of candidates, given all that is known at this moment; `shown` they may update by name."""
    candidates = [await _with_sound_update(unit, candidate, vectors) for candidate in screened.supported]
    wanted = [essence for candidate in candidates for essence in essences(candidate)]
    topics = {topic for candidate in candidates if (topic := topic_of(candidate.text, candidate.occurred_at))}
    found = {statement.id: statement for statement in await unit.statements.related(wanted, topics)}
    found |= await unit.statements.many({id_ for _, id_ in alike.cosines} | set(shown))
    return decide(Screened(tuple(candidates), screened.refused), await as_known(unit, list(found.values())), alike)


async def as_known(unit: ReadUnit, found: Sequence[Statement]) -> Sequence[Known]:
    """Stored statements as the rule of admission sees them, the oldest first."""
    latest = await unit.statements.latest(one.id for one in found)
    return [_known(one, latest.get(one.id)) for one in sorted(found, key=lambda one: one.id)]


async def write(
    unit: WriteUnit, plan: AdmissionPlan, source: Source, vectors: Vectors, now: datetime
) -> Sequence[Statement]:
    """Carry out a plan; returns the new statements, in its order."""
    ids = [StatementId(new_id()) for _ in plan.new]
    ended = {ending.ref: ending for ending in plan.ended}
    new = [
        _statement(id_, candidate, source, now, _heir(ended[place], ids) if place in ended else None)
        for place, (id_, candidate) in enumerate(zip(ids, plan.new, strict=True))
    ]
    await add(unit, new, vectors)
    for statement, candidate in plan.reinforced:
        await unit.statements.reinforce(statement, candidate.messages, candidate.occurred_at)
    for ending in plan.ended:
        if not isinstance(ending.ref, int):
            by, at = _heir(ending, ids)
            await supersede(unit, ending.ref, by, at, now)
    return new


async def add(unit: WriteUnit, new: Sequence[Statement], vectors: Vectors) -> None:
    """Store statements with all by which they are found."""
    keys = [Keys(take_apart(one.text, one.occurred_at).essence, topic_of(one.text, one.occurred_at)) for one in new]
    await unit.statements.add(list(zip(new, keys, strict=True)))
    await unit.words.add(Level.STATEMENT, {statement.id: terms(statement.text) for statement in new})
    await unit.embeddings.add(Level.STATEMENT, {statement.id: vectors[statement.text] for statement in new})


async def supersede(unit: WriteUnit, old: StatementId, by: StatementId, ended: datetime, now: datetime) -> None:
    """End a statement; it leaves its theme."""
    theme = (await unit.statements.get(old)).theme
    await unit.statements.supersede(old, by, ended)
    if theme is not None:
        await shrink(unit, theme, now)


async def shrink(unit: WriteUnit, theme: ThemeId, now: datetime) -> None:
    """A theme goes on without the members that left it, or ends with the last."""
    left = [statement for statement, _ in (await unit.statements.of_themes([theme])).get(theme, ())]
    if not left:
        await unit.themes.remove([theme])
        return
    vectors = await unit.embeddings.vectors(Level.STATEMENT, left)
    total = np.stack(list(vectors.values())).sum(axis=0, dtype=np.float64)
    await unit.themes.change(theme, size=len(left), vector_sum=total.astype(np.float32), now=now)


async def _with_sound_update(unit: WriteUnit, candidate: Candidate, vectors: Vectors) -> Candidate:
    """The candidate, without the statement it is said to update if that is about another matter."""
    if candidate.updates is None:
        return candidate
    stored = await unit.embeddings.vectors(Level.STATEMENT, [candidate.updates])
    old, new = stored.get(candidate.updates), vectors[candidate.text][0].vector
    near = policy_for(model_of(unit.namespace.embedding_profile)).attach_small
    return candidate if old is not None and float(old @ new) >= near else replace(candidate, updates=None)


def _known(statement: Statement, latest: datetime | None) -> Known:
    return Known(
        id=statement.id,
        text=statement.text,
        occurred_at=statement.occurred_at,
        latest=latest,
        messages=frozenset(statement.messages),
        superseded_by=statement.superseded_by,
        valid_to=statement.valid_to,
        fixed=statement.origin == Origin.USER,
    )


def _heir(ending: Ending, ids: Sequence[StatementId]) -> tuple[StatementId, datetime]:
    by = ending.by
    return (ids[by] if isinstance(by, int) else by), ending.at


def _statement(
    id_: StatementId,
    candidate: Candidate,
    source: Source,
    now: datetime,
    ended: tuple[StatementId, datetime] | None,
) -> Statement:
    valid_from, valid_to = validity(candidate.when)
    by, at = ended or (None, valid_to)
    return Statement(
        id=id_,
        text=candidate.text,
        kind=candidate.kind.value,
        origin=source.origin,
        support=len(candidate.messages),
        theme=None,
        occurred_at=candidate.occurred_at,
        valid_from=valid_from,
        valid_to=at,
        superseded_by=by,
        made_by=source.made_by,
        recorded_at=now,
        messages=candidate.messages,
    )
