"""Relabelling: a theme whose name may tell of what was erased is named anew at once, in the words that it has left.

Maintenance looks at such a theme soon after, and a language model may find a better name then.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence, Set

from app.domain.ids import StatementId, ThemeId
from app.domain.levels import Level
from app.domain.naming import Naming, plain_label
from app.domain.provenance import EXTRACTIVE
from app.domain.records import Theme
from app.services.arranging import COMMON
from app.storage.unit_of_work import WriteUnit

DIRTY = 1000  # themes that statements left and that maintenance has not looked at yet: it never lags that far behind


async def relabel(unit: WriteUnit, touched: Collection[ThemeId], gone: Set[StatementId]) -> None:
    """Name those of the themes that lost statements anew whose names were made from any that are gone for ever.

    Themes that a statement left earlier, because another took its place, may still be named after it.
    """
    themes = await unit.themes.many({*touched, *await unit.themes.dirty(DIRTY)})
    telling = {id_: theme for id_, theme in themes.items() if not theme.made_from or gone & set(theme.made_from)}
    if telling:
        await _name(unit, telling)


async def _name(unit: WriteUnit, themes: Mapping[ThemeId, Theme]) -> None:
    members = await unit.statements.of_themes(sorted(themes))
    inside = {statement for group in members.values() for statement, _ in group}
    spread = await unit.words.spread(Level.STATEMENT, inside, COMMON)
    speakers = await unit.messages.speakers()
    for id_, theme in themes.items():
        own = members.get(id_, ())
        naming = await asyncio.to_thread(_plain, own, spread, speakers)
        await unit.themes.name(id_, theme.version, naming)


def _plain(members: Sequence[tuple[StatementId, str]], spread: Mapping[str, int], speakers: Sequence[str]) -> Naming:
    label = plain_label([text for _, text in members], spread, speakers)
    made_from = tuple(statement for statement, _ in members)
    return Naming(label, summary=None, degraded=False, made_by=EXTRACTIVE, made_from=made_from)
