"""When a statement holds, by the time that it names: "since 2016" begins, "until March" ends, "in May" happened."""

from datetime import UTC, datetime, time

from app.domain.dates import Open, When, resolve

Validity = tuple[datetime | None, datetime | None]
"""First and last moment; None where it is open or untold."""


def validity(when: When | None) -> Validity:
    """What holds up to a time is over with its last day; any other holds, or happened, from its first day on."""
    if when is None:
        return None, None
    if when.open is Open.UNTIL:
        return None, datetime.combine(when.end, time.max, UTC)
    return datetime.combine(when.start, time.min, UTC), None


def validity_of(text: str, said_at: datetime) -> Validity:
    """The same of a statement's first time."""
    return validity(first_time(text, said_at))


def first_time(text: str, said_at: datetime) -> When | None:
    """The first time that a text names."""
    return next(iter(resolve(text, said_at)), None)
