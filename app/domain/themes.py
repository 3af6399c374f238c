"""Themes: groups of current statements. `plan` decides, from values alone, how they change.

A plan is made of moves on a partition. A new statement opens a theme of its own; attaching it, splitting a
theme and merging two are then the same thing: some themes are exchanged for others that hold the same
statements. So each move has a gain in the objective of `app.domain.objective`, and the plan tells it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from app.domain.ids import StatementId, ThemeId
from app.domain.objective import Balance, Form, ThemeStat, evaluate, tightness
from app.domain.splitting import ways_to_cut
from app.domain.vectors import Vector, cosine

ROUNDS = 4  # of splits and merges after attaching; two settle nearly every plan, the rest is a bound
MIN_GAIN = 1e-6  # of the objective; less is rounding, and would let a split and a merge undo each other

Members = dict[StatementId, Vector]

MINILM = Balance(alone=0.5, redundant=0.85)
"""Chosen with the thresholds below on the statements of five long conversations, arriving sitting by sitting:
mean size 4.6, one statement in fifty alone, two facts of one question together nine times as often as by chance.
"""


@dataclass(frozen=True, slots=True)
class ThemePolicy:
    """When themes change. Cosines belong to one embedding model; the defaults are all-MiniLM-L6-v2's."""

    attach: float = 0.62  # cosine of a statement to a theme's centroid that suffices
    attach_small: float = 0.52  # that suffices while the theme has room
    merge: float = 0.78  # cosine of two centroids from which merging is tried; `attach` for single statements
    edge: float = 0.66  # cosine from which two statements hang together when a theme is split
    intra: float = 0.72  # mean cosine between members below which a split is tried
    cap: int = 12  # statements of a theme, never more
    neighbours: int = 10  # nearest themes that a gain is measured among
    form: Form = "balanced"
    balance: Balance = MINILM

    def __post_init__(self) -> None:
        """Raise ValueError where no theme could hold a statement."""
        if self.cap < 1 or self.neighbours < 1:
            raise ValueError("cap and neighbours of a theme policy must be at least 1")


CALIBRATED: Mapping[str, ThemePolicy] = MappingProxyType({"all-minilm-l6-v2": ThemePolicy()})
"""The one table of calibrations: embedding model, in lower case and without its owner → its policy."""


def policy_for(model: str) -> ThemePolicy:
    """The policy calibrated for an embedding model; for an unknown one, the defaults."""
    return CALIBRATED.get(model.rsplit("/", 1)[-1].lower(), ThemePolicy())


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A statement and its vector, of length 1."""

    id: StatementId
    vector: Vector


@dataclass(frozen=True, slots=True, eq=False)
class ThemeState:
    """A stored theme with all its members."""

    id: ThemeId
    size: int
    vector_sum: Vector
    members: tuple[Member, ...]


class Action(StrEnum):
    """What a step of a plan does."""

    OPEN = "open"
    ATTACH = "attach"
    SPLIT = "split"
    MERGE = "merge"


@dataclass(frozen=True, slots=True)
class Step:
    """One decision: `gain` in the objective, 0 for opening; `keys` name the themes it leaves behind."""

    action: Action
    keys: tuple[int, ...]
    gain: float


@dataclass(frozen=True, slots=True, eq=False)
class PlannedTheme:
    """A theme as it is to be stored. `id` is None for a new one; `key` is its name within the plan.

    `members` are sorted; `vector_sum` is theirs, summed anew. `split_from` is the stored theme that it was
    cut out of, `merged_from` the stored themes that it takes in.
    """

    key: int
    id: ThemeId | None
    members: tuple[StatementId, ...]
    size: int
    vector_sum: Vector
    split_from: ThemeId | None
    merged_from: tuple[ThemeId, ...]


@dataclass(frozen=True, slots=True)
class RemovedTheme:
    """A stored theme that ends: merged into the planned theme `into`, or empty (None)."""

    id: ThemeId
    into: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ThemePlan:
    """All changes, to be applied in one transaction: themes not named here stay as they are."""

    themes: tuple[PlannedTheme, ...]
    removed: tuple[RemovedTheme, ...]
    steps: tuple[Step, ...]


def plan(
    new: Sequence[Member],
    near: Sequence[ThemeState],
    policy: ThemePolicy,
    gone: Collection[StatementId] = (),
) -> ThemePlan:
    """How the themes change when statements come and go. Pure and deterministic; needs no model.

    Args:
        new: current statements, in order of arrival; those that `near` already holds change nothing.
        near: for every new statement the `policy.neighbours` themes with the nearest centroids, and every
            theme that holds a statement of `gone` or of `new`; each with all its members.
        policy: thresholds, cap and objective.
        gone: statements that are current no more (superseded or deleted).

    Raises:
        ValueError: a theme in `near` lacks members, or two hold the same statement.
    """
    board = _Board.of(near, policy)
    board.drop(gone)
    for member in new:
        if member.id not in gone:
            board.place(member)
    for _ in range(ROUNDS):
        if not board.settle():
            break
    return board.result()


@dataclass(slots=True, eq=False)
class _Theme:
    """A theme on the board; `key` never changes, and the lower of two keys is the older theme."""

    key: int
    id: ThemeId | None
    members: Members
    split_from: ThemeId | None = None
    merged_from: tuple[ThemeId, ...] = ()
    stat: ThemeStat = field(init=False)

    def __post_init__(self) -> None:
        self.stat = _stat(self.members)

    def hold(self, members: Members) -> None:
        self.members, self.stat = members, _stat(members)


@dataclass(slots=True, eq=False)
class _Board:
    """The partition while it is being planned."""

    policy: ThemePolicy
    themes: dict[int, _Theme]
    held: set[StatementId]
    changed: set[int] = field(default_factory=set)  # themes to store
    unsettled: set[int] = field(default_factory=set)  # themes that a split or a merge may still improve
    removed: dict[ThemeId, int | None] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    next_key: int = 0

    @classmethod
    def of(cls, near: Sequence[ThemeState], policy: ThemePolicy) -> "_Board":
        states = sorted(near, key=lambda state: state.id)
        for state in states:
            if state.size != len(state.members):
                raise ValueError("a theme must be planned with all its members")
        themes = {
            key: _Theme(key, state.id, {member.id: member.vector for member in state.members})
            for key, state in enumerate(states)
        }
        held = {statement for theme in themes.values() for statement in theme.members}
        if len(held) != sum(state.size for state in states):
            raise ValueError("a statement must be in one theme only")
        return cls(policy, themes, held, next_key=len(themes))

    def drop(self, gone: Collection[StatementId]) -> None:
        """Take statements out; a theme without any ends."""
        for theme in list(self.themes.values()):
            if kept := {key: vector for key, vector in theme.members.items() if key not in gone}:
                if len(kept) < len(theme.members):
                    theme.hold(kept)
                    self._touch(theme.key)
            else:
                self._end(theme, into=None)
        self.held.difference_update(gone)

    def place(self, member: Member) -> None:
        """Attach a statement to the nearest theme if it is near enough, else open a theme for it."""
        if member.id in self.held:
            return
        self.held.add(member.id)
        own = self._open({member.id: member.vector})
        home = self._home(own)
        if home is None:
            self.steps.append(Step(Action.OPEN, (own.key,), 0.0))
        else:
            self._join(home, own, Action.ATTACH, self._gain([home, own], [home.members | own.members]))

    def settle(self) -> bool:
        """One round of splits and merges of what is unsettled; whether anything moved."""
        waiting, self.unsettled = sorted(self.unsettled), set()
        before = len(self.steps)
        for key in waiting:
            self._split(self.themes[key])
        for key in sorted({*waiting, *self.unsettled}):
            while key in self.themes and self._merge(self.themes[key]):
                pass
        return len(self.steps) > before

    def result(self) -> ThemePlan:
        themes = tuple(
            PlannedTheme(
                key=theme.key,
                id=theme.id,
                members=tuple(sorted(theme.members)),
                size=theme.stat.size,
                vector_sum=theme.stat.vector_sum,
                split_from=theme.split_from,
                merged_from=theme.merged_from,
            )
            for key, theme in sorted(self.themes.items())
            if key in self.changed
        )
        removed = tuple(RemovedTheme(id, into) for id, into in sorted(self.removed.items()))
        return ThemePlan(themes, removed, tuple(self.steps))

    def _home(self, own: _Theme) -> _Theme | None:
        near = self._nearest(own, 1)
        if not near:
            return None
        theme, similar = near[0]
        enough = self.policy.attach_small if theme.stat.size < self.policy.cap else self.policy.attach
        return theme if similar >= enough else None

    def _split(self, theme: _Theme) -> None:
        """Cut a theme that is too large, or that is loose and better in parts."""
        forced = theme.stat.size > self.policy.cap
        loose = tightness([theme.stat], alone=1.0)[0] < self.policy.intra
        if not (forced or loose):
            return
        choices = [(self._gain([theme], parts), parts) for parts in self._cuts(theme)]
        gain, parts = max(choices, key=lambda choice: choice[0], default=(0.0, []))
        if not parts or not (forced or gain > MIN_GAIN):
            return
        origin = theme.id or theme.split_from
        largest, *others = sorted(parts, key=lambda part: (-len(part), min(part)))
        theme.hold(largest)
        self._touch(theme.key)
        opened = [self._open(part, split_from=origin) for part in others]
        self.steps.append(Step(Action.SPLIT, (theme.key, *(part.key for part in opened)), gain))

    def _cuts(self, theme: _Theme) -> list[list[Members]]:
        ids = sorted(theme.members)
        rows = np.stack([theme.members[id] for id in ids])
        ways = ways_to_cut(rows, edge=self.policy.edge, cap=self.policy.cap)
        return [[{ids[at]: theme.members[ids[at]] for at in part} for part in way] for way in ways]

    def _merge(self, theme: _Theme) -> bool:
        """Join a theme with the near one that gains most, if any gains."""
        best, most = None, MIN_GAIN
        for other, similar in self._nearest(theme, self.policy.neighbours):
            alone = min(theme.stat.size, other.stat.size) == 1
            fits = theme.stat.size + other.stat.size <= self.policy.cap
            if fits and similar >= (self.policy.attach if alone else self.policy.merge):
                gain = self._gain([theme, other], [theme.members | other.members])
                if gain > most:
                    best, most = other, gain
        if best is not None:
            stays, ends = sorted((theme, best), key=lambda one: (one.id is None, -one.stat.size, one.key))
            self._join(stays, ends, Action.MERGE, most)
        return best is not None

    def _join(self, stays: _Theme, ends: _Theme, action: Action, gain: float) -> None:
        taken = (*stays.merged_from, *((ends.id,) if ends.id else ()), *ends.merged_from)
        stays.merged_from = tuple(dict.fromkeys(taken))
        stays.hold(stays.members | ends.members)
        self._end(ends, into=stays.key)
        self._touch(stays.key)
        self.steps.append(Step(action, (stays.key,), gain))

    def _open(self, members: Members, split_from: ThemeId | None = None) -> _Theme:
        theme = _Theme(self.next_key, None, members, split_from)
        self.themes[theme.key] = theme
        self.next_key += 1
        self._touch(theme.key)
        return theme

    def _end(self, theme: _Theme, into: int | None) -> None:
        del self.themes[theme.key]
        self.changed.discard(theme.key)
        self.unsettled.discard(theme.key)
        self.removed = {id: into if key == theme.key else key for id, key in self.removed.items()}
        if theme.id:
            self.removed[theme.id] = into

    def _touch(self, key: int) -> None:
        self.changed.add(key)
        self.unsettled.add(key)

    def _nearest(self, theme: _Theme, limit: int) -> list[tuple[_Theme, float]]:
        """The other themes nearest by centroid, nearest first, with their cosines; ties to the older."""
        others = [other for key, other in sorted(self.themes.items()) if key != theme.key]
        if not others:
            return []
        sums = np.stack([other.stat.vector_sum for other in others])
        similar = cosine(theme.stat.vector_sum[None, :], sums)[0]
        return [(others[at], float(similar[at])) for at in np.argsort(-similar, kind="stable")[:limit]]

    def _gain(self, before: Sequence[_Theme], after: Iterable[Members]) -> float:
        """What the objective gains, among the themes near `before`, when these are exchanged for `after`."""
        context = {near.key: near.stat for theme in before for near, _ in self._nearest(theme, self.policy.neighbours)}
        for theme in before:
            context.pop(theme.key, None)
        around = list(context.values())
        old = evaluate([*around, *(theme.stat for theme in before)], self.policy.form, self.policy.balance)
        return evaluate([*around, *map(_stat, after)], self.policy.form, self.policy.balance) - old


def _stat(members: Members) -> ThemeStat:
    """Size and sum, added up in one fixed order: the same members always give the same bits."""
    total = np.stack([members[key] for key in sorted(members)]).sum(axis=0, dtype=np.float64)
    return ThemeStat(len(members), total.astype(np.float32))
