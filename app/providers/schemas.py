"""JSON schemas on their way to an endpoint: in the request, or as words in the prompt.

Those of app/prompts are in the strict form that endpoints want: every property required, no other, no references.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

_NOTE = "Reply with one JSON object and nothing else. It must follow this JSON schema:"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")  # what a schema's name may not hold
_LONGEST_NAME = 64

_BOUNDS = {"minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"}


def name_of(schema: Mapping[str, Any]) -> str:
    """A schema's title as endpoints take names."""
    return _NAME.sub("_", str(schema.get("title", "")))[:_LONGEST_NAME] or "reply"


def unbounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without limits on lengths and numbers, which some endpoints refuse; replies are checked anyway."""
    found = {key: value for key, value in schema.items() if key not in _BOUNDS}
    if isinstance(items := found.get("items"), Mapping):
        found["items"] = unbounded(items)
    if isinstance(properties := found.get("properties"), Mapping):
        found["properties"] = {name: unbounded(inner) for name, inner in properties.items()}
    return found


def with_schema(system: str, schema: Mapping[str, Any]) -> str:
    """The fixed part of a prompt with the schema at its end, for models that are not held to one."""
    return f"{system}\n\n{_NOTE}\n{json.dumps(schema, ensure_ascii=False)}"


def schema_in(system: str) -> dict[str, Any] | None:
    """The schema that `with_schema` put there; None if there is none."""
    _, note, rest = system.rpartition(_NOTE)
    try:
        found = json.JSONDecoder().raw_decode(rest.strip())[0] if note else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
