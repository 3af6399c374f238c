"""JSON is read strictly: UTF-8, every name once, finite numbers, no deeper than can be read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api.strict import LONGEST_NAME, WrongBody, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_json_is_read_as_it_is(value: object) -> None:
    assert parse(json.dumps(value).encode()) == value
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a": 1, "a": 2}', '"a" twice'),
        (b'[{"x": {"a": 1, "b": 1, "a": 1}}]', '"a" twice'),
        (b'{"a": NaN}', "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 5_000, "too many digits"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        ('"é"'.encode("utf-16"), "not UTF-8"),
        (b"", "no JSON"),
        (b"{'a': 1}", "no JSON"),
        (b"\xef\xbb\xbf{}", "no JSON"),
    ],
)
def test_what_is_not_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(WrongBody) as raised:
        parse(body)
    assert raised.value.status_code == 422
    assert said in raised.value.fields[0].detail


def test_a_long_name_is_not_quoted_whole() -> None:
    name = json.dumps("x" * 10_000)
    with pytest.raises(WrongBody) as raised:
        parse(f"{{{name}: 1, {name}: 2}}".encode())
    assert len(raised.value.fields[0].detail) < LONGEST_NAME + 50
