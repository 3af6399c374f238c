"""JSON schemas on their way to a model."""

from app.providers.schemas import name_of, schema_in, unbounded, with_schema

LIST = {"type": "array", "items": {"type": "string", "maxLength": 8, "minLength": 1}, "maxItems": 3, "minItems": 1}
SCHEMA = {
    "title": "statements",
    "type": "object",
    "properties": {
        "maxLength": {"type": "string", "maxLength": 8},
        "texts": LIST,
        "number": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["maxLength", "texts", "number"],
    "additionalProperties": False,
}


def test_bounds_can_be_left_out_and_names_stay() -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    bare = {"maxLength": {"type": "string"}, "texts": texts, "number": {"type": "integer"}}
    assert unbounded(SCHEMA) == SCHEMA | {"properties": bare}


def test_names() -> None:
    assert name_of({"title": "statements"}) == "statements"
    assert name_of({"title": "Réponse à tout " + "x" * 80}) == ("R_ponse_tout_" + "x" * 80)[:64]
    assert name_of({}) == "reply"


def test_a_schema_in_a_prompt_is_found_again() -> None:
    assert schema_in(with_schema("Read what is said.", SCHEMA)) == SCHEMA
    assert schema_in(with_schema("Read what is said.", SCHEMA) + "\n\nAnna: {hello}") == SCHEMA
    assert schema_in("Read what is said.") is None
    assert schema_in(with_schema("", {}).replace("{}", "{")) is None
