"""What a read is limited to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Filter:
    """Limits by event time and by metadata.

    `since` and `until` bound the event time, both inclusive. `as_of` reads the past: only what was said up
    to then, and statements as they held then. `metadata`: every key and value must be in the message's
    own (in one of its messages', for statements and episodes).
    """

    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Nothing is filtered."""
        return self.since is None and self.until is None and self.as_of is None and not self.metadata

    @property
    def is_timeless(self) -> bool:
        """No time limits it."""
        return self.since is None and self.until is None and self.as_of is None

    def timeless(self) -> "Filter":
        """The same without limits of time."""
        return replace(self, since=None, until=None, as_of=None)
