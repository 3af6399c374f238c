"""Reads the fields of JSON documents; what is not there or of another kind raises BadDataset with its place."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.evaluation.errors import BadDataset

JSON_NAMES: Mapping[type, str] = {dict: "object", list: "array", str: "string", int: "integer"}


def read_bytes(path: Path) -> bytes:
    """A file's content. Blocking."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadDataset(f"{path} cannot be read: {error.strerror}") from error


def read_json(content: bytes, place: str) -> Any:  # noqa: ANN401  (JSON)
    """A JSON document."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadDataset(f"{place} is not JSON: {error}") from error


def need(holder: object, key: str, kind: type, place: str) -> Any:  # noqa: ANN401  (JSON)
    """A field of one kind: dict, list, str or int (true and false are no integers)."""
    if not isinstance(holder, dict):
        raise BadDataset(f"{place}: must be an object")
    if key not in holder:
        raise BadDataset(f"{place}: {key} is missing")
    value = holder[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadDataset(f"{place}: {key} must be a JSON {JSON_NAMES[kind]}")
    return value


def may(holder: object, key: str, place: str) -> str | None:
    """A text that may be missing; a blank one counts as missing."""
    if not isinstance(holder, dict) or holder.get(key) is None:
        return None
    text: str = need(holder, key, str, place)
    return text if text.strip() else None
