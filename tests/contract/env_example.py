"""`.env.example` as it follows from the settings: every one, with its default and what it means."""

import textwrap
from collections.abc import Iterator
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.settings import Settings
from tests.contract.source import ROOT

FILE = ROOT / ".env.example"
PREFIX = str(Settings.model_config["env_prefix"])
NESTED = str(Settings.model_config["env_nested_delimiter"])
WIDTH = 110  # characters of a comment's line

HEAD = """\
# All settings of xMemory with their defaults: copy this file to .env and change what you need.
# Variables of the environment win over .env. Written by `python -m tests.contract.update`.
"""


def render() -> str:
    """The file's text."""
    return HEAD + "".join(_section(title, fields) for title, fields in _sections())


def _sections() -> Iterator[tuple[str, dict[str, FieldInfo]]]:
    """The settings of the service itself, then each group under the first line of its docstring."""
    groups = {name: field for name, field in Settings.model_fields.items() if _group(field)}
    own = {f"{PREFIX}{name}": field for name, field in Settings.model_fields.items() if name not in groups}
    yield "The service.", own
    for name, field in groups.items():
        group = _group(field)
        assert group is not None
        nested = {f"{PREFIX}{name}{NESTED}{inner}": each for inner, each in group.model_fields.items()}
        yield (group.__doc__ or name).partition("\n")[0], nested


def _group(field: FieldInfo) -> type[BaseModel] | None:
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _section(title: str, fields: dict[str, FieldInfo]) -> str:
    return f"\n# --- {title}\n" + "".join(_entry(name, field) for name, field in fields.items())


def _entry(name: str, field: FieldInfo) -> str:
    words = field.description or ""
    choices = _choices(field.annotation)
    if len(choices) > 1:
        words += f" One of: {', '.join(choices)}."
    comment = textwrap.fill(words, WIDTH, initial_indent="# ", subsequent_indent="# ")
    value = field.get_default(call_default_factory=True)
    # Without a default there is nothing to show but the name.
    return f"\n{comment}\n" + (f"# {name.upper()}=\n" if value is None else f"{name.upper()}={_written(value)}\n")


def _choices(kind: Any) -> list[str]:  # noqa: ANN401
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    if get_origin(kind) in (Union, UnionType):
        return [choice for inner in get_args(kind) for choice in _choices(inner)]
    return []


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
