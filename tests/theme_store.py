"""Themes kept in memory, as maintenance keeps them in the database: for tests and measurements of the plan alone."""

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

import numpy as np

from app.domain.ids import StatementId, ThemeId
from app.domain.objective import ThemeStat, evaluate
from app.domain.theme_policy import ThemePolicy
from app.domain.themes import Member, ThemePlan, ThemeState, plan, rebuild
from app.domain.vectors import Vector, cosine


class ThemeStore:
    """A namespace's themes. Statements come, change and go; `maintain` plans among the nearest themes only."""

    def __init__(self, policy: ThemePolicy) -> None:
        self.policy = policy
        self.themes: dict[ThemeId, ThemeState] = {}
        self.home: dict[StatementId, ThemeId] = {}
        self.waiting: dict[StatementId, Member] = {}
        self.touched: set[ThemeId] = set()
        self.made = 0

    @property
    def members(self) -> dict[StatementId, Member]:
        """Every statement that has a theme."""
        return {member.id: member for theme in self.themes.values() for member in theme.members}

    @property
    def stats(self) -> list[ThemeStat]:
        """The themes as the objective sees them."""
        return [ThemeStat(theme.size, theme.vector_sum) for theme in self.themes.values()]

    @property
    def value(self) -> float:
        """The objective over all themes."""
        return evaluate(self.stats, self.policy.form, self.policy.at(len(self.home)).balance)

    def add(self, members: Iterable[Member]) -> None:
        """Statements that wait for a theme; those that have one already, change nothing."""
        self.waiting |= {member.id: member for member in members if member.id not in self.home}

    def remove(self, ids: Collection[StatementId]) -> None:
        """Statements go, as by an erasure: their themes shrink at once and are looked at later."""
        for id_ in ids:
            self.waiting.pop(id_, None)
        for theme in sorted({self.home.pop(id_) for id_ in ids if id_ in self.home}):
            state = self.themes[theme]
            kept = tuple(member for member in state.members if member.id not in ids)
            if kept:
                self.hold(theme, kept)
                self.touched.add(theme)
            else:
                del self.themes[theme]
                self.touched.discard(theme)

    def edit(self, member: Member) -> None:
        """A statement's text, and so its vector, changes: it leaves its theme and waits for another."""
        self.remove([member.id])
        self.add([member])

    def maintain(self) -> ThemePlan:
        """Place what waits and look again at what shrank."""
        new = list(self.waiting.values())
        made = plan(new, self._near(new), self.policy.at(len(self.home) + len(new)), touched=self.touched)
        self.waiting, self.touched = {}, set()
        self.apply(made, new)
        return made

    def rebuild(self) -> ThemePlan:
        """Exchange the themes for those that all statements at once would have."""
        members = list(self.members.values())
        groups = {id_: [member.id for member in theme.members] for id_, theme in self.themes.items()}
        made = rebuild(sorted(members, key=lambda member: member.id), groups, self.policy.at(len(members)))
        self.apply(made, ())
        return made

    def apply(self, made: ThemePlan, new: Sequence[Member]) -> None:
        """What a transaction does with a plan."""
        known = self.members | {member.id: member for member in new}
        for removed in made.removed:
            del self.themes[removed.id]
        for planned in made.themes:
            self.made += planned.id is None
            id_ = planned.id or ThemeId(UUID(int=self.made))
            self.hold(id_, tuple(known[one] for one in planned.members), planned.vector_sum)

    def hold(self, theme: ThemeId, members: tuple[Member, ...], vector_sum: Vector | None = None) -> None:
        """Put these statements into a theme, and no others; without their sum, add them up."""
        total = _sum(members) if vector_sum is None else vector_sum
        self.themes[theme] = ThemeState(theme, len(members), total, members)
        self.home |= {member.id: theme for member in members}

    def _near(self, new: Sequence[Member]) -> list[ThemeState]:
        """What a plan is made from: the themes nearest to what is new and to what shrank."""
        if not self.themes:
            return []
        ids = sorted(self.themes)
        sums = np.stack([self.themes[id_].vector_sum for id_ in ids])
        wanted = [member.vector for member in new] + [self.themes[id_].vector_sum for id_ in sorted(self.touched)]
        near = set(self.touched)
        for row in cosine(np.stack(wanted), sums) if wanted else ():
            near |= {ids[at] for at in np.argsort(-row, kind="stable")[: self.policy.neighbours]}
        return [self.themes[id_] for id_ in sorted(near)]


def _sum(members: Sequence[Member]) -> Vector:
    total: Vector = np.sum([member.vector for member in members], axis=0, dtype=np.float32)
    return total
