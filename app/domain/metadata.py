"""Clients' own JSON beside a message: its limits, and the one form in which it leaves the service."""

import json
from decimal import Decimal
from typing import Any

from app.domain.text import clean

METADATA_BYTES = 16_384
METADATA_DEPTH = 8  # objects and arrays inside one another
EXACT_INTEGER = 1e16  # floats from here on have no fraction, and may come back as integers from a database


def within_depth(value: Any, levels: int) -> bool:  # noqa: ANN401  (JSON)
    """Whether at most `levels` objects and arrays are nested; never looks deeper than that."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(within_depth(item, levels - 1) for item in inner)


def cleaned(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """The value as every store can keep it: see `app.domain.text.clean`."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): cleaned(inner) for key, inner in value.items()}
    return [cleaned(inner) for inner in value] if isinstance(value, list) else value


def checked(value: dict[str, Any]) -> dict[str, Any]:
    """The metadata, cleaned. Raises ValueError, with what is allowed, for what is over a limit."""
    if not within_depth(value, METADATA_DEPTH):
        raise ValueError("must not be nested deeper than 8 levels")
    kept: dict[str, Any] = cleaned(value)
    try:
        size = len(json.dumps(kept, ensure_ascii=False, allow_nan=False).encode())
    except ValueError as error:
        raise ValueError("must hold finite numbers only") from error
    if size > METADATA_BYTES:
        raise ValueError("must not be larger than 16 KiB")
    return kept


def canonical(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """The value in the form that is the same whichever database kept it: keys in order, numbers as jsonb gives them."""
    if isinstance(value, dict):
        return {key: canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    if isinstance(value, float) and value == 0:
        return 0.0  # jsonb knows no -0.0
    if isinstance(value, float) and abs(value) >= EXACT_INTEGER:
        return int(Decimal(repr(value)))
    return value
