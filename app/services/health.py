"""Whether the service can serve."""

from collections.abc import Mapping
from dataclasses import dataclass

from app import __version__
from app.domain.errors import StoreUnavailable
from app.storage.migrate import newest
from app.storage.unit_of_work import Storage


@dataclass(frozen=True, slots=True)
class Health:
    """Checks what requests depend on."""

    storage: Storage
    database_url: str
    profile: str
    chat: str

    async def checks(self) -> Mapping[str, str]:
        """`ok` or `failing`, by what was looked at."""
        try:
            found = await self.storage.schema_revision()
        except StoreUnavailable:
            return {"database": "failing", "schema": "failing", "embedder": "ok"}
        schema = "ok" if found == newest(self.database_url) else "failing"
        return {"database": "ok", "schema": schema, "embedder": "ok"}

    def version(self) -> Mapping[str, str]:
        """Version of the service, models and kind of database."""
        return {
            "version": __version__,
            "embedding_profile": self.profile,
            "chat": self.chat,
            "database": "sqlite" if self.storage.engines.is_sqlite else "postgres",
        }
