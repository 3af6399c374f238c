"""An answer that is kept for whoever sends the same request again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it went out. `digest` is that of the request."""

    digest: str
    status: int
    body: str
