"""Who may do what: callers, the scopes of their keys, and the namespaces that a key opens."""

from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from ipaddress import ip_address
from uuid import UUID

EVERY = "*"  # ends a prefix; alone it stands for all namespaces


class Scope(StrEnum):
    """What a key is good for. `admin` includes the others: whoever makes keys can make one for anything."""

    READ = "read"
    WRITE = "write"
    DELETE = "delete"
    ADMIN = "admin"
    METRICS = "metrics"  # /metrics and nothing else: a monitor needs no memory


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever a request comes from. `id` is that of the key; None for the service itself, and without one."""

    id: UUID | None
    name: str
    scopes: frozenset[Scope]
    namespaces: tuple[str, ...]

    def may(self, any_of: Set[Scope]) -> bool:
        """Whether one of these scopes is among the caller's."""
        return Scope.ADMIN in self.scopes or not self.scopes.isdisjoint(any_of)

    def covers(self, namespace: str) -> bool:
        """Whether the caller's namespaces include this one, which need not exist."""
        return any(_matches(pattern, namespace) for pattern in self.namespaces)


def _matches(pattern: str, name: str) -> bool:
    return name.startswith(pattern.removesuffix(EVERY)) if pattern.endswith(EVERY) else name == pattern


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret: of that, only a digest is kept, in the database."""

    id: UUID
    name: str
    scopes: frozenset[Scope]
    namespaces: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    @property
    def caller(self) -> Caller:
        """Whoever shows it."""
        return Caller(self.id, self.name, self.scopes, self.namespaces)


def unbound(name: str) -> Caller:
    """A caller who may do everything, everywhere, without a key of the table."""
    return Caller(None, name, frozenset(Scope), (EVERY,))


ANYBODY = unbound("anybody")  # XMEMORY_AUTH=off
BOOTSTRAP = unbound("XMEMORY_ADMIN_KEY")


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine, seen from itself."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
