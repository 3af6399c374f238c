"""The forms that a caller may want an answer in."""

from itertools import pairwise
from typing import Any

import pytest

from app.domain.errors import InvalidInput, UnusableReply
from app.domain.forms import read_form

PERSON: dict[str, Any] = {
    "type": "object",
    "$defs": {"a/b": {"type": "string", "minLength": 1}, "pets": {"type": "array", "items": {"$ref": "#/$defs/a~1b"}}},
    "properties": {"name": {"$ref": "#/$defs/a~1b"}, "pattern": {"type": "integer"}, "pets": {"$ref": "#/$defs/pets"}},
    "required": ["name"],
    "additionalProperties": False,
}


def form(**more: object) -> dict[str, Any]:
    return {"type": "object", **more}


def nested(depth: int) -> dict[str, Any]:
    return form(properties={"x": nested(depth - 1)}) if depth else form()


def doubled(levels: int) -> dict[str, Any]:
    names = [f"d{level}" for level in range(levels)]
    twice = {one: {"allOf": [{"$ref": f"#/$defs/{two}"}] * 2} for one, two in pairwise(names)}
    return form(**{"$defs": {**twice, names[-1]: {}}, "$ref": "#/$defs/d0"})


def test_data_that_follow_the_schema_are_kept() -> None:
    data = {"name": "Ada", "pattern": 3, "pets": ["Miso"]}
    assert read_form(PERSON).checked(data) == data


@pytest.mark.parametrize("data", [{}, {"name": ""}, {"name": "Ada", "otter": 1}, {"name": "Ada", "pets": [1]}])
def test_data_that_do_not_are_unusable_and_never_quoted(data: dict[str, object]) -> None:
    with pytest.raises(UnusableReply, match="does not follow the schema at ") as raised:
        read_form(PERSON).checked(data)
    assert "Ada" not in str(raised.value)
    assert "otter" not in str(raised.value)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({}, "/type"),
        ({"type": "array"}, "/type"),
        (form(properties={"a": {"type": "strin"}}), "/properties/a/type"),
        (form(properties={"a/b": {"pattern": "(a+)+$"}}), "/properties/a~1b/pattern"),
        (form(properties={"x": {"items": {"patternProperties": {}}}}), "/properties/x/items/patternProperties"),
        (form(propertyNames={"not": {"pattern": "a"}}), "/propertyNames/not/pattern"),
        (form(**{"$id": "http://127.0.0.1/x"}), "/$id"),
        (form(properties={"a": {"$ref": "http://127.0.0.1/x"}}), "/properties/a/$ref"),
        (form(properties={"a": {"$ref": "file:///etc/passwd"}}), "/properties/a/$ref"),
        (form(properties={"a": {"$ref": "#/$defs/b"}}), "/properties/a/$ref"),
        (form(properties={"a": {"$ref": 3}}), "/properties/a/$ref"),
        (form(properties={"a": {"$ref": "#"}}), "/properties/a/$ref"),
        (form(**{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}), "/$ref/anyOf/0/$ref"),
        (form(anyOf=[{"$dynamicRef": "#a"}]), "/anyOf/0/$dynamicRef"),
        (form(description="x" * 16_400), ""),
        (form(maximum=float("inf")), ""),
        (nested(40), ""),
        (doubled(20), ""),
    ],
)
def test_schemas_that_are_not_taken_are_refused_by_their_place(schema: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        read_form(schema)
    assert [field.pointer for field in raised.value.fields] == [f"#/json_schema{pointer}"]


def test_small_nested_schemas_are_taken() -> None:
    read_form(nested(10))
    read_form(doubled(6))
    read_form(form(properties={"pattern": {"enum": [{"$ref": "http://x", "pattern": "kept: it is a value"}]}}))
