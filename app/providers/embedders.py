"""The embedding models that are configured: the present one, and the one that all vectors are being changed to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.domain.errors import ConfigurationError, ProviderUnavailable
from app.providers.protocols import Embedder

EmbedderT = TypeVar("EmbedderT", bound=Embedder, covariant=True)
MadeT = TypeVar("MadeT", bound=Embedder)


@dataclass(frozen=True, slots=True)
class Embedders(Generic[EmbedderT]):
    """One or two embedders. Each namespace is written and read with that of its own profile.

    Raises ConfigurationError where both have the same profile.
    """

    current: EmbedderT
    next: EmbedderT | None = None

    def __post_init__(self) -> None:
        """Check that they differ."""
        if self.next is not None and self.next.profile == self.current.profile:
            message = f"XMEMORY_EMBEDDER and XMEMORY_EMBEDDER_NEXT both make {self.current.profile}"
            raise ConfigurationError(message + ": unset XMEMORY_EMBEDDER_NEXT")

    @property
    def newest(self) -> EmbedderT:
        """That of new namespaces, and of all in the end."""
        return self.current if self.next is None else self.next

    @property
    def profiles(self) -> tuple[str, ...]:
        """Their profiles, the present one first."""
        return tuple(str(embedder.profile) for embedder in (self.current, self.next) if embedder is not None)

    def each(self, make: Callable[[EmbedderT], MadeT]) -> "Embedders[MadeT]":
        """What is made of each of them."""
        return Embedders(make(self.current), None if self.next is None else make(self.next))

    def find(self, profile: str) -> EmbedderT | None:
        """The embedder of a profile, if it is configured."""
        return next((one for one in (self.current, self.next) if one is not None and str(one.profile) == profile), None)

    def of(self, profile: str) -> EmbedderT:
        """The embedder of a profile. Raises ProviderUnavailable: another process may have been given another model."""
        found = self.find(profile)
        if found is None:
            raise ProviderUnavailable(
                f"this process has no embedding model for {profile}, only for {' and '.join(self.profiles)}: "
                "start all processes with the same XMEMORY_EMBEDDER and XMEMORY_EMBEDDER_NEXT"
            )
        return found

    def check(self, in_use: Sequence[str], wanted: str) -> None:
        """Refuse a database with vectors of other profiles, and say how to change them.

        `wanted` is the setting that names `newest`. Raises ConfigurationError.
        """
        if set(in_use) <= set(self.profiles):
            return
        held = f"this database holds vectors of {' and '.join(in_use)}"
        message = f"{held}, and this process is configured for {' and '.join(self.profiles)}. "
        if len(in_use) > 1:
            message += (
                "A change of the embedding model is not finished: start with the old one as XMEMORY_EMBEDDER and the "
                "new one as XMEMORY_EMBEDDER_NEXT, and run `xmemory reembed`"
            )
        else:
            message += (
                f"To change the model: start with XMEMORY_EMBEDDER=(what made {in_use[0]}) and "
                f"XMEMORY_EMBEDDER_NEXT={wanted}, run `xmemory reembed`, "
                f"and when it is done start with XMEMORY_EMBEDDER={wanted} and without XMEMORY_EMBEDDER_NEXT"
            )
        raise ConfigurationError(message)
