"""Removing statements and the citations of messages: what is left is as if they had never been."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from app.domain.ids import MessageId, StatementId
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.records import Origin, Statement
from app.domain.revising import revise
from app.domain.statements import topic_of
from app.domain.validity import validity_of
from app.domain.wording import take_apart
from app.services.remembering import as_known, shrink, supersede
from app.storage.unit_of_work import ReadUnit, WriteUnit


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How much went: citations, statements that rested on nothing else, and themes that lost their last member."""

    citations: int
    statements: int
    themes: int


async def withdraw(unit: WriteUnit, messages: Collection[MessageId], now: datetime) -> Withdrawn:
    """Take back what messages carry, in the caller's transaction and before they are deleted themselves.

    Statements that other messages carry too stay, with less support and as from when those were said; the others go,
    with the versions that they corrected. A step under way that may have read the messages is discarded.
    """
    themes, _ = await unit.themes.counts()
    removed = await unit.statements.withdraw(messages)
    await unit.repairs.count_support(list(removed))
    found = await unit.statements.many(removed)
    gone, freed = await _take(unit, [id_ for id_ in removed if not found[id_].messages], now)
    left = await unit.statements.many(removed)
    for statement in left.values():
        await _begin_later(unit, statement, removed[statement.id])
    await _revise(unit, {*left, *freed}, now)
    await unit.directory.raise_erasures(unit.namespace.id)
    await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
    return Withdrawn(sum(map(len, removed.values())), gone, themes - (await unit.themes.counts())[0])


async def take_out(unit: WriteUnit, id_: StatementId, now: datetime) -> None:
    """Remove a statement with the versions that it corrected. Raises NotFound.

    What it had superseded is superseded by its own successor or by what came next, or holds again.
    """
    _, freed = await _take(unit, [id_], now)
    await _revise(unit, freed, now)


async def _take(unit: WriteUnit, ids: Sequence[StatementId], now: datetime) -> tuple[int, set[StatementId]]:
    """Remove statements; returns how many went, and those that lost what had superseded them."""
    gone: dict[StatementId, Statement] = {}
    freed: set[StatementId] = set()
    for id_ in ids:
        if id_ in gone:
            continue
        lost, formers = await _with_corrected(unit, await unit.statements.get(id_))
        gone |= {one.id: one for one in lost}
        for former in formers:
            await _pass_on(unit, former, lost[0])
            freed.add(former.id)
    await _erase(unit, list(gone.values()), now)
    return len(gone), freed - gone.keys()


async def _erase(unit: WriteUnit, statements: Sequence[Statement], now: datetime) -> None:
    """Delete statements with all by which they are found; they leave their themes."""
    ids = [one.id for one in statements]
    await unit.words.remove(Level.STATEMENT, ids)
    await unit.embeddings.remove(Level.STATEMENT, ids)
    await unit.statements.remove(ids)
    for theme in sorted({one.theme for one in statements if one.theme is not None}):
        await shrink(unit, theme, now)


async def _with_corrected(unit: ReadUnit, statement: Statement) -> tuple[list[Statement], list[Statement]]:
    """A statement with all versions that it is a correction of, and the others whose place any of them took."""
    gone, fresh = [statement], [statement]
    left: list[Statement] = []
    while fresh:
        one = fresh.pop()
        for former in await unit.statements.superseded_by(one.id):
            corrected = one.origin is Origin.USER and former.valid_to == former.occurred_at
            (gone if corrected else left).append(former)
            if corrected:
                fresh.append(former)
    return gone, left


async def _pass_on(unit: WriteUnit, former: Statement, heir: Statement) -> None:
    """What the heir, which goes, had superseded is superseded by the heir's own successor, or holds again."""
    if heir.superseded_by is None or heir.valid_to is None:
        await _hold_again(unit, former)
    else:
        await unit.statements.supersede(former.id, heir.superseded_by, heir.valid_to)


async def _hold_again(unit: WriteUnit, former: Statement) -> None:
    _, told_end = validity_of(former.text, former.occurred_at)
    await unit.statements.hold_again(former.id, told_end)


async def _begin_later(unit: WriteUnit, statement: Statement, withdrawn: Sequence[MessageId]) -> None:
    """If the first to say it is among the withdrawn messages, it was first said by the first of the others."""
    said = await unit.messages.many([*withdrawn, *statement.messages])
    first = min(said[message].occurred_at for message in statement.messages)
    if first > statement.occurred_at and any(said[one].occurred_at == statement.occurred_at for one in withdrawn):
        await unit.statements.begin(statement.id, first)


async def _revise(unit: WriteUnit, changed: Set[StatementId], now: datetime) -> None:
    """Let the order in which things were said tell what ends statements that changed, and what they end."""
    found = await _near(unit, changed)
    revision = revise(await as_known(unit, list(found.values())), changed)
    for id_ in revision.freed:
        await _hold_again(unit, found[id_])
    for ending in revision.ended:
        if not isinstance(ending.ref, int) and not isinstance(ending.by, int):
            await supersede(unit, ending.ref, ending.by, ending.at, now)
    for kept, twin in revision.twins:
        await _take_in(unit, kept, twin, now)


async def _near(unit: ReadUnit, changed: Set[StatementId]) -> Mapping[StatementId, Statement]:
    """Statements, those that say the same or speak of the same, those that they superseded and those that did."""
    found = dict(await unit.statements.many(changed))
    for one in list(found.values()):
        topic = topic_of(one.text, one.occurred_at)
        essence = take_apart(one.text, one.occurred_at).essence
        related = await unit.statements.related([essence], [topic] if topic else [])
        found |= {each.id: each for each in (*related, *await unit.statements.superseded_by(one.id))}
    heirs = [one.superseded_by for one in found.values() if one.superseded_by is not None]
    return {**found, **await unit.statements.many(heirs)}


async def _take_in(unit: WriteUnit, kept: StatementId, twin: StatementId, now: datetime) -> None:
    """One statement in the place of two that say the same; it holds for as long as the second did."""
    other = await unit.statements.get(twin)
    await unit.statements.reinforce(kept, other.messages, other.occurred_at)
    for former in await unit.statements.superseded_by(twin):
        if former.id != kept:
            await unit.statements.supersede(former.id, kept, former.valid_to or other.occurred_at)
    if other.superseded_by is not None and other.valid_to is not None:
        await supersede(unit, kept, other.superseded_by, other.valid_to, now)
    await _erase(unit, [other], now)
