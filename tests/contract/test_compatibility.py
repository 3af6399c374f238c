"""The judge of the OpenAPI snapshot: what it lets pass, and what it does not."""

import copy
from typing import Any

import pytest

from tests.contract.compatibility import breaks

BEFORE: dict[str, Any] = {
    "paths": {
        "/things/{id}": {
            "post": {
                "operationId": "change_thing",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
                ],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}},
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}},
                    "404": {"description": "Not Found"},
                },
            },
        },
    },
    "components": {
        "schemas": {
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "In": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text"],
                "properties": {
                    "text": {"type": "string", "maxLength": 10},
                    "colour": {"$ref": "#/components/schemas/Colour"},
                    "size": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
            },
            "Out": {
                "type": "object",
                "required": ["id", "inner"],
                "properties": {
                    "id": {"type": "string", "format": "uuid"},
                    "note": {"type": "string"},
                    "colours": {"type": "array", "items": {"$ref": "#/components/schemas/Shade"}},
                    "inner": {"anyOf": [{"$ref": "#/components/schemas/Out"}, {"type": "null"}]},
                },
            },
            "Shade": {"type": "string", "enum": ["dark", "light"]},
        }
    },
}
OPERATION = ("paths", "/things/{id}", "post")
IN = ("components", "schemas", "In")
OUT = ("components", "schemas", "Out")
GONE = object()


def _with(*path_and_value: Any) -> dict[str, Any]:  # noqa: ANN401
    """The document with another value at a path."""
    *path, last, value = path_and_value
    changed = place = copy.deepcopy(BEFORE)
    for key in path:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return changed


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("paths", "/things/{id}", GONE), "POST /things/{id}: removed"),
        ((*OPERATION, GONE), "removed"),
        ((*OPERATION, "operationId", "set_thing"), "operation id change_thing is now set_thing"),
        ((*OPERATION, "parameters", 1, GONE), "parameter query/limit removed"),
        ((*OPERATION, "parameters", 1, "required", True), "parameter query/limit is required now"),
        ((*OPERATION, "parameters", 1, "schema", "maximum", 50), "maximum 100 is now 50"),
        ((*OPERATION, "parameters", 1, "schema", "minimum", 1), "minimum none is now 1"),
        ((*OPERATION, "parameters", 1, "schema", "type", "string"), "integer is now string"),
        ((*OPERATION, "requestBody", "required", True), "body is required now"),
        ((*OPERATION, "responses", "404", GONE), "response 404 removed"),
        ((*IN, "properties", "size", GONE), "body/size: removed"),
        ((*IN, "required", ["text", "size"]), "body/size: required now"),
        ((*IN, "properties", "size", {"type": "integer"}), "null is now integer"),
        ((*IN, "properties", "text", "pattern", "^a"), "pattern none is now ^a"),
        (("components", "schemas", "Colour", "enum", ["red"]), "['blue'] is now ['red']"),
        ((*OUT, "properties", "note", GONE), "response 200/note: removed"),
        ((*OUT, "required", ["inner"]), "response 200/id: not always there now"),
        ((*OUT, "properties", "note", {"anyOf": [{"type": "string"}, {"type": "null"}]}), "string is now null"),
        ((*OUT, "properties", "id", {"type": "string"}), "format uuid is now none"),
        (("components", "schemas", "Shade", "enum", ["dark", "light", "dim"]), "is now ['dim']"),
    ],
)
def test_a_change_that_breaks_clients_is_named(change: tuple[Any, ...], says: str) -> None:
    [found] = breaks(BEFORE, _with(*change))
    assert says in found


@pytest.mark.parametrize(
    "change",
    [
        ("paths", "/new", {"get": {"operationId": "get_new", "responses": {}}}),
        (*OPERATION, "summary", "Change it"),
        (*OPERATION, "parameters", 1, "schema", "maximum", 200),
        (*OPERATION, "parameters", 1, "schema", "type", "number"),
        (*OPERATION, "responses", "409", {"description": "Conflict"}),
        (*IN, "properties", "more", {"type": "string"}),
        (*IN, "required", []),
        (*IN, "properties", "text", {}),
        ("components", "schemas", "Colour", "enum", ["red", "blue", "green"]),
        (*OUT, "properties", "more", {"type": "string"}),
        (*OUT, "properties", "note", {"type": "string", "maxLength": 5}),
        (*OUT, "properties", "inner", {"type": "null"}),
        ("components", "schemas", "Shade", "enum", ["dark"]),
    ],
)
def test_a_change_that_no_client_notices_passes(change: tuple[Any, ...]) -> None:
    assert breaks(BEFORE, _with(*change)) == []
