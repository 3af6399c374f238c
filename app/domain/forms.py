"""The form in which a caller wants an answer: a JSON schema, kept small and harmless, and data that must follow it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing import Registry

from app.domain.errors import FieldError, InvalidInput, UnusableReply

FIELD = "#/json_schema"
LARGEST = 16 * 1024  # bytes of a schema
DEEPEST = 32  # brackets of a schema, and schemas within schemas once its references are followed
MOST = 2000  # schemas in one once its references are followed: they could be written as an endless number
SHOWN = 200  # characters of a fault that is told

_REFUSED = {
    "pattern": "a regular expression may take for ever",
    "patternProperties": "a regular expression may take for ever",
    "$id": "it changes what references mean",
    "$anchor": "references begin with #/",
    "$dynamicRef": "references are $ref, and begin with #/",
    "$dynamicAnchor": "references are $ref, and begin with #/",
    "$recursiveRef": "references are $ref, and begin with #/",
    "$vocabulary": "it belongs to a schema of schemas",
}
_ONE = """
    items additionalItems additionalProperties not if then else contains propertyNames unevaluatedItems
    unevaluatedProperties contentSchema
"""
_ONE_SCHEMA = frozenset(_ONE.split())
_LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})


@dataclass(frozen=True, slots=True)
class Form:
    """A schema of an object, as JSON Schema 2020-12 reads it. Made by `read_form`."""

    schema: Mapping[str, Any]

    def checked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """`data`, which follows the schema. Raises UnusableReply, which names places of the schema and no values."""
        fault = best_match(Draft202012Validator(self.schema, registry=Registry()).iter_errors(data))
        if fault is not None:
            place = "/".join(map(str, fault.absolute_schema_path))
            raise UnusableReply(f"it does not follow the schema at {place[:SHOWN]}")
        return dict(data)


def read_form(schema: Mapping[str, Any]) -> Form:
    """The form that `schema` describes. Raises InvalidInput, which names the place."""
    _bounded(schema)
    if schema.get("type") != "object":
        raise _invalid("/type", 'must be "object"')
    _Walk(schema).over(schema, "", ())
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = "".join(f"/{_escaped(part)}" for part in error.absolute_path)
        raise _invalid(place, f"is no JSON Schema (2020-12): {error.message[:SHOWN]}") from None
    return Form(schema)


def _bounded(schema: Mapping[str, Any]) -> None:
    if not _within(schema, DEEPEST):
        raise _invalid("", f"must not be nested deeper than {DEEPEST} levels")
    try:
        size = len(json.dumps(schema, ensure_ascii=False, allow_nan=False).encode())
    except ValueError:
        raise _invalid("", "must hold finite numbers only") from None
    if size > LARGEST:
        raise _invalid("", f"must not be larger than {LARGEST // 1024} KiB")


def _within(value: Any, levels: int) -> bool:  # noqa: ANN401
    """Whether at most `levels` objects and arrays are nested; never looks deeper than that."""
    if not isinstance(value, Mapping | list):
        return True
    inner = value.values() if isinstance(value, Mapping) else value
    return levels > 0 and all(_within(item, levels - 1) for item in inner)


def _escaped(name: object) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _invalid(place: str, detail: str) -> InvalidInput:
    return InvalidInput(f"json_schema{place}: {detail}", [FieldError(FIELD + place, detail)])


class _Walk:
    """A schema and all schemas in it, as often as they are used."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._seen = 0

    def over(self, schema: object, place: str, within: Sequence[int]) -> None:
        """`within` are the schemas that this one is part of. Raises InvalidInput."""
        self._seen += 1
        if self._seen > MOST or len(within) >= DEEPEST:
            raise _invalid("", f"is too large once its references are followed: {MOST} schemas, {DEEPEST} deep")
        if not isinstance(schema, Mapping):
            return  # true, false, or a fault that is found later
        if id(schema) in within:
            raise _invalid(place, "must not hold itself")
        for keyword in sorted(_REFUSED.keys() & schema.keys()):
            raise _invalid(f"{place}/{keyword}", f"is not taken: {_REFUSED[keyword]}")
        for inner, where in self._inside(schema, place):
            self.over(inner, where, (*within, id(schema)))

    def _inside(self, schema: Mapping[str, Any], place: str) -> Iterator[tuple[object, str]]:
        for keyword, value in schema.items():
            if keyword == "$ref":
                yield self._referred(value, f"{place}/$ref"), f"{place}/$ref"
            elif keyword in _ONE_SCHEMA:
                yield value, f"{place}/{keyword}"
            elif keyword in _NAMED and isinstance(value, Mapping):
                yield from ((inner, f"{place}/{keyword}/{_escaped(name)}") for name, inner in value.items())
            elif keyword in _LISTED and isinstance(value, list):
                yield from ((inner, f"{place}/{keyword}/{at}") for at, inner in enumerate(value))

    def _referred(self, reference: object, place: str) -> object:
        """What stands at `#/$defs/…`."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise _invalid(place, "must begin with #/: nothing is fetched")
        found: object = self._root
        for part in unquote(reference).split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            elif isinstance(found, Mapping) and name in found:
                found = found[name]
            else:
                raise _invalid(place, "leads nowhere")
        return found
