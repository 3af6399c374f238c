"""Statements and the messages they cite."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    Update,
    and_,
    case,
    delete,
    func,
    insert,
    literal,
    select,
    true,
    update,
)

from app.domain.errors import NotFound
from app.domain.ids import MessageId, StatementId, ThemeId
from app.domain.provenance import MadeBy
from app.domain.records import Origin, Statement
from app.storage.dialects import Instant
from app.storage.filters import held
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import citations, messages, statements

CURRENT: ColumnElement[bool] = statements.c.superseded_by.is_(None)
"""Condition: nothing replaced the statement."""


TOPICAL = 256  # statements that are compared with those of one admission because of their topics, at most


@dataclass(frozen=True, slots=True)
class Keys:
    """What a statement is found by when another comes: its essence, and its topic if it has one."""

    essence: str
    topic: str | None


def index_key(text: str) -> str:
    """The key of an essence or a topic, which may be long."""
    return hashlib.sha256(text.encode()).hexdigest()


def to_statement(row: Row[Any], cited: Sequence[MessageId]) -> Statement:
    """A statement row and its citations as a value."""
    return Statement(
        id=StatementId(row.id),
        text=row.text,
        kind=row.kind,
        origin=Origin(row.origin),
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


def _homes(rows: Iterable[Row[Any]]) -> dict[StatementId, ThemeId | None]:
    return {StatementId(row.id): None if row.theme_id is None else ThemeId(row.theme_id) for row in rows}


def _in_time(statement: Statement) -> tuple[datetime, bool, StatementId]:
    return statement.occurred_at, statement.superseded_by is None, statement.id


class StatementRepository(Repository):
    """Statements of one namespace."""

    async def add(self, new: Sequence[tuple[Statement, Keys]]) -> None:
        """Insert statements, not yet in a theme, with their citations."""
        rows = [
            self._row(
                id=statement.id,
                theme_id=None,
                text=statement.text,
                normal=index_key(keys.essence),
                topic=None if keys.topic is None else index_key(keys.topic),
                kind=statement.kind,
                origin=statement.origin.value,
                support=len(statement.messages),
                occurred_at=statement.occurred_at,
                valid_from=statement.valid_from,
                valid_to=statement.valid_to,
                superseded_by=statement.superseded_by,
                made_by=asdict(statement.made_by),
                recorded_at=statement.recorded_at,
            )
            for statement, keys in new
        ]
        if rows:
            await self._connection.execute(insert(statements), rows)
            await self._cite([(statement.id, message) for statement, _ in new for message in statement.messages])

    async def reinforce(self, statement: StatementId, by: Sequence[MessageId], said: datetime) -> None:
        """Add citations that are not there yet and count the support anew; it was first said at `said` or before."""
        have = await self._citations([statement])
        fresh = [message for message in by if message not in have[statement]]
        if not fresh:
            return
        await self._cite([(statement, message) for message in fresh])
        counted = update(statements).where(self._own(statements), statements.c.id == statement)
        await self._connection.execute(counted.values(support=len(have[statement]) + len(fresh)))
        await self._connection.execute(self._began(statement, said).where(statements.c.occurred_at > said))

    async def withdraw(self, said_by: Collection[MessageId]) -> Mapping[StatementId, Sequence[MessageId]]:
        """Remove the citations of messages; returns what each statement cited of them. Its support is not counted."""
        wanted = sorted(said_by)
        removed: dict[StatementId, list[MessageId]] = defaultdict(list)
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = citations.c.message_id.in_(wanted[start : start + IN_LIMIT])
            query = select(citations.c.statement_id, citations.c.message_id).where(self._own(citations), chunk)
            for row in await self._connection.execute(query.order_by(*query.selected_columns)):
                removed[StatementId(row.statement_id)].append(MessageId(row.message_id))
            await self._connection.execute(delete(citations).where(self._own(citations), chunk))
        return removed

    async def begin(self, statement: StatementId, said: datetime) -> None:
        """It was first said at `said`, no matter what stands there."""
        await self._connection.execute(self._began(statement, said))

    async def supersede(self, statement: StatementId, by: StatementId, valid_to: datetime) -> None:
        """Another statement took its place at `valid_to`; it leaves its theme, and stays readable."""
        await self._connection.execute(
            update(statements)
            .where(self._own(statements), statements.c.id == statement)
            .values(superseded_by=by, valid_to=valid_to, theme_id=None)
        )

    async def hold_again(self, statement: StatementId, valid_to: datetime | None) -> None:
        """Undo `supersede`: what took its place is gone. It waits for a theme; `valid_to` is the end it tells."""
        await self._connection.execute(
            update(statements)
            .where(self._own(statements), statements.c.id == statement)
            .values(superseded_by=None, valid_to=valid_to, theme_id=None)
        )

    async def remove(self, ids: Sequence[StatementId]) -> None:
        """Delete statements with their citations."""
        for start in range(0, len(ids), IN_LIMIT):
            chunk = ids[start : start + IN_LIMIT]
            cited = delete(citations).where(self._own(citations), citations.c.statement_id.in_(chunk))
            await self._connection.execute(cited)
            gone = delete(statements).where(self._own(statements), statements.c.id.in_(chunk))
            await self._connection.execute(gone)

    async def formers(self, ids: Iterable[StatementId]) -> Mapping[StatementId, list[Statement]]:
        """For each statement those whose place it took."""
        wanted = sorted(set(ids))
        found: dict[StatementId, list[Statement]] = {id_: [] for id_ in wanted}
        for start in range(0, len(wanted), IN_LIMIT):
            query = self._select().where(statements.c.superseded_by.in_(wanted[start : start + IN_LIMIT]))
            for former in await self._fetch(query):
                if former.superseded_by is not None:
                    found[former.superseded_by].append(former)
        return found

    async def superseded_by(self, statement: StatementId) -> Sequence[Statement]:
        """The statements whose place this one took."""
        return await self._fetch(self._select().where(statements.c.superseded_by == statement))

    async def superseded(self, cited: Collection[MessageId], as_of: datetime | None) -> Sequence[Statement]:
        """Statements that cite any of these messages and whose place another has taken, by now or by then."""
        then = true() if as_of is None else statements.c.valid_to <= as_of
        over = and_(statements.c.superseded_by.is_not(None), then)
        wanted = sorted(cited)
        found: dict[StatementId, Statement] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = citations.c.message_id.in_(wanted[start : start + IN_LIMIT])
            citing = select(citations.c.statement_id).where(self._own(citations), chunk)
            rows = await self._fetch(self._select().where(over, statements.c.id.in_(citing)))
            found |= {statement.id: statement for statement in rows}
        return [found[id_] for id_ in sorted(found)]

    async def related(self, essences: Iterable[str], topics: Iterable[str]) -> Sequence[Statement]:
        """Statements, current or not, that say the same or speak of the same; of very many the newest."""
        found: dict[StatementId, Statement] = {}
        for column, keys, most in (
            (statements.c.normal, sorted(set(map(index_key, essences))), None),
            (statements.c.topic, sorted(set(map(index_key, topics))), TOPICAL),
        ):
            for start in range(0, len(keys), IN_LIMIT):
                query = self._select().where(column.in_(keys[start : start + IN_LIMIT]))
                rows = await self._fetch(query.order_by(statements.c.id.desc()).limit(most))
                found |= {statement.id: statement for statement in rows}
        return [found[id_] for id_ in sorted(found)]

    async def latest(self, ids: Iterable[StatementId]) -> Mapping[StatementId, datetime]:
        """When each statement was last said: the time of the newest message that it cites."""
        wanted = sorted(set(ids))
        found: dict[StatementId, datetime] = {}
        same = (messages.c.namespace_id == citations.c.namespace_id) & (messages.c.id == citations.c.message_id)
        columns = (citations.c.statement_id, func.max(messages.c.occurred_at))
        for start in range(0, len(wanted), IN_LIMIT):
            chunk = citations.c.statement_id.in_(wanted[start : start + IN_LIMIT])
            query = select(*columns).join(messages, same).where(self._own(citations), chunk)
            query = query.group_by(citations.c.statement_id)
            found |= {StatementId(row[0]): row[1] for row in await self._connection.execute(query)}
        return found

    async def chain(self, statement: StatementId) -> Sequence[Statement]:
        """All that took each other's place up to and after a statement, in the order they held. Raises NotFound."""
        found = {statement: await self.get(statement)}
        fresh = [found[statement]]
        while fresh:
            after = [one.superseded_by for one in fresh if one.superseded_by is not None]
            before = [former for one in fresh for former in await self.superseded_by(one.id)]
            near = {**await self.many(after), **{one.id: one for one in before}}
            fresh = [one for id_, one in near.items() if id_ not in found]
            found |= {one.id: one for one in fresh}
        return sorted(found.values(), key=_in_time)

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

    async def texts(self, ids: Iterable[StatementId]) -> Mapping[StatementId, str]:
        """The text of each statement, current or not."""
        wanted = sorted(set(ids))
        found: dict[StatementId, str] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(statements.c.id, statements.c.text).where(
                self._own(statements), statements.c.id.in_(wanted[start : start + IN_LIMIT])
            )
            found |= {StatementId(row.id): row.text for row in await self._connection.execute(query)}
        return found

    async def homes(self) -> Mapping[StatementId, ThemeId | None]:
        """The theme of every current statement, in order of arrival; None for those that wait."""
        query = select(statements.c.id, statements.c.theme_id).where(self._own(statements), CURRENT)
        return _homes(await self._connection.execute(query.order_by(statements.c.id)))

    async def homes_of(self, ids: Iterable[StatementId]) -> Mapping[StatementId, ThemeId | None]:
        """The theme of each statement; None for those that wait, or are not current."""
        wanted = sorted(set(ids))
        found: dict[StatementId, ThemeId | None] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(statements.c.id, statements.c.theme_id).where(
                self._own(statements), statements.c.id.in_(wanted[start : start + IN_LIMIT])
            )
            found |= _homes(await self._connection.execute(query))
        return found

    async def cited(self, ids: Iterable[StatementId]) -> Mapping[StatementId, Sequence[MessageId]]:
        """The messages that each statement cites, earliest first."""
        return await self._citations(sorted(set(ids)))

    async def first_cited(self, ids: Iterable[StatementId]) -> Mapping[StatementId, MessageId]:
        """The earliest message that each statement cites."""
        cited = await self._citations(sorted(set(ids)))
        return {statement: found[0] for statement, found in cited.items() if found}

    async def page(
        self, after: UUID | None, limit: int, *, superseded: bool, as_of: datetime | None = None
    ) -> Sequence[Statement]:
        """Statements in the order they were made; only current ones unless `superseded`.

        With `as_of` those that held then; with both also what had been superseded by then.
        """
        query = self._select()
        if as_of is not None:
            query = query.where(statements.c.occurred_at <= as_of if superseded else held(as_of))
        elif not superseded:
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
        """Put statements into a theme, out of whichever they were in; those that are in it already stay as they are."""
        for start in range(0, len(members), IN_LIMIT):
            await self._connection.execute(
                update(statements)
                .where(self._own(statements), statements.c.id.in_(members[start : start + IN_LIMIT]))
                .where(statements.c.theme_id.is_distinct_from(theme))
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

    def _began(self, statement: StatementId, said: datetime) -> Update:
        """Sets the beginning; what never held, because the user corrected it, ends there too."""
        never_held = statements.c.valid_to == statements.c.occurred_at
        ends = case((never_held, literal(said, Instant)), else_=statements.c.valid_to)
        query = update(statements).where(self._own(statements), statements.c.id == statement)
        return query.values(occurred_at=said, valid_to=ends)

    def _select(self) -> Select[Any]:
        return select(statements).where(self._own(statements))

    async def _fetch(self, query: Select[Any]) -> Sequence[Statement]:
        rows = (await self._connection.execute(query)).all()
        cited = await self._citations([StatementId(row.id) for row in rows])
        return [to_statement(row, cited[StatementId(row.id)]) for row in rows]
