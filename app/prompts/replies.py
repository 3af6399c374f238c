"""From pydantic models to the JSON schemas that language models are given, and from their replies to values."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from app.domain.chat import Stage
from app.domain.errors import UnusableReply

NAMED = 3  # wrong fields that an error names


class Part(BaseModel):
    """A reply, or an item of one: what is too much is passed over, limits are only asked for."""

    model_config = ConfigDict(extra="ignore", frozen=True, str_strip_whitespace=True)


PartT = TypeVar("PartT", bound=Part)

Optional = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be empty; models say null too."""


def at_most(characters: int) -> Any:  # noqa: ANN401
    """A field for text: the model is asked for at most so much."""
    return Field(json_schema_extra={"maxLength": characters})


def maybe(characters: int) -> Any:  # noqa: ANN401
    """The same for text that may be left out."""
    return Field("", json_schema_extra={"maxLength": characters})


def several(items: int, least: int = 0) -> Any:  # noqa: ANN401
    """A field for a list: the model is asked for at most so many, and for at least so many."""
    return Field(json_schema_extra={"minItems": least, "maxItems": items} if least else {"maxItems": items})


def schema_of(reply: type[Part], stage: Stage) -> dict[str, Any]:
    """The JSON schema of a reply: small, without references, every property required and no other allowed."""
    made = reply.model_json_schema()
    return {"title": stage.value, **_plain(made, made.get("$defs", {}))}


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    kept = {key: value for key, value in schema.items() if key not in ("title", "description", "default", "$defs")}
    if "items" in kept:
        kept["items"] = _plain(kept["items"], definitions)
    if "properties" in kept:
        kept["properties"] = {name: _plain(field, definitions) for name, field in kept["properties"].items()}
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def read(reply: type[PartT], data: object) -> PartT:
    """A reply's value. Raises UnusableReply, which names fields and never quotes them."""
    try:
        return reply.model_validate(data)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, fault['loc']))}: {fault['type']}" for fault in error.errors()[:NAMED]]
        raise UnusableReply(f"{error.error_count()} fields are wrong: {', '.join(wrong)}") from None


def each(item: type[PartT], data: Sequence[object]) -> tuple[list[PartT], int]:
    """The items that are well-formed, and how many are not. Raises UnusableReply if none of several is."""
    found: list[PartT] = []
    for entry in data:
        try:
            found.append(item.model_validate(entry))
        except ValidationError:
            continue
    if data and not found:
        raise UnusableReply(f"none of its {len(data)} items has the form that was asked for")
    return found, len(data) - len(found)
