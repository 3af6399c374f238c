"""What holds of the themes after any stream of additions, deletions, edits and replays."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.board import Board, Members, Theme
from app.domain.ids import StatementId, ThemeId
from app.domain.objective import evaluate
from app.domain.settling import settle
from app.domain.theme_policy import ThemePolicy
from app.domain.themes import Member, ThemePlan, ThemeState, plan
from app.domain.vectors import unit
from tests.theme_store import ThemeStore

DIMENSION = 48
SUBJECTS = 9  # each with a few matters; two statements of one matter have a cosine of about 0.6, of one subject 0.4
POLICY = ThemePolicy()

_axes = unit(np.random.default_rng(7).standard_normal((200, DIMENSION)).astype(np.float32))


def statement(number: int, subject: int = 0, matter: int = 0, edition: int = 0) -> Member:
    """Statement `number`: one speaker's voice, its subject, its matter, and words of its own."""
    own = np.random.default_rng([number, edition]).standard_normal(DIMENSION)
    vector = 0.6 * _axes[199] + 0.8 * _axes[subject] + 0.7 * _axes[20 + 4 * subject + matter]
    return Member(StatementId(UUID(int=number)), unit((vector + 0.8 * own / np.linalg.norm(own)).astype(np.float32)))


@dataclass
class Stream:
    """A store, and what should be in it."""

    store: ThemeStore
    current: dict[StatementId, Member] = field(default_factory=dict)

    def add(self, given: Sequence) -> None:
        fresh = {member.id: member for member in (statement(*text) for text in given) if member.id not in self.current}
        self.store.add(fresh.values())
        self.current |= fresh

    def remove(self, places: Sequence[int]) -> None:
        gone = self._picked(places)
        self.store.remove(gone)
        for id_ in gone:
            del self.current[id_]

    def edit(self, given: Sequence) -> None:
        for text in given:
            member = statement(*text, edition=1)
            if member.id in self.current:
                self.store.edit(member)
                self.current[member.id] = member

    def replay(self, places: Sequence[int]) -> None:
        self.store.add([self.current[id_] for id_ in sorted(self._picked(places))])

    def maintain(self, _: Sequence) -> None:
        self.store.maintain()

    def _picked(self, places: Sequence[int]) -> set[StatementId]:
        known = sorted(self.current)
        return {known[at % len(known)] for at in places} if known else set()


texts = st.tuples(st.integers(1, 400), st.integers(0, SUBJECTS - 1), st.integers(0, 3))
additions = st.tuples(st.just("add"), st.lists(texts, min_size=1, max_size=14))
removals = st.tuples(st.just("remove"), st.lists(st.integers(0, 10_000), min_size=1, max_size=6))
edits = st.tuples(st.just("edit"), st.lists(texts, min_size=1, max_size=3))
replays = st.tuples(st.just("replay"), st.lists(st.integers(0, 10_000), min_size=1, max_size=8))
pauses = st.tuples(st.just("maintain"), st.just([]))
# A maintenance runs after some steps only: others pile up before it.
streams = st.lists(
    st.one_of(additions, additions, additions, removals, edits, replays, pauses), min_size=1, max_size=14
)


def run(events: Sequence[tuple[str, Sequence]], policy: ThemePolicy = POLICY) -> ThemeStore:
    stream = Stream(ThemeStore(policy))
    for what, with_what in [*events, ("maintain", [])]:
        getattr(stream, what)(with_what)
        assert_whole(stream)
    assert set(stream.store.home) == set(stream.current), "nothing waits"
    return stream.store


def assert_whole(stream: Stream) -> None:
    """Every statement is in one theme or waits; no theme is empty or above the cap; sums are what they should be."""
    store = stream.store
    held = [member.id for theme in store.themes.values() for member in theme.members]
    assert sorted([*held, *store.waiting]) == sorted(stream.current)
    assert store.home == {member.id: id_ for id_, theme in store.themes.items() for member in theme.members}
    for theme in store.themes.values():
        assert 1 <= theme.size == len(theme.members) <= store.policy.cap
        total = np.sum([stream.current[member.id].vector for member in theme.members], axis=0, dtype=np.float64)
        np.testing.assert_allclose(theme.vector_sum, total, atol=1e-5)


@settings(max_examples=40)
@given(streams, st.sampled_from([1, 2, 3, 5, 12]), st.sampled_from([5, 500]), st.sampled_from(["balanced", "paper"]))
def test_after_any_stream_the_partition_is_exact(events: list, cap: int, grown: int, form: str) -> None:
    run(events, replace(POLICY, cap=cap, grown=grown, form=form))


@settings(max_examples=15)
@given(streams)
def test_a_replay_of_everything_changes_nothing(events: list) -> None:
    store = run(events)
    before = dict(store.themes)
    made = plan(list(store.members.values()), list(store.themes.values()), store.policy.at(len(store.home)))
    assert (made.themes, made.removed, made.steps) == ((), (), ())
    store.maintain()
    assert store.themes == before


def as_values(made: ThemePlan) -> object:
    themes = [(one.key, one.id, one.members, one.vector_sum.tobytes(), one.split_from) for one in made.themes]
    return themes, made.removed, made.steps


@settings(max_examples=20)
@given(streams, st.lists(texts, min_size=1, max_size=10), st.randoms(use_true_random=False))
def test_a_plan_is_the_same_in_every_order_of_what_is_near(events: list, texts: list, random: object) -> None:
    store = run(events)
    near = list(store.themes.values())
    new = [statement(1000 + at, *text[1:]) for at, text in enumerate(texts)]
    touched = [theme.id for theme in near[::3]]
    first = as_values(plan(new, near, POLICY, touched=touched))
    assert as_values(plan(new, near, POLICY, touched=touched)) == first
    random.shuffle(near)  # type: ignore[attr-defined]
    random.shuffle(touched)  # type: ignore[attr-defined]
    shuffled = [ThemeState(theme.id, theme.size, theme.vector_sum, theme.members[::-1]) for theme in near]
    assert as_values(plan(new, shuffled, POLICY, touched=touched)) == first


class Weighed(Board):
    """A board that reckons anew, over all its themes, what each move did to the objective."""

    def total(self) -> float:
        stats = [theme.stat for theme in self.themes.values()]
        return evaluate(stats, "balanced", self.policy.balance) * sum(stat.size for stat in stats)

    def join(self, stays: Theme, ends: Theme, similarity: float, threshold: float) -> None:
        before, concerned = self.total(), stays.size + ends.size
        super().join(stays, ends, similarity, threshold)
        self.check(before, concerned)

    def move(self, one: StatementId, source: Theme, target: Theme | None, similarity: float, threshold: float) -> None:
        before, concerned = self.total(), source.size + (target.size if target else 0)
        super().move(one, source, target, similarity, threshold)
        self.check(before, concerned)

    def cut(self, theme: Theme, parts: Sequence[Members], tight: float) -> None:
        before, concerned, forced = self.total(), theme.size, theme.size > self.policy.cap
        super().cut(theme, parts, tight)
        self.check(before, concerned, forced=forced)

    def check(self, before: float, concerned: int, *, forced: bool = False) -> None:
        claimed = self.result().steps[-1].gain * concerned
        assert self.total() - before == pytest.approx(claimed, abs=1e-3)
        assert forced or claimed > 0


@settings(max_examples=25)
@given(
    st.lists(st.tuples(texts, st.integers(0, 7)), min_size=1, max_size=50, unique_by=lambda one: one[0][0]),
    st.sampled_from([3, 12]),
    st.sampled_from([0.5, 0.85]),
)
def test_every_step_gains_what_it_claims_over_all_themes(grouped: list, cap: int, redundant: float) -> None:
    """From any partition, which may be a bad one, so that moves of all kinds are made."""
    groups: dict[int, list[Member]] = {}
    for text, group in grouped:
        groups.setdefault(group, []).append(statement(*text))
    store = ThemeStore(POLICY)
    for number, members in groups.items():
        store.hold(ThemeId(UUID(int=number)), tuple(members))
    balance = replace(POLICY.balance, redundant=redundant)  # where it is low, a change is felt by themes all around
    board = Weighed.of(list(store.themes.values()), replace(POLICY, cap=cap, balance=balance, attach=0.5))
    board.look_again(set(store.themes))
    settle(board)


@settings(max_examples=12)
@given(streams)
def test_after_any_stream_the_objective_is_close_to_that_of_a_rebuild(events: list) -> None:
    store = run(events)
    before, members = store.value, store.members
    store.rebuild()
    assert {id_: m.vector.tobytes() for id_, m in store.members.items()} == {
        id_: m.vector.tobytes() for id_, m in members.items()
    }
    assert before >= 0.98 * store.value
    assert store.value >= 0.98 * before


def test_statements_keep_their_theme_while_others_come() -> None:
    """Nine in ten of those that were there keep it over ten increments."""
    random = np.random.default_rng(3)
    numbers = iter(range(1, 1000))

    def some(count: int) -> list[Member]:
        return [statement(next(numbers), int(random.integers(SUBJECTS)), int(random.integers(4))) for _ in range(count)]

    store = ThemeStore(POLICY)
    store.add(some(150))
    store.maintain()
    homes = [dict(store.home)]
    for _ in range(12):
        store.add(some(10))
        store.maintain()
        homes.append(dict(store.home))
    for sooner, later in zip(homes, homes[10:], strict=False):
        assert np.mean([later[id_] == theme for id_, theme in sooner.items()]) >= 0.9


def test_only_what_changed_is_in_a_plan() -> None:
    store = ThemeStore(POLICY)
    store.add([statement(n, n % SUBJECTS, n % 4) for n in range(200)])
    store.maintain()
    store.add([statement(500, 3, 1)])
    made = store.maintain()
    assert len(made.themes) <= 4


def test_a_split_or_a_move_keeps_the_older_identity() -> None:
    """A theme goes on under its id as long as it has a statement; what leaves it says where it came from."""
    store = ThemeStore(replace(POLICY, cap=12))
    store.add([statement(n, 0, 0) for n in range(1, 13)])
    store.maintain()
    store.policy = replace(POLICY, cap=3)
    old = set(store.themes)
    store.touched = set(old)
    made = store.maintain()
    assert all(theme.size <= 3 for theme in store.themes.values())
    assert old <= set(store.themes)
    assert {one.split_from for one in made.themes if one.id is None} <= old


@pytest.mark.parametrize("form", ["balanced", "paper"])
def test_identical_statements_fill_themes_up_to_the_cap(form: str) -> None:
    same = statement(1).vector
    store = ThemeStore(replace(POLICY, form=form, cap=5))
    for start in range(0, 40, 8):
        store.add([Member(StatementId(UUID(int=n + 1)), same) for n in range(start, start + 8)])
        store.maintain()
    assert sum(theme.size for theme in store.themes.values()) == 40
    assert max(theme.size for theme in store.themes.values()) <= 5
