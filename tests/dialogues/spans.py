"""Labelled times: a day, a month, a year, or from and to, either side left open."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_PART = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` to `end`, both included; None is open. `still_holds`: it must not be given an end."""

    start: date | None
    end: date | None
    still_holds: bool = False

    def ends(self, given: date) -> bool:
        """Whether `given` is its end: the last day, or the first after it."""
        return self.end is not None and given in (self.end, self.end + DAY)


def read_spans(label: str) -> tuple[Span, ...]:
    """`2025-06|2025-06-09/|none`: the spans that are right. Raises ValueError."""
    return () if label == "none" else tuple(_span(part) for part in label.split("|"))


def _span(label: str) -> Span:
    first, slash, last = label.partition("/")
    if not slash:
        return Span(*_days(first))
    start = _days(first)[0] if first else None
    end = _days(last)[1] if last else None
    if start is None and end is None:
        raise ValueError(f"{label!r} names no time")
    return Span(start, end, still_holds=end is None)


def _days(label: str) -> tuple[date, date]:
    match = _PART.fullmatch(label)
    if match is None:
        raise ValueError(f"{label!r} is no date")
    year, month, day = (int(part) if part else None for part in match.groups())
    assert year is not None
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, day), date(year, month, day)
