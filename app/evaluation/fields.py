"""Reads the fields of JSON documents; what is not there or of another kind raises BadDataset with its place."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.domain.text import clean
from app.evaluation.errors import BadDataset

EARLIEST, LATEST = datetime(2, 1, 1), datetime(9999, 1, 1)  # noqa: DTZ001  (in any zone)

JSON_NAMES: Mapping[type, str] = {dict: "object", list: "array", str: "string", int: "integer"}


def read_bytes(path: Path) -> bytes:
    """A file's content. Blocking."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadDataset(f"{path} cannot be read: {error.strerror}") from error


def read_json(content: bytes, place: str) -> Any:  # noqa: ANN401  (JSON)
    """A JSON document. Its texts are cleaned as the service cleans them: a half character could not even be sent."""
    try:
        return _cleaned(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise BadDataset(f"{place} is not JSON: {error}") from error


def in_utc(time: datetime, place: str) -> datetime:
    """A time in UTC; one without a zone is taken for that. One must be able to count on from it."""
    if not EARLIEST < time.replace(tzinfo=None) < LATEST:
        raise BadDataset(f"{place}: the year {time.year} is out of reach")
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


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


def _cleaned(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    return {clean(key): _cleaned(one) for key, one in value.items()} if isinstance(value, dict) else value
