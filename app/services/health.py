"""Whether the service can serve."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from app import __version__
from app.domain.errors import StoreUnavailable
from app.providers.observed import ObservedEmbedder
from app.storage.migrate import newest
from app.storage.unit_of_work import Storage

PATIENCE_SECONDS = 5  # a probe must not hang with the database

OK, FAILING = "ok", "failing"


@dataclass(frozen=True, slots=True)
class Health:
    """Checks what requests depend on."""

    storage: Storage
    database_url: str
    embedder: ObservedEmbedder
    chat: str

    async def checks(self) -> Mapping[str, str]:
        """`ok` or `failing`, by what was looked at."""
        database, embedder = await asyncio.gather(self._database(), self.embedder.is_well())
        return {**database, "embedder": OK if embedder else FAILING}

    async def _database(self) -> Mapping[str, str]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                found = await self.storage.schema_revision()
        except (StoreUnavailable, TimeoutError):
            return {"database": FAILING, "schema": FAILING}
        return {"database": OK, "schema": OK if found == newest(self.database_url) else FAILING}

    def version(self) -> Mapping[str, str]:
        """Version of the service, models and kind of database."""
        return {
            "version": __version__,
            "embedding_profile": str(self.embedder.profile),
            "chat": self.chat,
            "database": "sqlite" if self.storage.engines.is_sqlite else "postgres",
        }
