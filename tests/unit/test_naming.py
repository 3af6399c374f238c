"""When a theme is given a better name."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from app.domain.ids import ThemeId
from app.domain.naming import Naming, name
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.records import Theme

MODEL = MadeBy("some-model", "1", "label/1")
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def theme(size: int, made_by: MadeBy = MODEL, *, degraded: bool = False) -> Theme:
    return Theme(ThemeId(UUID(int=1)), "Dogs", "Rosa has dogs.", size, 1, {}, degraded, made_by, NOW, NOW)


def test_without_a_model_a_theme_is_named_by_its_own_words() -> None:
    for before in (None, theme(5), theme(5, EXTRACTIVE)):
        named = name("dogs · Bern", 6, before, reshaped=False, with_model=False)
        assert named == Naming("dogs · Bern", None, False, EXTRACTIVE)


@pytest.mark.parametrize(("size", "waits"), [(1, False), (2, False), (3, True), (12, True)])
def test_a_new_theme_waits_for_a_model_once_it_is_worth_it(size: int, waits: bool) -> None:
    named = name("dogs", size, None, reshaped=False, with_model=True)
    assert named == Naming("dogs", None, waits, EXTRACTIVE)


@pytest.mark.parametrize(
    ("before", "size", "waits"),
    [(3, 4, False), (4, 5, False), (5, 6, True), (3, 6, True), (6, 11, False), (7, 12, True), (6, 5, False)],
)
def test_a_models_name_is_kept_and_renewed_only_when_the_theme_outgrows_it(before: int, size: int, waits: bool) -> None:
    named = name("dogs", size, theme(before), reshaped=False, with_model=True)
    assert named == Naming("Dogs", "Rosa has dogs.", waits, MODEL)


def test_what_waits_goes_on_waiting() -> None:
    assert name("dogs", 7, theme(6, degraded=True), reshaped=False, with_model=True).degraded


@pytest.mark.parametrize(("size", "reshaped"), [(6, True), (2, False)])
def test_a_theme_that_was_cut_or_joined_loses_its_name(size: int, reshaped: bool) -> None:
    named = name("dogs", size, theme(6), reshaped=reshaped, with_model=True)
    assert (named.label, named.summary, named.made_by) == ("dogs", None, EXTRACTIVE)
