"""The partition while it is being planned: themes by key, and what can be done with them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.domain.centroids import Centroids
from app.domain.gains import gain
from app.domain.ids import StatementId, ThemeId
from app.domain.objective import Balance, Floats, ThemeStat, apart, paper
from app.domain.theme_plan import Action, Member, PlannedTheme, RemovedTheme, Step, ThemePlan, ThemeState
from app.domain.theme_policy import ThemePolicy
from app.domain.vectors import Matrix, Vector

Members = dict[StatementId, Vector]


class Home(NamedTuple):
    """The theme that a statement was in before the plan, and what it costs to take it from there."""

    key: int
    price: float


NO_HOME = Home(-1, 0.0)  # of a statement that came with the plan


@dataclass(slots=True, eq=False)
class Theme:
    """A theme on the board; `key` never changes, and the lower of two keys is the older theme.

    `ids` are sorted; `rows` (n, dimension) are their vectors, `homes` (n,) the keys of the themes that they were in
    before the plan, or that of NO_HOME, `prices` (n,) what it costs to take each from there, and `from_home` what it
    costs to take all that are from one theme. `square` is the squared length of the vectors' sum, `worth` what the
    theme adds to the objective's sum where no other is redundantly near, `leaving` (n,) what that gains without each
    statement. `version` rises with each change.
    """

    key: int
    id: ThemeId | None
    split_from: ThemeId | None = None
    merged_from: tuple[ThemeId, ...] = ()
    members: Members = field(default_factory=dict)
    ids: tuple[StatementId, ...] = ()
    rows: Matrix = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    stat: ThemeStat = field(default_factory=lambda: ThemeStat(0, np.zeros(0, dtype=np.float32)))
    homes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    prices: Floats = field(default_factory=lambda: np.zeros(0))
    from_home: Mapping[int, float] = field(default_factory=dict)
    square: float = 0.0
    worth: float = 0.0
    leaving: Floats = field(default_factory=lambda: np.zeros(0))
    version: int = 0

    @property
    def size(self) -> int:
        """How many statements it holds."""
        return len(self.ids)

    def hold(self, members: Members, homes: Mapping[StatementId, Home], balance: Balance) -> None:
        """Exchange its statements."""
        self.members, self.stat, self.ids = members, stat_of(members), tuple(sorted(members))
        self.rows = np.stack([members[id_] for id_ in self.ids])
        found = [homes.get(id_, NO_HOME) for id_ in self.ids]
        self.homes = np.array([home.key for home in found])
        self.prices = np.array([home.price for home in found])
        self.from_home = defaultdict(float)
        for home in found:
            self.from_home[home.key] += home.price
        self.version += 1
        dots = self.rows @ self.stat.vector_sum.astype(np.float64)
        self.square = float(dots.sum())
        sizes = np.full(self.size + 1, max(self.size - 1.0, 1.0))
        squares = np.append(self.square - 2 * dots + 1, self.square)
        sizes[-1] = self.size
        *left, self.worth = apart(sizes, squares, balance).tolist()
        self.leaving = np.array(left) - self.worth


@dataclass(slots=True, eq=False)
class Board:
    """Every statement is in one theme, before and after every move."""

    policy: ThemePolicy
    themes: dict[int, Theme] = field(default_factory=dict)
    homes: dict[StatementId, Home] = field(default_factory=dict)  # where statements were before the plan
    unsettled: set[int] = field(default_factory=set)  # themes that a move may still improve
    _held: set[StatementId] = field(default_factory=set)
    _steps: list[Step] = field(default_factory=list)
    _opened: dict[int, Step] = field(default_factory=dict)  # why each new statement may need a theme of its own
    _centroids: Centroids = field(default_factory=Centroids)  # of `themes`
    _changed: set[int] = field(default_factory=set)  # themes to store
    _removed: dict[ThemeId, int | None] = field(default_factory=dict)
    _next: int = 0

    @classmethod
    def of(cls, near: Sequence[ThemeState], policy: ThemePolicy) -> "Board":
        """A board of stored themes. Raises ValueError if one lacks members, or two hold the same statement."""
        board = cls(policy)
        prices = _prices([member.id for state in near for member in state.members], policy.stay)
        for state in sorted(near, key=lambda state: state.id):
            if state.size != len(state.members):
                raise ValueError("a theme must be planned with all its members")
            board.homes |= {member.id: Home(board._next, prices[member.id]) for member in state.members}
            board._open({member.id: member.vector for member in state.members}, state.id)
        board._changed.clear()
        board.unsettled = {key for key, theme in board.themes.items() if theme.size > policy.cap}
        board._held = set(board.homes)
        if len(board._held) != sum(state.size for state in near):
            raise ValueError("a statement must be in one theme only")
        return board

    # What comes and goes ---------------------------------------------------------------------------------

    def drop(self, gone: Collection[StatementId]) -> None:
        """Take statements out; a theme without any ends."""
        for theme in list(self.themes.values()):
            kept = {key: vector for key, vector in theme.members.items() if key not in gone}
            if not kept:
                self._end(theme, into=None)
            elif len(kept) < len(theme.members):
                self._hold(theme, kept)
                self._steps.append(Step(Action.SHRINK, (theme.key,)))
        self._held.difference_update(gone)

    def look_again(self, ids: Collection[ThemeId]) -> None:
        """Statements have left these stored themes: they may be better off in parts, or with others."""
        for theme in self.themes.values():
            if theme.id in ids and theme.key not in self._changed:
                self._touch(theme)
                self._steps.append(Step(Action.SHRINK, (theme.key,)))

    def place(self, member: Member) -> None:
        """Open a theme for a statement, unless it has one; the moves that follow may find it another."""
        if member.id in self._held:
            return
        self._held.add(member.id)
        own = self._open({member.id: member.vector})
        near = self._centroids.nearest(own.key, 1)
        why = (near[0][1], self.policy.attach_small) if near else (None, None)
        self._opened[own.key] = Step(Action.OPEN, (own.key,), 0.0, *why)

    def put(self, members: Members) -> None:
        """A theme of statements that are not on the board yet."""
        self._held |= members.keys()
        self._open(members)

    def result(self) -> ThemePlan:
        """All that changed."""
        themes = tuple(
            PlannedTheme(
                key=theme.key,
                id=theme.id,
                members=theme.ids,
                size=theme.size,
                vector_sum=theme.stat.vector_sum,
                split_from=theme.split_from,
                merged_from=theme.merged_from,
            )
            for key, theme in sorted(self.themes.items())
            if key in self._changed
        )
        removed = tuple(RemovedTheme(id_, into) for id_, into in sorted(self._removed.items()))
        opened = [step for key, step in self._opened.items() if key in self.themes]
        return ThemePlan(themes, removed, (*opened, *self._steps))

    # Moves -----------------------------------------------------------------------------------------------

    def nearest(self, theme: Theme) -> list[tuple[Theme, float]]:
        """The `policy.neighbours` themes with the nearest centroids, and their cosines, nearest first."""
        return [(self.themes[key], cos) for key, cos in self._centroids.nearest(theme.key, self.policy.neighbours)]

    def is_new(self, theme: Theme) -> bool:
        """Whether it is a statement that came with the plan, still by itself."""
        return theme.key in self._opened and theme.size == 1

    def join(self, stays: Theme, ends: Theme, similarity: float, threshold: float) -> None:
        """Put all statements of one theme into another; the theme they leave ends."""
        gained = self.mean_gain([stays, ends], [stays.members | ends.members])
        action = Action.ATTACH if self.is_new(ends) else Action.MERGE
        ended = (*((ends.id,) if ends.id else ()), *ends.merged_from)
        stays.merged_from = tuple(dict.fromkeys((*stays.merged_from, *ended)))
        self._hold(stays, stays.members | ends.members)
        self._end(ends, into=stays.key)
        self._steps.append(Step(action, (stays.key,), gained, similarity, threshold, ended))

    def move(self, one: StatementId, source: Theme, target: Theme | None, similarity: float, threshold: float) -> None:
        """Put a statement into another theme, or into one of its own; its theme has others left."""
        left = {key: vector for key, vector in source.members.items() if key != one}
        added = {**(target.members if target else {}), one: source.members[one]}
        gained = self.mean_gain([source, *([target] if target else [])], [left, added])
        self._hold(source, left)
        if target is None:
            target = self._open(added, split_from=source.id or source.split_from)
        else:
            self._hold(target, added)
        self._steps.append(Step(Action.MOVE, (target.key, source.key), gained, similarity, threshold))

    def cut(self, theme: Theme, parts: Sequence[Members], tight: float) -> None:
        """Exchange a theme for its parts; the first keeps its key."""
        gained = self.mean_gain([theme], parts)
        self._hold(theme, parts[0])
        origin = theme.id or theme.split_from
        keys = [theme.key, *(self._open(part, split_from=origin).key for part in parts[1:])]
        self._steps.append(Step(Action.SPLIT, tuple(keys), gained, tight, self.policy.intra))

    def total_gain(self, before: Sequence[Theme], after: Sequence[Members]) -> float:
        """What the objective's sum over statements gains when some themes are exchanged for others."""
        keys = [theme.key for theme in before]
        return gain(self._centroids, self._stat, keys, [stat_of(part) for part in after], self.policy.balance)

    def mean_gain(self, before: Sequence[Theme], after: Sequence[Members]) -> float:
        """The same as a mean over the statements concerned; of the published form, the gain among the themes near.

        The published form is only told apart there: its medians are not of single themes.
        """
        if self.policy.form == "balanced":
            return self.total_gain(before, after) / sum(theme.size for theme in before)
        near = {near.key for theme in before for near, _ in self.nearest(theme)} - {theme.key for theme in before}
        around = [self._stat(key) for key in sorted(near)]
        new = [stat_of(part) for part in after]
        return paper([*around, *new]) - paper([*around, *(theme.stat for theme in before)])

    # Bookkeeping -----------------------------------------------------------------------------------------

    def _open(self, members: Members, id_: ThemeId | None = None, split_from: ThemeId | None = None) -> Theme:
        theme = Theme(self._next, id_, split_from)
        self.themes[theme.key] = theme
        self._next += 1
        self._hold(theme, members)
        return theme

    def _hold(self, theme: Theme, members: Members) -> None:
        theme.hold(members, self.homes, self.policy.balance)
        self._centroids.put(theme.key, theme.stat.vector_sum)
        self._touch(theme)

    def _end(self, theme: Theme, into: int | None) -> None:
        del self.themes[theme.key]
        theme.version += 1  # moves that were found with it are void
        self._centroids.drop(theme.key)
        self._changed.discard(theme.key)
        self.unsettled.discard(theme.key)
        self._removed = {id_: into if key == theme.key else key for id_, key in self._removed.items()}
        if theme.id:
            self._removed[theme.id] = into

    def _touch(self, theme: Theme) -> None:
        self._changed.add(theme.key)
        self.unsettled.add(theme.key)

    def _stat(self, key: int) -> ThemeStat:
        return self.themes[key].stat


def stat_of(members: Members) -> ThemeStat:
    """Size and sum, added up in one fixed order: the same members always give the same bits."""
    total = np.stack([members[key] for key in sorted(members)]).sum(axis=0, dtype=np.float64)
    return ThemeStat(len(members), total.astype(np.float32))


def _prices(statements: Collection[StatementId], stay: float) -> dict[StatementId, float]:
    """What it costs to take each of these from its theme: as much of `stay` as the share of them that came later.

    Ids tell the order of arrival. What came last is not settled yet, and nobody knows its theme; what is old has been
    seen in its place often.
    """
    count = len(statements)
    return {id_: stay * (count - 1 - rank) / count for rank, id_ in enumerate(sorted(statements))}
