"""Removing statements and the citations of messages: what is left is as if they had never been."""

import asyncio
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.backing import Backing
from app.domain.forgetting import REDRAWN, may_stay
from app.domain.ids import MessageId, StatementId
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.records import Origin, Statement
from app.domain.revising import revise
from app.domain.statements import topic_of
from app.domain.validity import validity_of
from app.domain.wording import take_apart
from app.services.redacting import redact
from app.services.relabelling import relabel
from app.services.remembering import as_known, shrink, supersede
from app.storage.unit_of_work import ReadUnit, WriteUnit

AGAIN = "again"
"""In the payload of a job `admit`: the episode was admitted before, and lost statements since."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How much went: citations, statements that rested on nothing else, and themes that lost their last member."""

    citations: int
    statements: int
    themes: int


async def withdraw(unit: WriteUnit, messages: Collection[MessageId], now: datetime) -> Withdrawn:
    """Take back what messages carry, in the caller's transaction and before they are deleted themselves.

    Statements that other messages carry too, in words of theirs, stay with less support and as from when those were
    said; the others go, with the versions that they corrected, and are drawn again from what is left. No statement
    keeps a word that only these messages held, unless the user wrote it. A step under way that may have read the
    messages is discarded.
    """
    themes, _ = await unit.themes.counts()
    lonely = await unit.words.lonely(Level.MESSAGE, messages)
    removed = await unit.statements.withdraw(messages)
    await unit.repairs.count_support(list(removed))
    fallen = await _fallen(unit, removed, lonely)
    gone, freed = await _take(unit, fallen, now)
    left = await unit.statements.many(removed)
    for statement in left.values():
        await _begin_later(unit, statement, removed[statement.id])
    await _revise(unit, {*left, *freed}, now)
    await _draw_again(unit, fallen, now)
    await unit.directory.raise_erasures(unit.namespace.id)
    await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
    return Withdrawn(sum(map(len, removed.values())), len(gone), themes - (await unit.themes.counts())[0])


async def _fallen(
    unit: ReadUnit, removed: Mapping[StatementId, Sequence[MessageId]], lonely: Set[str]
) -> Sequence[Statement]:
    """Statements that may not stay without the citations that were removed, or that hold words nobody else said."""
    citing = await unit.statements.many(removed)
    cited = {one for statement in citing.values() for one in (*statement.messages, *removed[statement.id])}
    backing = Backing(await unit.messages.many(cited), rephrased=True)
    fallen = await asyncio.to_thread(
        lambda: [one for one in citing.values() if not may_stay(one, removed[one.id], backing)]
    )
    known = {one.id for one in fallen}
    holding = await unit.statements.many(map(StatementId, await unit.words.holding(Level.STATEMENT, lonely)))
    return [*fallen, *(one for one in holding.values() if one.id not in known and one.origin is not Origin.USER)]


async def _draw_again(unit: WriteUnit, fallen: Sequence[Statement], now: datetime) -> None:
    """Look again at the episodes whose messages said what had to go, in words of their own."""
    left = {message for one in fallen if one.origin in REDRAWN for message in one.messages}
    episodes = await unit.episodes.many((await unit.messages.episodes(left)).values())
    for episode in episodes.values():
        if episode.admitted:
            first = episode.first_sequence
            await unit.jobs.enqueue(Step.ADMIT, str(episode.id), {AGAIN: 1}, now, first_sequence=first)


async def take_out(unit: WriteUnit, id_: StatementId, now: datetime) -> int:
    """Remove a statement with the versions that it corrected; returns how many. Raises NotFound.

    What it had superseded is superseded by its own successor or by what came next, or holds again. Nothing more is
    drawn from the messages that it rested on.
    """
    gone, freed = await _take(unit, [await unit.statements.get(id_)], now)
    await unit.erasures.withhold(sorted({message for one in gone.values() for message in one.messages}))
    await _revise(unit, freed, now)
    return len(gone)


async def _take(
    unit: WriteUnit, statements: Sequence[Statement], now: datetime
) -> tuple[Mapping[StatementId, Statement], set[StatementId]]:
    """Remove statements; returns those that went, and those that lost what had superseded them."""
    gone: dict[StatementId, Statement] = {}
    freed: set[StatementId] = set()
    latest = {one.id: one for one in statements}
    formers = {**await unit.statements.formers(latest)}
    for id_ in list(latest):
        if id_ in gone:
            continue
        lost, left = await _with_corrected(unit, latest[id_], formers)
        gone |= {one.id: one for one in lost}
        for former in left:
            passed_on = await _pass_on(unit, former, latest[id_])
            if passed_on.superseded_by in formers:
                formers[passed_on.superseded_by].append(passed_on)
            if former.id in latest:
                latest[former.id] = passed_on
            freed.add(former.id)
    await _erase(unit, list(gone.values()), now)
    return gone, freed - gone.keys()


async def _erase(unit: WriteUnit, statements: Sequence[Statement], now: datetime) -> None:
    """Delete statements with all by which they are found; they leave their themes, which are named anew."""
    if not statements:
        return
    ids = [one.id for one in statements]
    themes = sorted({one.theme for one in statements if one.theme is not None})
    regions = await unit.regions.of(themes)
    await unit.words.remove(Level.STATEMENT, ids)
    await unit.embeddings.remove(Level.STATEMENT, ids)
    await unit.statements.remove(ids)
    for theme in themes:
        await shrink(unit, theme, now)
    await relabel(unit, themes, set(ids))
    await unit.regions.recentre(regions)
    await redact(unit, ids, min(one.recorded_at for one in statements))


async def _with_corrected(
    unit: ReadUnit, statement: Statement, formers: dict[StatementId, list[Statement]]
) -> tuple[list[Statement], list[Statement]]:
    """A statement with all versions that it is a correction of, and the others whose place any of them took.

    `formers` are those that each statement took the place of, as far as they were read.
    """
    gone, fresh = [statement], [statement]
    left: list[Statement] = []
    while fresh:
        one = fresh.pop()
        if one.id not in formers:
            formers[one.id] = list(await unit.statements.superseded_by(one.id))
        for former in formers[one.id]:
            corrected = one.origin is Origin.USER and former.valid_to == former.occurred_at
            (gone if corrected else left).append(former)
            if corrected:
                fresh.append(former)
    return gone, left


async def _pass_on(unit: WriteUnit, former: Statement, heir: Statement) -> Statement:
    """What the heir, which goes, had superseded is superseded by the heir's own successor, or holds again."""
    if heir.superseded_by is None or heir.valid_to is None:
        await _hold_again(unit, former)
        return replace(former, superseded_by=None)
    await unit.statements.supersede(former.id, heir.superseded_by, heir.valid_to)
    return replace(former, superseded_by=heir.superseded_by, valid_to=heir.valid_to)


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
