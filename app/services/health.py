"""Whether the service can serve."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app import __version__
from app.domain.errors import StoreUnavailable
from app.providers.embedders import Embedders
from app.providers.guarded import GuardedChat, GuardedEmbedder
from app.services.configured import Configured
from app.storage.migrate import newest
from app.storage.unit_of_work import Storage

PATIENCE_SECONDS = 5  # a probe must not hang with the database

OK, FAILING = "ok", "failing"


@dataclass(frozen=True, slots=True)
class Health:
    """Checks what requests depend on."""

    storage: Storage
    database_url: str
    embedders: Embedders[GuardedEmbedder]
    kind: str
    chat: GuardedChat | None
    configured: Configured

    async def checks(self) -> Mapping[str, str]:
        """`ok` or `failing`, by what was looked at; `embedder_next` and `chat` only where they are configured."""
        models = {"embedder": self.embedders.current, "embedder_next": self.embedders.next, "chat": self.chat}
        looked_at = {name: model.is_well() for name, model in models.items() if model is not None}
        database, well = await asyncio.gather(self._database(), asyncio.gather(*looked_at.values()))
        return database | {name: OK if is_well else FAILING for name, is_well in zip(looked_at, well, strict=True)}

    async def _database(self) -> dict[str, str]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                found = await self.storage.schema_revision()
        except (StoreUnavailable, TimeoutError):
            return {"database": FAILING, "schema": FAILING}
        return {"database": OK, "schema": OK if found == newest(self.database_url) else FAILING}

    def version(self) -> Mapping[str, Any]:
        """Version of the service, models, kind of database, and the settings that results depend on."""
        return {
            "version": __version__,
            "embedding_profile": str(self.embedders.current.profile),
            "embedding_profile_next": None if self.embedders.next is None else str(self.embedders.next.profile),
            "chat": self.kind,
            "chat_model": None if self.chat is None else self.chat.name,
            "chat_revision": None if self.chat is None else self.chat.revision,
            "database": "sqlite" if self.storage.engines.is_sqlite else "postgres",
            "settings": self.configured.shown(),
        }
