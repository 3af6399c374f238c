"""What one piece of work used of the models: counted where they are called, read where the work is settled."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Usage = Mapping[str, Mapping[str, Any]]
"""By stage, `embedder` or one of domain.chat.Stage: `model`, and numbers by name (`calls`, `texts`, `tokens_in`,
`tokens_out`, `seconds`)."""

EMBEDDER = "embedder"
MODEL = "model"


class Meter:
    """The counts of one piece of work. `before` is what earlier tries of it used, `added` what this one does."""

    def __init__(self, before: Usage | None = None) -> None:
        self.before: Usage = before or {}
        self.added: dict[str, dict[str, Any]] = {}
        self._reserved = 0

    @property
    def total(self) -> Usage:
        """Both together."""
        return {stage: self._sum(stage) for stage in (*self.before, *(self.added.keys() - self.before.keys()))}

    @property
    def tokens(self) -> int:
        """Tokens that language models read and wrote, and those that calls under way may yet use."""
        return self._reserved + sum(
            int(numbers.get("tokens_in", 0) + numbers.get("tokens_out", 0))
            for counts in (self.before, self.added)
            for numbers in counts.values()
        )

    @contextmanager
    def reserving(self, tokens: int) -> Iterator[None]:
        """Hold tokens for a call, so that others beside it leave them alone."""
        self._reserved += tokens
        try:
            yield
        finally:
            self._reserved -= tokens

    def count(self, stage: str, model: str, numbers: Mapping[str, float]) -> None:
        """Count a call."""
        counts = self.added.setdefault(stage, {})
        counts[MODEL] = model
        _add(counts, numbers)

    def _sum(self, stage: str) -> Mapping[str, Any]:
        counts = dict(self.before.get(stage, {}))
        added = self.added.get(stage, {})
        _add(counts, {name: number for name, number in added.items() if name != MODEL})
        return counts | {MODEL: added.get(MODEL, counts.get(MODEL))}


def _add(counts: dict[str, Any], numbers: Mapping[str, float]) -> None:
    for name, number in numbers.items():
        counts[name] = round(counts.get(name, 0) + number, 6)


_running: ContextVar[Meter | None] = ContextVar("meter", default=None)


def running() -> Meter | None:
    """The meter of the work that runs here, if one does."""
    return _running.get()


def note(stage: str, model: str, **numbers: float) -> None:
    """Count a call in the meter that is running, if one is."""
    meter = _running.get()
    if meter is not None:
        meter.count(stage, model, numbers)


@contextmanager
def metering(before: Usage | None = None) -> Iterator[Meter]:
    """Count all that is used inside, also by tasks started there, on top of what was used `before`."""
    meter = Meter(before)
    token = _running.set(meter)
    try:
        yield meter
    finally:
        _running.reset(token)
