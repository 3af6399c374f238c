"""Themes: groups of current statements. `plan` decides, from values alone, how they change.

A plan is made of moves on a partition. A new statement opens a theme of its own; attaching it, splitting a
theme and merging two are then the same thing: some themes are exchanged for others that hold the same
statements. So each move has a gain in the objective of `app.domain.objective`, and the plan tells it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from app.domain.board import Board, stat_of
from app.domain.ids import StatementId, ThemeId
from app.domain.objective import ThemeStat, evaluate
from app.domain.settling import settle
from app.domain.splitting import in_parts
from app.domain.theme_plan import (
    Action,
    Member,
    PlannedTheme,
    RemovedTheme,
    Step,
    ThemePlan,
    ThemeState,
)
from app.domain.theme_policy import ThemePolicy

__all__ = [
    "Action",
    "Member",
    "PlannedTheme",
    "RemovedTheme",
    "Step",
    "ThemePlan",
    "ThemeState",
    "plan",
    "rebuild",
]

AT_ONCE = 512  # statements of a rebuild that are arranged together: twice as many take three times as long

T = TypeVar("T", ThemeId, int)

Groups = Mapping[ThemeId, Collection[StatementId]]
"""The statements of each theme."""


def plan(
    new: Sequence[Member],
    near: Sequence[ThemeState],
    policy: ThemePolicy,
    gone: Collection[StatementId] = (),
    touched: Collection[ThemeId] = (),
) -> ThemePlan:
    """How the themes change when statements come and go. Pure and deterministic; needs no model.

    Args:
        new: current statements, in order of arrival; those that `near` already holds change nothing.
        near: for every new statement the `policy.neighbours` themes with the nearest centroids, and every
            theme that holds a statement of `gone` or of `new`; each with all its members.
        policy: thresholds, cap and objective.
        gone: statements that are current no more (superseded or deleted).
        touched: themes of `near` that statements have left already; their neighbours should be in `near` too.

    Raises:
        ValueError: a theme in `near` lacks members, or two hold the same statement.
    """
    board = Board.of(near, policy)
    board.drop(gone)
    board.look_again(touched)
    return _settled(board, [member for member in new if member.id not in gone])


def rebuild(members: Sequence[Member], current: Groups, policy: ThemePolicy) -> ThemePlan:
    """The themes as they would be had all statements come at once; they keep the ids of those they are most like.

    Args:
        members: all current statements of a namespace, in order of arrival.
        current: the themes that there are, each with the members that it holds, one or more.
        policy: thresholds, cap and objective.
    """
    made = _anew(members, policy).themes
    ids = _closest(made, current)
    vectors = {member.id: member.vector for member in members}
    before = [stat_of({one: vectors[one] for one in group}) for group in current.values()]
    after = [ThemeStat(theme.size, theme.vector_sum) for theme in made]
    gained = evaluate(after, policy.form, policy.balance) - evaluate(before, policy.form, policy.balance)
    home = {statement: theme.key for theme in made for statement in theme.members}
    removed = [
        RemovedTheme(id_, _most(home[one] for one in group))
        for id_, group in sorted(current.items())
        if id_ not in ids.values()
    ]
    return _told(made, ids, removed, current, gained)


def _anew(members: Sequence[Member], policy: ThemePolicy) -> ThemePlan:
    """Themes of statements that have none: part by part, then what lies across the parts."""
    whole = Board(policy)
    rows = np.stack([member.vector for member in members]) if members else np.zeros((0, 0), dtype=np.float32)
    parts = in_parts(rows, AT_ONCE) if members else []
    for part in parts:
        board = Board(policy)
        _settled(board, [members[at] for at in part])
        for theme in board.themes.values():
            whole.put(theme.members)
    if len(parts) > 1:
        settle(whole)
    return whole.result()


def _settled(board: Board, new: Iterable[Member]) -> ThemePlan:
    for member in new:
        board.place(member)
    settle(board)
    return board.result()


def _closest(made: Sequence[PlannedTheme], current: Groups) -> Mapping[int, ThemeId]:
    """For new themes the stored one that they share most statements with, each given once."""
    before = {statement: id_ for id_, group in current.items() for statement in group}
    shared: dict[tuple[ThemeId, int], int] = {}
    for theme in made:
        for statement in theme.members:
            if statement in before:
                pair = before[statement], theme.key
                shared[pair] = shared.get(pair, 0) + 1
    found: dict[int, ThemeId] = {}
    given: set[ThemeId] = set()
    for id_, key in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        if key not in found and id_ not in given:
            found[key] = id_
            given.add(id_)
    return found


def _told(
    made: Sequence[PlannedTheme],
    ids: Mapping[int, ThemeId],
    removed: Sequence[RemovedTheme],
    current: Groups,
    gained: float,
) -> ThemePlan:
    """The plan that turns the stored themes into those made anew; what is as it was is left out."""
    before = {statement: id_ for id_, group in current.items() for statement in group}
    themes, steps = [], []
    for theme in made:
        id_ = ids.get(theme.key)
        if id_ is not None and set(theme.members) == set(current[id_]):
            continue
        origin = None if id_ else _most(before[one] for one in theme.members if one in before)
        ended = tuple(one.id for one in removed if one.into == theme.key)
        themes.append(replace(theme, id=id_, split_from=origin, merged_from=ended))
        steps.append(Step(Action.REBUILD, (theme.key,), gained, ended=ended))
    return ThemePlan(tuple(themes), tuple(removed), tuple(steps))


def _most(found: Iterable[T]) -> T | None:
    """What is found most often, of several the first in order."""
    counted = Counter(found)
    return min(counted, key=lambda one: (-counted[one], one), default=None)
