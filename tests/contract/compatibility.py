"""What a change of an OpenAPI document breaks for the clients of the old one.

A client sends what the old document allows and reads what the new one gives. So a request schema may only
grow, a response schema may only shrink, except that a field which a client may read must stay.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.contract.document import operations

Schema = dict[str, Any]

LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
EXACT = ("format", "pattern", "multipleOf", "uniqueItems", "contentMediaType")
SILENT = frozenset({"title", "description", "default", "examples", "example", "deprecated"})


def breaks(old: Schema, new: Schema) -> list[str]:
    """Every change from `old` to `new` that a client of `old` could notice, as a line that says where."""
    before, after = operations(old), operations(new)
    found: list[str] = []
    for name, operation in before.items():
        if name not in after:
            found.append(f"{name}: removed")
            continue
        comparison = _Operation(name, old, new)
        found += comparison.breaks(operation, after[name])
    return found


@dataclass(frozen=True, slots=True)
class _Operation:
    """One operation in both documents."""

    name: str
    old: Schema
    new: Schema

    def breaks(self, before: Schema, after: Schema) -> Iterator[str]:
        if before["operationId"] != after["operationId"]:
            yield f"{self.name}: operation id {before['operationId']} is now {after['operationId']}"
        yield from self._parameters(before, after)
        yield from self._body(before.get("requestBody"), after.get("requestBody"))
        yield from self._responses(before["responses"], after["responses"])

    def _parameters(self, before: Schema, after: Schema) -> Iterator[str]:
        had = {(each["in"], each["name"]): each for each in before["parameters"]}
        has = {(each["in"], each["name"]): each for each in after["parameters"]}
        for key, parameter in has.items():
            if parameter.get("required", False) and not had.get(key, {}).get("required", False):
                yield f"{self.name}: parameter {'/'.join(key)} is required now"
        for key, parameter in had.items():
            where = f"{self.name}: parameter {'/'.join(key)}"
            if key not in has:
                yield f"{where} removed"
            else:
                yield from self._sent(parameter["schema"], has[key]["schema"], where)

    def _body(self, before: Schema | None, after: Schema | None) -> Iterator[str]:
        where = f"{self.name}: body"
        if after and after.get("required", False) and not (before and before.get("required", False)):
            yield f"{where} is required now"
        for media, content in (before or {}).get("content", {}).items():
            if after is None or media not in after["content"]:
                yield f"{where} {media} removed"
            else:
                yield from self._sent(content["schema"], after["content"][media]["schema"], where)

    def _responses(self, before: Schema, after: Schema) -> Iterator[str]:
        for status, response in before.items():
            where = f"{self.name}: response {status}"
            if status not in after:
                yield f"{where} removed"
                continue
            for media, content in response.get("content", {}).items():
                if media not in after[status].get("content", {}):
                    yield f"{where} {media} removed"
                else:
                    yield from self._read(content["schema"], after[status]["content"][media]["schema"], where)

    def _sent(self, before: Schema, after: Schema, where: str) -> Iterator[str]:
        return _Inclusion(self.old, self.new, keeps_small=True).violations(before, after, where)

    def _read(self, before: Schema, after: Schema, where: str) -> Iterator[str]:
        return _Inclusion(self.new, self.old, keeps_small=False).violations(after, before, where)


class _Inclusion:
    """Whether all values of a schema `small` are values of a schema `large`, each in its own document.

    `keeps_small`: fields of `small` may not be missing in `large`; otherwise those of `large` not in `small`.
    """

    def __init__(self, small: Schema, large: Schema, *, keeps_small: bool) -> None:
        self._small = small
        self._large = large
        self._keeps_small = keeps_small
        # What was found for a pair of schemas, by their identity (they live as long as the pair in the value).
        self._found: dict[tuple[int, int], tuple[Schema, Schema, list[str]]] = {}

    def violations(self, small: Schema, large: Schema, where: str) -> Iterator[str]:
        """Every reason why some value of `small` is none of `large`, or why a field is lost."""
        choices = _alternatives(large, self._large)
        for alternative in _alternatives(small, self._small):
            tried = [self._remembered(alternative, choice, where) for choice in choices]
            if all(tried):  # none of them is empty: no alternative takes it
                yield from min(tried, key=len)

    def _remembered(self, small: Schema, large: Schema, where: str) -> list[str]:
        """What `_one` finds; nothing while it is still looking, for schemas may contain themselves."""
        pair = id(small), id(large)
        if pair not in self._found:
            self._found[pair] = small, large, []
            self._found[pair] = small, large, list(self._one(small, large, where))
        return self._found[pair][2]

    def _one(self, small: Schema, large: Schema, where: str) -> Iterator[str]:
        if not large.keys() - SILENT:
            return
        if not _type_fits(small.get("type"), large.get("type")):
            yield f"{where}: {self._change(small.get('type', 'anything'), large['type'])}"
            return
        yield from self._values(small, large, where)
        yield from self._object(small, large, where)
        yield from self._inside(small, large, where)

    def _values(self, small: Schema, large: Schema, where: str) -> Iterator[str]:
        allowed, given = _values(large), _values(small)
        if allowed is not None:
            extra = ["anything"] if given is None else [value for value in given if value not in allowed]
            if extra:
                yield f"{where}: {self._change(extra, allowed)}"
        for name in (*LOWER, *UPPER, *EXACT):
            if name in large and not _bound_fits(name, small.get(name), large[name]):
                yield f"{where}: {name} {self._change(small.get(name, 'none'), large[name])}"

    def _object(self, small: Schema, large: Schema, where: str) -> Iterator[str]:
        inside, outside = small.get("properties", {}), large.get("properties", {})
        kept, left = (inside, outside) if self._keeps_small else (outside, inside)
        for name in kept.keys() - left.keys():
            yield f"{where}/{name}: removed"
        for name in set(large.get("required", ())) - set(small.get("required", ())):
            if self._keeps_small or name in inside:
                yield f"{where}/{name}: {'required now' if self._keeps_small else 'not always there now'}"
        for name in inside.keys() & outside.keys():
            yield from self.violations(inside[name], outside[name], f"{where}/{name}")

    def _inside(self, small: Schema, large: Schema, where: str) -> Iterator[str]:
        for name in ("items", "additionalProperties", "propertyNames"):
            inner, outer = small.get(name, True), large.get(name, True)
            if outer is True or inner is False:
                continue
            if outer is False:
                yield f"{where}: {name} {self._change('allowed', 'refused')}"
            else:
                yield from self.violations({} if inner is True else inner, outer, f"{where}/{name}")

    def _change(self, small: object, large: object) -> str:
        old, new = (small, large) if self._keeps_small else (large, small)
        return f"{old} is now {new}"


def _alternatives(schema: Schema, document: Schema) -> list[Schema]:
    """The schema without references on top, one entry for each of its alternatives."""
    while "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        schema = document["components"]["schemas"][name]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return [one for inner in schema[key] for one in _alternatives(inner, document)]
    if isinstance(schema.get("type"), list):
        return [{**schema, "type": one} for one in schema["type"]]
    return [schema]


def _values(schema: Schema) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    found: list[Any] | None = schema.get("enum")
    return found


def _type_fits(small: str | None, large: str | None) -> bool:
    return large is None or small == large or (small == "integer" and large == "number")


def _bound_fits(name: str, small: Any, large: Any) -> bool:  # noqa: ANN401
    if small is None:
        return False
    if name in EXACT:
        return bool(small == large)
    return bool(small >= large if name in LOWER else small <= large)
