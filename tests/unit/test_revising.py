"""What holds again, ends or becomes one when statements lose evidence; and for how long statements hold."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from app.domain.chains import Ending
from app.domain.dates import Granularity, Open, When
from app.domain.ids import MessageId, StatementId
from app.domain.revising import Revision, revise
from app.domain.statements import Known
from app.domain.validity import validity, validity_of

START = datetime(2025, 1, 6, 12, tzinfo=UTC)
NOTHING = Revision((), (), ())


def at(day: int) -> datetime:
    return START + timedelta(days=day)


def known(number: int, text: str, first: int, last: int | None = None, **fields: object) -> Known:
    last = first if last is None else last
    messages = frozenset(MessageId(UUID(int=day + 1)) for day in (first, last))
    return replace(Known(StatementId(UUID(int=100 + number)), text, at(first), at(last), messages), **fields)


VELMAR, NORDHAGEN = "Ann: I live in Velmar.", "Ann: I live in Nordhagen."


def test_what_is_in_order_stays() -> None:
    heir = known(2, NORDHAGEN, 5)
    old = known(1, VELMAR, 1, superseded_by=heir.id, valid_to=at(5))
    assert revise([old, heir], {old.id, heir.id}) == NOTHING


def test_what_was_not_said_later_after_all_is_ended_itself() -> None:
    heir = known(2, NORDHAGEN, 1)  # it was said again on a day 9 that nobody tells of any more
    old = known(1, VELMAR, 5, superseded_by=heir.id, valid_to=at(9))
    assert revise([old, heir], {heir.id}) == Revision((old.id,), (Ending(heir.id, old.id, at(5)),), ())
    assert revise([old, heir], set()).freed == ()


def test_the_end_moves_with_the_first_time_that_the_successor_was_said() -> None:
    heir = known(2, NORDHAGEN, 8)
    old = known(1, VELMAR, 1, superseded_by=heir.id, valid_to=at(5))
    assert revise([old, heir], {heir.id}).ended[0] == Ending(old.id, heir.id, at(8))


def test_what_holds_again_is_ended_by_what_came_next() -> None:
    old, later = known(1, VELMAR, 1), known(3, "Ann: I moved to Quillhaven.", 9)
    assert revise([old, later], {old.id}).ended == (Ending(old.id, later.id, at(9)),)


def test_twins_become_the_one_said_first_or_the_users_own() -> None:
    first, again = known(1, VELMAR, 1), known(2, "Ann: i live in velmar", 9)
    assert revise([again, first], {first.id}).twins == ((first.id, again.id),)
    assert revise([again, first], set()) == NOTHING
    own = replace(again, fixed=True)
    assert revise([own, first], {first.id}).twins == ((own.id, first.id),)


def test_the_same_said_again_and_again_becomes_one() -> None:
    third = known(3, VELMAR, 9)
    second = known(2, VELMAR, 5, superseded_by=third.id, valid_to=at(9))
    first = known(1, VELMAR, 1, superseded_by=second.id, valid_to=at(5))
    revision = revise([first, second, third], {first.id, second.id})
    assert revision.twins == ((first.id, second.id), (first.id, third.id))


def test_a_correction_by_the_user_stays() -> None:
    own = known(2, "Ann: I live in Velmar Old Town.", 1, fixed=True)
    old = known(1, VELMAR, 1, superseded_by=own.id, valid_to=at(1))
    assert revise([old, own], {old.id, own.id}) == NOTHING


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("Ann: I have lived here since 2016.", "2016-01-01T00:00:00+00:00", None),
        ("Ann: I'm away until March 2026.", None, "2026-03-31T23:59:59.999999+00:00"),
        ("Ann: I ran 5 km yesterday.", "2025-01-05T00:00:00+00:00", None),
        ("Ann: I like tea.", None, None),
    ],
)
def test_how_long_a_statement_holds_by_its_own_words(text: str, begins: str | None, ends: str | None) -> None:
    told = validity_of(text, START)
    assert told == tuple(None if moment is None else datetime.fromisoformat(moment) for moment in (begins, ends))


def test_the_last_day_of_the_calendar_ends_like_any_other() -> None:
    when = When(date.max, date.max, Granularity.DAY, "31 December 9999", (0, 16), Open.UNTIL)
    assert validity(when) == (None, datetime.max.replace(tzinfo=UTC))
