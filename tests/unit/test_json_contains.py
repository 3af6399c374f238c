"""Containment of JSON as SQLite calls it; tests/integration/test_storage.py compares it with Postgres."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.dialects import contains, sqlite_json_contains
from app.storage.vectors import sqlite_inner_product

DOCUMENT = {"ocr": None, "n": 3, "ok": True, "tags": ["a,b", "é"], "deep": {"x": [1, {"y": "z", "w": 0}]}}


@pytest.mark.parametrize(
    "part",
    [
        {},
        DOCUMENT,
        {"ocr": None},
        {"n": 3.0},
        {"tags": ["é"]},
        {"tags": ["é", "é"]},
        {"tags": []},
        {"deep": {"x": [{"y": "z"}]}},
        {"deep": {}},
    ],
)
def test_parts_are_contained(part: object) -> None:
    assert contains(DOCUMENT, part)


@pytest.mark.parametrize(
    "part",
    [
        {"none": None},
        {"n": "3"},
        {"ok": 1},
        {"n": True},
        {"tags": "é"},
        {"tags": {"0": "é"}},
        {"deep": {"x": [2]}},
        {"deep": {"x": [{"y": "w"}]}},
        {"ocr": False},
        {"ocr": {}},
    ],
)
def test_what_differs_is_not_contained(part: object) -> None:
    assert not contains(DOCUMENT, part)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_everything_contains_itself(value: object) -> None:
    assert contains(value, value)
    assert sqlite_json_contains(json.dumps(value), json.dumps(value))


@given(VALUES, VALUES, VALUES)
def test_containment_is_transitive(first: object, second: object, third: object) -> None:
    if contains(first, second) and contains(second, third):
        assert contains(first, third)


def test_sql_null_contains_nothing() -> None:
    assert not sqlite_json_contains(None, "{}")


def test_the_inner_product_reads_float32() -> None:
    left, right = np.array([1, 2, 3], np.float32), np.array([0.5, -1, 2], np.float32)
    assert sqlite_inner_product(left.tobytes(), right.tobytes()) == pytest.approx(4.5)
