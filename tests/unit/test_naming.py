"""When a theme is given a better name."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.ids import StatementId, ThemeId
from app.domain.naming import Naming, name
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.records import Theme

MODEL = MadeBy("some-model", "1", "label/1")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
TOLD = (StatementId(UUID(int=1)),)  # what the name so far was made from


def statements(size: int) -> tuple[StatementId, ...]:
    return tuple(StatementId(UUID(int=number)) for number in range(1, size + 1))


def theme(size: int, made_by: MadeBy = MODEL, *, degraded: bool = False) -> Theme:
    return Theme(ThemeId(UUID(int=1)), "Dogs", "Rosa has dogs.", size, 1, {}, degraded, made_by, NOW, NOW, TOLD)


def test_without_a_model_a_theme_is_named_by_its_own_words() -> None:
    for before in (None, theme(5), theme(5, EXTRACTIVE)):
        named = name("dogs · Bern", statements(6), before, joined=False, with_model=False)
        assert named == Naming("dogs · Bern", None, False, EXTRACTIVE, statements(6))


@pytest.mark.parametrize(("size", "waits"), [(1, False), (2, False), (3, True), (12, True)])
def test_a_new_theme_waits_for_a_model_once_it_is_worth_it(size: int, waits: bool) -> None:
    named = name("dogs", statements(size), None, joined=False, with_model=True)
    assert named == Naming("dogs", None, waits, EXTRACTIVE, statements(size))


@pytest.mark.parametrize(
    ("before", "size", "waits"),
    [(3, 4, False), (4, 5, False), (5, 6, True), (3, 6, True), (6, 11, False), (7, 12, True), (6, 5, False)],
)
def test_a_models_name_is_kept_and_renewed_only_when_the_theme_outgrows_it(before: int, size: int, waits: bool) -> None:
    named = name("dogs", statements(size), theme(before), joined=False, with_model=True)
    assert named == Naming("Dogs", "Rosa has dogs.", waits, MODEL, TOLD)


def test_what_waits_goes_on_waiting() -> None:
    assert name("dogs", statements(7), theme(6, degraded=True), joined=False, with_model=True).degraded


@pytest.mark.parametrize(("size", "joined"), [(6, True), (2, False)])
def test_a_theme_that_takes_in_another_or_gets_too_small_loses_its_name(size: int, joined: bool) -> None:
    named = name("dogs", statements(size), theme(6), joined=joined, with_model=True)
    assert (named.label, named.summary, named.made_by) == ("dogs", None, EXTRACTIVE)


def test_a_name_that_tells_of_a_statement_that_left_goes() -> None:
    left = statements(6)[1:]
    assert name("dogs", left, theme(6), joined=False, with_model=True) == Naming("dogs", None, True, EXTRACTIVE, left)
    assert name("dogs", left, theme(6, EXTRACTIVE), joined=False, with_model=True).made_from == left
    untold = statements(6)[:-1]
    assert name("dogs", untold, theme(6), joined=False, with_model=True).made_by == MODEL


def test_a_name_of_which_nobody_knows_what_it_tells_goes_when_a_statement_leaves() -> None:
    before = replace(theme(6), made_from=())
    assert name("dogs", statements(5), before, joined=False, with_model=True).made_by == EXTRACTIVE
    assert name("dogs", statements(7), before, joined=False, with_model=True).made_by == MODEL
