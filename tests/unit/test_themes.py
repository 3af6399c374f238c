from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.ids import StatementId, ThemeId
from app.domain.theme_policy import ThemePolicy
from app.domain.themes import Action, Member, RemovedTheme, ThemePlan, ThemeState, plan
from app.domain.vectors import Vector, unit

POLICY = ThemePolicy()
AXES = np.eye(16, dtype=np.float32)


def about(topic: int, number: int, noise: float = 0.3) -> Member:
    """Statement `number`, near the axis of its topic; two of one topic have a cosine of about 0.9."""
    own = np.random.default_rng(number).standard_normal(16)
    vector = unit((AXES[topic] + noise * own / np.linalg.norm(own)).astype(np.float32))
    return Member(StatementId(UUID(int=number)), vector)


def theme(number: int, members: Sequence[Member]) -> ThemeState:
    total: Vector = np.sum([member.vector for member in members], axis=0, dtype=np.float32)
    return ThemeState(ThemeId(UUID(int=number)), len(members), total, tuple(members))


def statements(*members: Member) -> tuple[StatementId, ...]:
    return tuple(sorted(member.id for member in members))


def apply(stored: Sequence[ThemeState], made: ThemePlan, known: Iterable[Member]) -> list[ThemeState]:
    """What storage does with a plan."""
    by_id = {member.id: member for member in known}
    kept = {state.id: state for state in stored}
    for removed in made.removed:
        del kept[removed.id]
    fresh = 1 + max((state.id.int for state in stored), default=100)
    for planned in made.themes:
        id = planned.id or ThemeId(UUID(int=fresh + planned.key))
        members = tuple(by_id[statement] for statement in planned.members)
        kept[id] = ThemeState(id, planned.size, planned.vector_sum, members)
    return list(kept.values())


def shape(made: ThemePlan) -> object:
    """A plan as comparable values."""
    themes = [
        (p.key, p.id, p.members, p.size, p.vector_sum.tobytes(), p.split_from, p.merged_from) for p in made.themes
    ]
    return themes, made.removed, made.steps


def test_nothing_new_is_nothing_to_do() -> None:
    assert shape(plan([], [], POLICY)) == ([], (), ())


def test_a_first_statement_opens_a_theme() -> None:
    member = about(0, 1)
    made = plan([member], [], POLICY)
    (opened,) = made.themes
    assert (opened.id, opened.members, opened.size) == (None, (member.id,), 1)
    assert [step.action for step in made.steps] == [Action.OPEN]


def test_a_statement_attaches_to_the_theme_of_its_topic() -> None:
    left, right = [about(0, 1), about(0, 2)], [about(1, 3), about(1, 4)]
    new = about(1, 5)
    made = plan([new], [theme(1, left), theme(2, right)], POLICY)
    (planned,) = made.themes
    assert planned.id == ThemeId(UUID(int=2))
    assert planned.members == statements(*right, new)
    assert made.steps[0].action is Action.ATTACH
    assert made.steps[0].gain > 0
    assert made.removed == ()


def test_a_statement_of_another_topic_opens_a_theme_and_leaves_the_rest_alone() -> None:
    made = plan([about(5, 9)], [theme(1, [about(0, 1), about(0, 2)])], POLICY)
    assert [(planned.id, planned.size) for planned in made.themes] == [(None, 1)]


def test_statements_of_one_batch_find_each_other() -> None:
    made = plan([about(0, 1), about(1, 2), about(0, 3), about(1, 4)], [], POLICY)
    assert [planned.members for planned in made.themes] == [
        statements(about(0, 1), about(0, 3)),
        statements(about(1, 2), about(1, 4)),
    ]


def test_a_replay_changes_nothing() -> None:
    members = [about(0, 1), about(0, 2)]
    assert shape(plan(members, [theme(1, members)], POLICY)) == ([], (), ())


def test_a_statement_given_twice_is_placed_once() -> None:
    made = plan([about(0, 1), about(0, 1)], [], POLICY)
    assert [planned.size for planned in made.themes] == [1]


def test_a_theme_that_is_full_gives_some_away_and_goes_on_under_its_id() -> None:
    members = [about(0, number) for number in range(1, 13)]
    new = about(0, 13)
    made = plan([new], [theme(1, members)], POLICY)
    old, fresh = sorted(made.themes, key=lambda planned: planned.id is None)
    assert (old.id, fresh.id) == (ThemeId(UUID(int=1)), None)
    assert new.id in fresh.members
    assert old.size >= fresh.size > 1
    assert statements(*members, new) == tuple(sorted(old.members + fresh.members))


def test_a_theme_above_the_cap_is_cut_and_its_largest_part_keeps_the_id() -> None:
    members = [about(0, number) for number in range(1, 13)]
    made = plan([], [theme(1, members)], replace(POLICY, cap=5))
    assert sum(planned.size for planned in made.themes) == 12
    assert all(planned.size <= 5 for planned in made.themes)
    kept = max(made.themes, key=lambda planned: planned.size)
    assert kept.id == ThemeId(UUID(int=1))
    assert {p.split_from for p in made.themes if p.id is None} == {ThemeId(UUID(int=1))}
    assert Action.SPLIT in [step.action for step in made.steps]


def test_a_statement_moves_to_the_theme_that_it_fits() -> None:
    """The first of its kind was put beside others; now more of its kind come."""
    stray = about(1, 9)
    mixed = theme(1, [about(0, 1), about(0, 2), about(0, 3), stray])
    made = plan([about(1, 4), about(1, 5)], [mixed], POLICY)
    moved = next(planned for planned in made.themes if stray.id in planned.members)
    assert moved.members == statements(about(1, 4), about(1, 5), stray)
    assert Action.MOVE in [step.action for step in made.steps]
    assert ThemeId(UUID(int=1)) in [planned.id for planned in made.themes]


@pytest.mark.parametrize("cap", [3, 4])
def test_a_full_theme_takes_no_statement_of_another(cap: int) -> None:
    """The stray fits the first theme, and goes there if there is room."""
    stray = about(0, 9)
    near = [theme(1, [about(0, 1), about(0, 2), about(0, 3)]), theme(2, [about(1, 4), about(1, 5), stray])]
    made = plan([], near, replace(POLICY, cap=cap, intra=0.0), touched=[state.id for state in near])
    sizes = sorted(planned.size for planned in made.themes)
    assert sizes == ([2, 4] if cap == 4 else [3, 3])


def test_what_has_a_theme_moves_only_for_a_gain_above_its_price() -> None:
    stray = about(1, 1)
    mixed = theme(1, [about(0, 2), about(0, 3), about(0, 4), stray])
    made = plan([about(1, 5), about(1, 6)], [mixed], replace(POLICY, stay=100.0))
    assert stray.id not in {id_ for planned in made.themes for id_ in planned.members}


def test_what_came_last_moves_more_easily_than_what_is_old() -> None:
    """The same stray among the same statements, as the first of them and as the last."""
    for number, moves in ((1, False), (9, True)):
        stray = about(1, number)
        mixed = theme(1, [about(0, 2), about(0, 3), about(0, 4), stray])
        made = plan([about(1, 10), about(1, 11)], [mixed], replace(POLICY, stay=100.0))
        assert (stray.id in {id_ for planned in made.themes for id_ in planned.members}) is moves


def test_identical_statements_still_respect_the_cap() -> None:
    same = [Member(StatementId(UUID(int=number)), AXES[0]) for number in range(1, 41)]
    made = plan(same, [], POLICY)
    assert sum(planned.size for planned in made.themes) == 40
    assert all(planned.size <= POLICY.cap for planned in made.themes)


def test_a_theme_of_two_topics_comes_apart_where_they_part() -> None:
    one, two = [about(0, number) for number in range(1, 5)], [about(1, number) for number in range(5, 9)]
    new = about(0, 9)
    made = plan([new], [theme(1, one + two)], replace(POLICY, attach=0.3, attach_small=0.3))
    assert {planned.members for planned in made.themes} == {statements(*one, new), statements(*two)}


def test_two_themes_of_one_topic_merge_into_the_larger() -> None:
    small, large = [about(0, 1)], [about(0, number) for number in range(2, 6)]
    made = plan([about(0, 6)], [theme(1, small), theme(2, large)], POLICY)
    (planned,) = made.themes
    assert planned.id == ThemeId(UUID(int=2))
    assert planned.merged_from == (ThemeId(UUID(int=1)),)
    assert planned.size == 6
    assert made.removed == (RemovedTheme(ThemeId(UUID(int=1)), planned.key),)


def test_statements_that_are_gone_leave_and_an_empty_theme_ends() -> None:
    stays = [about(0, number) for number in range(1, 4)]
    leaves = about(1, 9)
    made = plan([], [theme(1, stays), theme(2, [leaves])], POLICY, gone={stays[0].id, leaves.id})
    (planned,) = made.themes
    assert planned.members == statements(*stays[1:])
    assert made.removed == (RemovedTheme(ThemeId(UUID(int=2)), None),)


def test_a_statement_that_is_already_gone_is_not_placed() -> None:
    member = about(0, 1)
    assert plan([member], [], POLICY, gone={member.id}).themes == ()


def test_a_theme_without_all_its_members_is_refused() -> None:
    members = [about(0, 1), about(0, 2)]
    with pytest.raises(ValueError, match="all its members"):
        plan([], [replace(theme(1, members), members=(members[0],))], POLICY)


def test_a_statement_in_two_themes_is_refused() -> None:
    member = about(0, 1)
    with pytest.raises(ValueError, match="one theme only"):
        plan([], [theme(1, [member]), theme(2, [member])], POLICY)


batches = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 60)), max_size=16), min_size=1, max_size=5)


@settings(max_examples=20)
@given(
    batches,
    st.sampled_from(["balanced", "paper"]),
    st.sampled_from([1, 3, 12]),
    st.floats(0.1, 1.5),
    st.data(),
)
def test_every_increment_keeps_an_exact_partition(
    increments: list[list[tuple[int, int]]], form: str, cap: int, noise: float, data: st.DataObject
) -> None:
    policy = replace(POLICY, form=form, cap=cap)
    stored: list[ThemeState] = []
    known: dict[StatementId, Member] = {}
    current: set[StatementId] = set()
    for increment in increments:
        new = [about(topic, 100 * topic + number, noise) for topic, number in increment]
        gone = set(data.draw(st.lists(st.sampled_from(sorted(current)), max_size=4))) if current else set()
        known |= {member.id: member for member in new}
        current = (current | {member.id for member in new}) - gone
        made = plan(new, stored, policy, gone)
        assert shape(made) == shape(plan(new, stored[::-1], policy, gone))
        stored = apply(stored, made, known.values())

        assert sorted(member.id for state in stored for member in state.members) == sorted(current)
        for state in stored:
            assert 1 <= state.size <= cap
            total = np.sum([member.vector for member in state.members], axis=0, dtype=np.float64)
            np.testing.assert_allclose(state.vector_sum, total, atol=1e-5)
        assert shape(plan([known[id] for id in sorted(current)], stored, policy)) == ([], (), ())
