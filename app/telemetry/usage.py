"""What one piece of work used of the models: counted where they are called, read where the work is settled."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Usage = Mapping[str, Mapping[str, float]]
"""By model (`embedder`), numbers by name (`calls`, `texts`, `seconds`)."""

_meter: ContextVar[dict[str, dict[str, float]] | None] = ContextVar("meter", default=None)


def note(model: str, **numbers: float) -> None:
    """Count a call in the meter that is running, if one is."""
    meter = _meter.get()
    if meter is not None:
        counted = meter.setdefault(model, {})
        for name, number in numbers.items():
            counted[name] = round(counted.get(name, 0) + number, 6)


@contextmanager
def metering(before: Mapping[str, Any] | None = None) -> Iterator[Usage]:
    """Count all that is used inside, also by tasks started there, on top of what was used `before`."""
    meter = {model: dict(numbers) for model, numbers in (before or {}).items()}
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)
