"""Times, names, cursors and metadata, as the schemas read them."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from app.api.problems import _pointer, status_of
from app.api.schemas.common import (
    Cleaned,
    Name,
    PageQuery,
    Said,
    Time,
    TimeUntil,
    decode_cursor,
    encode_cursor,
)
from app.api.schemas.messages import MessageIn, Metadata
from app.domain.errors import (
    AppError,
    ConfigurationError,
    Conflict,
    Discarded,
    InvalidInput,
    NotFound,
    ProviderUnavailable,
    StoreUnavailable,
    TooLarge,
    UnusableReply,
)

TIME, UNTIL, NAME = TypeAdapter(Time), TypeAdapter(TimeUntil), TypeAdapter(Name)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("2025-03-09T23:30:00-05:00", datetime(2025, 3, 10, 4, 30, tzinfo=UTC)),
        ("2025-03-09T23:30:00 05:00", datetime(2025, 3, 9, 18, 30, tzinfo=UTC)),
        ("2025-03-09T23:30:00-0500", datetime(2025, 3, 10, 4, 30, tzinfo=UTC)),
        ("2025-03-10T04:45:00Z", datetime(2025, 3, 10, 4, 45, tzinfo=UTC)),
        ("2025-03-10t04:45:00z", datetime(2025, 3, 10, 4, 45, tzinfo=UTC)),
        ("2025-03-10 04:45", datetime(2025, 3, 10, 4, 45, tzinfo=UTC)),
        ("2025-03-10T12:00:00", datetime(2025, 3, 10, 12, tzinfo=UTC)),
        ("2025-03-10T12:00:00.123456789Z", datetime(2025, 3, 10, 12, 0, 0, 123456, tzinfo=UTC)),
        ("2025-03-10T12:00:00.5Z", datetime(2025, 3, 10, 12, 0, 0, 500000, tzinfo=UTC)),
        ("2025-03-10", datetime(2025, 3, 10, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_utc(given_: str, expected: datetime) -> None:
    assert TIME.validate_python(given_) == expected
    assert TIME.validate_python(given_).tzinfo == UTC


def test_a_date_alone_is_its_first_or_its_last_moment() -> None:
    assert UNTIL.validate_python("2025-03-10") == datetime(2025, 3, 10, 23, 59, 59, 999999, tzinfo=UTC)
    assert UNTIL.validate_python("2025-03-10T12:00:00Z") == datetime(2025, 3, 10, 12, tzinfo=UTC)


WRONG_TIMES = (
    *(1741579200, 1741579200.5, True, None, [], {}),
    *("", "now", "1741579200", "2025-02-30", "2025-13-01", "2025-3-1", "10.3.2025", "2025-W10", "2025-03-10T25:00:00Z"),
    *("2025-03-10T12:00:60Z", "2025-03-10T12:00:00+25:00", "2025-03-10T12:00:00 UTC", "0000-01-01", "12:00"),
    *("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "٢٠٢٥-٠٣-١٠", "2025-03-10T12:00:00Z\n"),
)


@pytest.mark.parametrize("wrong", WRONG_TIMES)
def test_other_times_are_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        TIME.validate_python(wrong)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 30)),  # noqa: DTZ001
    st.integers(-14 * 60 + 1, 14 * 60 - 1),
)
def test_every_rfc_3339_time_is_read_exactly(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert TIME.validate_python(aware.isoformat()) == aware


@given(st.text(max_size=40))
def test_no_text_breaks_the_reading_of_times(text: str) -> None:
    try:
        assert TIME.validate_python(text).tzinfo == UTC
    except ValidationError:
        return


@pytest.mark.parametrize("name", ["a", "Ada", "ada@example.org", "用户:1", "a.b", "-", "x" * 200])
def test_names(name: str) -> None:
    assert NAME.validate_python(name) == name


@pytest.mark.parametrize(
    "name", ["", " ", "a b", "a\n", ".a", "a/b", "a\\b", "a\0", "\x7f", "x" * 201, "\u3000", "\u2028"]
)
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        NAME.validate_python(name)


def test_broken_characters_are_replaced() -> None:
    assert TypeAdapter(Cleaned).validate_python("a\0b\ud83dc") == "a\ufffdb\ufffdc"
    assert TypeAdapter(Cleaned).validate_python("\U0001f600 \u200d") == "\U0001f600 \u200d"
    for blank in ("", " \n\t\u3000"):
        with pytest.raises(ValidationError):
            TypeAdapter(Said).validate_python(blank)


# Cursors ---------------------------------------------------------------------------------------------------


@given(st.one_of(st.uuids(), st.integers(0, 2**63 - 1)))
def test_a_cursor_comes_back(value: object) -> None:
    assert decode_cursor(encode_cursor(value)) == str(value)


def test_cursors_of_pages() -> None:
    one = uuid4()
    assert PageQuery(cursor=encode_cursor(one)).after_id() == one
    assert PageQuery(cursor=encode_cursor(7)).after_number() == 7
    assert (PageQuery().after_id(), PageQuery().after_number()) == (None, 0)
    with pytest.raises(InvalidInput):
        PageQuery(cursor=encode_cursor(one)).after_number()
    with pytest.raises(InvalidInput):
        PageQuery(cursor=encode_cursor(7)).after_id()
    for number in (-1, 2**63):
        with pytest.raises(InvalidInput):
            PageQuery(cursor=encode_cursor(number)).after_number()


@given(st.text(max_size=60))
def test_no_made_up_cursor_breaks_anything(cursor: str) -> None:
    for read in (PageQuery(cursor=cursor).after_id, PageQuery(cursor=cursor).after_number):
        with suppress(InvalidInput):
            read()


# Metadata and messages -------------------------------------------------------------------------------------

METADATA = TypeAdapter(Metadata)


def _depth(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, dict | list) else 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
).filter(lambda value: _depth(value) < 8)


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=3))
def test_metadata_comes_back_as_sent(sent: dict[str, object]) -> None:
    expected = json.loads(json.dumps(sent).replace("\\u0000", "\\ufffd"))
    assert METADATA.validate_python(sent) == expected


def _nested(depth: int) -> object:
    value: object = 1
    for level in range(depth):
        value = {"a": value} if level % 2 else [value]
    return value


@pytest.mark.parametrize("depth", [8, 9, 100, 5_000, 50_000])
def test_metadata_is_at_most_eight_deep(depth: int) -> None:
    assert METADATA.validate_python({"a": _nested(7)}) == {"a": _nested(7)}
    with pytest.raises(ValidationError):
        METADATA.validate_python({"a": _nested(depth)})


def test_metadata_is_at_most_16_kib_of_utf8() -> None:
    frame = len(b'{"a": ""}')
    METADATA.validate_python({"a": "x" * (16_384 - frame)})
    for large in ("x" * (16_385 - frame), "é" * 8_192):
        with pytest.raises(ValidationError):
            METADATA.validate_python({"a": large})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_metadata_numbers_are_finite(number: float) -> None:
    with pytest.raises(ValidationError):
        METADATA.validate_python({"a": [number]})


def test_a_message_may_be_blank_beside_a_picture_only() -> None:
    with pytest.raises(ValidationError):
        MessageIn.model_validate({"role": "user", "content": " \n"})
    draft = MessageIn.model_validate({"role": "user", "content": "", "images": [{"caption": "a cat"}]}).to_draft()
    assert (draft.content, draft.images[0].caption) == ("", "a cat")


# Problems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidInput("x"), 422),
        (NotFound("x"), 404),
        (Conflict("x"), 409),
        (TooLarge("x"), 413),
        (StoreUnavailable("x"), 503),
        (ProviderUnavailable("x"), 503),
        (UnusableReply("x"), 502),
        (Discarded("x"), 500),
        (ConfigurationError("x"), 500),
    ],
)
def test_each_error_has_its_status(error: AppError, status: int) -> None:
    assert status_of(error) == status


@pytest.mark.parametrize(
    ("location", "pointer"),
    [
        (("body",), "#"),
        (("body", "messages", 0, "content"), "#/messages/0/content"),
        (("body", "metadata", "a/b~c"), "#/metadata/a~1b~0c"),
        (("query", "limit"), "query/limit"),
        (("path", "namespace"), "path/namespace"),
    ],
)
def test_pointers(location: tuple[str | int, ...], pointer: str) -> None:
    assert _pointer(location) == pointer
