"""Statements and the messages they cite."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Select, func, insert, select, update

from app.domain.errors import NotFound
from app.domain.ids import MessageId, StatementId, ThemeId
from app.domain.provenance import MadeBy
from app.domain.records import Statement
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import citations, statements

CURRENT: ColumnElement[bool] = statements.c.superseded_by.is_(None)
"""Condition: nothing replaced the statement."""


def normal_key(normalised: str) -> str:
    """The index key of a normalised text."""
    return hashlib.sha256(normalised.encode()).hexdigest()


def to_statement(row: Row[Any], cited: Sequence[MessageId]) -> Statement:
    """A statement row and its citations as a value."""
    return Statement(
        id=StatementId(row.id),
        text=row.text,
        kind=row.kind,
        origin=row.origin,
        support=row.support,
        theme=None if row.theme_id is None else ThemeId(row.theme_id),
        occurred_at=row.occurred_at,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        superseded_by=None if row.superseded_by is None else StatementId(row.superseded_by),
        made_by=MadeBy(**row.made_by),
        recorded_at=row.recorded_at,
        messages=tuple(cited),
    )


class StatementRepository(Repository):
    """Statements of one namespace."""

    async def add(self, new: Sequence[Statement], normalised: Sequence[str]) -> None:
        """Insert statements, not yet in a theme, with their citations; `normalised` are their texts' keys."""
        rows = [
            self._row(
                id=statement.id,
                theme_id=None,
                text=statement.text,
                normal=normal_key(key),
                kind=statement.kind,
                origin=statement.origin,
                support=len(statement.messages),
                occurred_at=statement.occurred_at,
                valid_from=statement.valid_from,
                valid_to=statement.valid_to,
                superseded_by=None,
                made_by=asdict(statement.made_by),
                recorded_at=statement.recorded_at,
            )
            for statement, key in zip(new, normalised, strict=True)
        ]
        if rows:
            await self._connection.execute(insert(statements), rows)
            await self._cite([(statement.id, message) for statement in new for message in statement.messages])

    async def reinforce(self, statement: StatementId, by: Sequence[MessageId]) -> None:
        """Add citations that are not there yet and count the support anew."""
        have = await self._citations([statement])
        fresh = [message for message in by if message not in have[statement]]
        if not fresh:
            return
        await self._cite([(statement, message) for message in fresh])
        await self._connection.execute(
            update(statements)
            .where(self._own(statements), statements.c.id == statement)
            .values(support=len(have[statement]) + len(fresh))
        )

    async def with_normal(self, normalised: Sequence[str]) -> Sequence[Statement]:
        """Current statements whose normalised text is one of these."""
        found: list[Statement] = []
        keys = sorted({normal_key(text) for text in normalised})
        for start in range(0, len(keys), IN_LIMIT):
            query = self._select().where(CURRENT, statements.c.normal.in_(keys[start : start + IN_LIMIT]))
            found += await self._fetch(query)
        return found

    async def get(self, statement: StatementId) -> Statement:
        """One statement, current or not. Raises NotFound."""
        found = await self._fetch(self._select().where(statements.c.id == statement))
        if not found:
            raise NotFound("no such statement")
        return found[0]

    async def many(self, ids: Iterable[StatementId]) -> Mapping[StatementId, Statement]:
        """Statements by id; ids that do not exist here are left out."""
        wanted = sorted(set(ids))
        found: dict[StatementId, Statement] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = self._select().where(statements.c.id.in_(wanted[start : start + IN_LIMIT]))
            found |= {statement.id: statement for statement in await self._fetch(query)}
        return found

    async def first_cited(self, ids: Iterable[StatementId]) -> Mapping[StatementId, MessageId]:
        """The earliest message that each statement cites."""
        cited = await self._citations(sorted(set(ids)))
        return {statement: found[0] for statement, found in cited.items() if found}

    async def page(self, after: UUID | None, limit: int, *, superseded: bool) -> Sequence[Statement]:
        """Statements in the order they were made; only current ones unless `superseded`."""
        query = self._select()
        if not superseded:
            query = query.where(CURRENT)
        if after is not None:
            query = query.where(statements.c.id > after)
        return await self._fetch(query.order_by(statements.c.id).limit(limit))

    async def without_theme(self, limit: int) -> Sequence[StatementId]:
        """Current statements that wait for a theme: of those admitted together, the first `limit`.

        One admission at a time, so that the themes do not depend on how many had piled up.
        """
        waiting = select(statements.c.id, statements.c.recorded_at).where(
            self._own(statements), CURRENT, statements.c.theme_id.is_(None)
        )
        rows = (await self._connection.execute(waiting.order_by(statements.c.id).limit(limit))).all()
        return [StatementId(row.id) for row in rows if row.recorded_at == rows[0].recorded_at]

    async def of_themes(self, themes: Sequence[ThemeId]) -> Mapping[ThemeId, Sequence[tuple[StatementId, str]]]:
        """Id and text of each theme's current statements, oldest first."""
        grouped: dict[ThemeId, list[tuple[StatementId, str]]] = defaultdict(list)
        for start in range(0, len(themes), IN_LIMIT):
            query = select(statements.c.theme_id, statements.c.id, statements.c.text).where(
                self._own(statements), CURRENT, statements.c.theme_id.in_(themes[start : start + IN_LIMIT])
            )
            for row in await self._connection.execute(query.order_by(statements.c.id)):
                grouped[ThemeId(row.theme_id)].append((StatementId(row.id), row.text))
        return grouped

    async def spans(self, themes: Sequence[ThemeId]) -> Mapping[ThemeId, tuple[datetime, datetime]]:
        """First and last event time of each theme's statements."""
        times = (func.min(statements.c.occurred_at), func.max(statements.c.occurred_at))
        query = select(statements.c.theme_id, *times).where(
            self._own(statements), CURRENT, statements.c.theme_id.in_(themes)
        )
        rows = await self._connection.execute(query.group_by(statements.c.theme_id))
        return {ThemeId(row[0]): (row[1], row[2]) for row in rows}

    async def place(self, theme: ThemeId, members: Sequence[StatementId]) -> None:
        """Put statements into a theme, out of whichever they were in."""
        for start in range(0, len(members), IN_LIMIT):
            await self._connection.execute(
                update(statements)
                .where(self._own(statements), statements.c.id.in_(members[start : start + IN_LIMIT]))
                .values(theme_id=theme)
            )

    async def count(self) -> int:
        """Current statements."""
        query = select(func.count()).where(self._own(statements), CURRENT)
        return (await self._connection.execute(query)).scalar_one()

    async def _cite(self, pairs: Sequence[tuple[StatementId, MessageId]]) -> None:
        rows = [self._row(statement_id=statement, message_id=message) for statement, message in pairs]
        await self._connection.execute(insert(citations), rows)

    async def _citations(self, ids: Sequence[StatementId]) -> Mapping[StatementId, Sequence[MessageId]]:
        grouped: dict[StatementId, list[MessageId]] = defaultdict(list)
        for start in range(0, len(ids), IN_LIMIT):
            query = select(citations.c.statement_id, citations.c.message_id).where(
                self._own(citations), citations.c.statement_id.in_(ids[start : start + IN_LIMIT])
            )
            for row in await self._connection.execute(query.order_by(citations.c.message_id)):
                grouped[StatementId(row.statement_id)].append(MessageId(row.message_id))
        return grouped

    def _select(self) -> Select[Any]:
        return select(statements).where(self._own(statements))

    async def _fetch(self, query: Select[Any]) -> Sequence[Statement]:
        rows = (await self._connection.execute(query)).all()
        cited = await self._citations([StatementId(row.id) for row in rows])
        return [to_statement(row, cited[StatementId(row.id)]) for row in rows]
