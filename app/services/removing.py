"""Removing statements and the citations of messages: what is left is as if they had never been."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.chains import order
from app.domain.ids import MessageId, StatementId, ThemeId
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.records import Origin, Statement
from app.domain.screening import Screened
from app.domain.statements import decide, topic_of
from app.domain.validity import validity_of
from app.services.remembering import as_known, shrink, supersede
from app.storage.unit_of_work import ReadUnit, WriteUnit

NOTHING_NEW = Screened((), ())


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """How much went: citations, statements that rested on nothing else, and themes that lost their last member."""

    citations: int
    statements: int
    themes: int


async def withdraw(unit: WriteUnit, messages: Collection[MessageId], now: datetime) -> Withdrawn:
    """Take back what messages carry, in the caller's transaction and before they are deleted themselves.

    Statements that other messages carry too stay, with less support and as from when those were said; the others go,
    with the versions that they corrected. A step that is under way and may have read the messages is discarded.
    """
    removed = await unit.statements.withdraw(messages)
    found = await unit.statements.many(removed)
    unsupported = [id_ for id_ in removed if not found[id_].messages]
    statements, themes = await take_out(unit, unsupported, now)
    left = await unit.statements.many(removed)
    for statement in left.values():
        await _say_later(unit, statement, removed[statement.id])
    freed = [former for id_ in left for former in await _reconsider(unit, id_, now)]
    themes += await _decide_anew(unit, [*left, *freed], now)
    await unit.directory.raise_erasures(unit.namespace.id)
    await unit.jobs.enqueue(Step.MAINTAIN, str(unit.namespace.id), {}, now)
    return Withdrawn(sum(map(len, removed.values())), statements, themes)


async def take_out(unit: WriteUnit, ids: Sequence[StatementId], now: datetime) -> tuple[int, int]:
    """Remove statements with the versions that they corrected; how many, and how many themes ended. Raises NotFound.

    What one of them had superseded is superseded by what supersedes that one or comes next, or holds again.
    """
    gone: dict[StatementId, Statement] = {}
    freed: list[StatementId] = []
    for id_ in ids:
        if id_ not in gone:
            lost, left = await _with_corrected(unit, await unit.statements.get(id_))
            for former in left:
                await _pass_on(unit, former, lost[0])
            gone |= {one.id: one for one in lost}
            freed += [former.id for former in left]
            await _remove(unit, [one.id for one in lost])
    ended = [not await shrink(unit, theme, now) for theme in _themes(gone.values())]
    return len(gone), sum(ended) + await _decide_anew(unit, [id_ for id_ in freed if id_ not in gone], now)


async def _with_corrected(unit: ReadUnit, statement: Statement) -> tuple[list[Statement], list[Statement]]:
    """A statement with all versions that it is a correction of, and the others whose place any of them took."""
    gone, fresh = [statement], [statement]
    left: list[Statement] = []
    while fresh:
        one = fresh.pop()
        for former in await unit.statements.superseded_by(one.id):
            corrected = _corrects(one, former)
            (gone if corrected else left).append(former)
            if corrected:
                fresh.append(former)
    return gone, left


def _corrects(version: Statement, former: Statement) -> bool:
    """Whether the user put it in the place of what therefore never held."""
    return version.origin is Origin.USER and former.valid_to == former.occurred_at


async def _pass_on(unit: WriteUnit, former: Statement, heir: Statement) -> None:
    """What the heir, which goes, had superseded is superseded by the heir's own successor, or holds again."""
    if heir.superseded_by is None or heir.valid_to is None:
        await _hold_again(unit, former)
    else:
        await unit.statements.supersede(former.id, heir.superseded_by, heir.valid_to)


async def _hold_again(unit: WriteUnit, former: Statement) -> None:
    _, told_end = validity_of(former.text, former.occurred_at)
    await unit.statements.hold_again(former.id, told_end)


async def _remove(unit: WriteUnit, ids: Sequence[StatementId]) -> None:
    await unit.words.remove(Level.STATEMENT, ids)
    await unit.embeddings.remove(Level.STATEMENT, ids)
    await unit.statements.remove(ids)


def _themes(statements: Collection[Statement]) -> set[ThemeId]:
    return {one.theme for one in statements if one.theme is not None}


async def _say_later(unit: WriteUnit, statement: Statement, withdrawn: Sequence[MessageId]) -> None:
    """If the first to say it is among the withdrawn messages, it was first said by the first of the others."""
    said = await unit.messages.many([*withdrawn, *statement.messages])
    first = min(said[message].occurred_at for message in statement.messages)
    if first > statement.occurred_at and any(said[one].occurred_at == statement.occurred_at for one in withdrawn):
        await unit.statements.begin(statement.id, first)


async def _reconsider(unit: WriteUnit, id_: StatementId, now: datetime) -> list[StatementId]:
    """What a statement superseded holds again if the statement is no longer the later one; returns what does.

    Else it ended when the statement is first said now.
    """
    heir = await unit.statements.get(id_)
    formers = [one for one in await unit.statements.superseded_by(id_) if not _corrects(heir, one)]
    latest = await unit.statements.latest([id_, *(one.id for one in formers)])
    freed = []
    for former in formers:
        if order(latest[id_], heir.messages) <= order(latest[former.id], former.messages):
            await _hold_again(unit, former)
            freed.append(former.id)
        else:
            ended = ending_of(...)
            await unit.statements.supersede(former.id, id_, ended)
    return freed


async def _decide_anew(unit: WriteUnit, ids: Sequence[StatementId], now: datetime) -> int:
    """Let the rule of admission tell what ends these statements, or what they end; how many themes ended with that."""
