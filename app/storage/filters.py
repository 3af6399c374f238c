"""A read's limits as SQL conditions, one for each level; the same on both databases."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, FromClause, and_, exists, or_, true

from app.domain.filters import Filter
from app.domain.levels import Level
from app.storage.dialects import metadata_contains
from app.storage.tables import citations, episodes, messages, statements, themes


class Within(NamedTuple):
    """A level's table, the condition on its rows, and whether nearly all of them meet it."""

    table: FromClause
    condition: ColumnElement[bool]
    nearly_all: bool = False


def within(level: Level, limits: Filter) -> Within | None:
    """What a level's items must meet; None if anything goes. Statements must always be current (or as they were)."""
    if level is Level.STATEMENT:
        return Within(statements, _statements(limits), nearly_all=limits.is_empty)
    if limits.is_empty:
        return None
    if level is Level.MESSAGE:
        return Within(messages, _messages(limits))
    return Within(episodes, _episodes(limits)) if level is Level.EPISODE else Within(themes, _themes(limits))


def _messages(limits: Filter) -> ColumnElement[bool]:
    when = messages.c.occurred_at
    parts = [*_between(when, when, limits)]
    if limits.metadata:
        parts.append(metadata_contains(messages.c.metadata, dict(limits.metadata)))
    return and_(true(), *parts)


def _episodes(limits: Filter) -> ColumnElement[bool]:
    parts = [*_between(episodes.c.started_at, episodes.c.ended_at, limits)]
    if limits.metadata:
        inside = (messages.c.namespace_id == episodes.c.namespace_id) & (messages.c.episode_id == episodes.c.id)
        parts.append(exists().where(inside, metadata_contains(messages.c.metadata, dict(limits.metadata))))
    return and_(true(), *parts)


def held(as_of: datetime) -> ColumnElement[bool]:
    """Condition on statements: said by then, and not superseded by then.

    What was said to end by itself ("until March") stays, as it does in the present: its `valid_to` tells.
    """
    in_place = or_(statements.c.superseded_by.is_(None), statements.c.valid_to > as_of)
    return and_(statements.c.occurred_at <= as_of, in_place)


def _statements(limits: Filter) -> ColumnElement[bool]:
    when = statements.c.occurred_at
    parts = [*_between(when, when, limits)]
    if limits.as_of is None:
        parts.append(statements.c.superseded_by.is_(None))
    else:
        parts.append(held(limits.as_of))
    if limits.metadata:
        cited = and_(
            citations.c.namespace_id == statements.c.namespace_id,
            citations.c.statement_id == statements.c.id,
            messages.c.namespace_id == citations.c.namespace_id,
            messages.c.id == citations.c.message_id,
        )
        parts.append(exists().where(cited, metadata_contains(messages.c.metadata, dict(limits.metadata))))
    return and_(true(), *parts)


def _themes(limits: Filter) -> ColumnElement[bool]:
    """A theme is in if one of its statements is."""
    member = (statements.c.namespace_id == themes.c.namespace_id) & (statements.c.theme_id == themes.c.id)
    return exists().where(member, _statements(limits))


def _between(starts: Any, ends: Any, limits: Filter) -> Sequence[ColumnElement[bool]]:  # noqa: ANN401
    """Overlap with the limits' span; `as_of` asks that all of it had happened."""
    parts: list[ColumnElement[bool]] = []
    if limits.since is not None:
        parts.append(ends >= limits.since)
    if limits.until is not None:
        parts.append(starts <= limits.until)
    if limits.as_of is not None:
        parts.append(ends <= limits.as_of)
    return parts
