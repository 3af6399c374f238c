"""Who acts: known where a request comes in, read where an act is written down."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """The key (None: there is none), its name, and the request (None: the service acts by itself)."""

    key: UUID | None
    name: str
    request: UUID | None


SERVICE = Actor(None, "xmemory", None)

_acting: ContextVar[Actor] = ContextVar("acting", default=SERVICE)


def actor() -> Actor:
    """Who acts here."""
    return _acting.get()


@contextmanager
def acting(who: Actor) -> Iterator[None]:
    """All that is done inside is done by `who`."""
    token = _acting.set(who)
    try:
        yield
    finally:
        _acting.reset(token)
