"""Metrics: what this process counted, and what the database says at the moment of asking."""

import asyncio
from dataclasses import dataclass

from app.domain.errors import StoreUnavailable
from app.storage.unit_of_work import Clock, Storage
from app.telemetry.metrics import Metrics, Readings

PATIENCE_SECONDS = 5  # a scraper gives up at ten: better to say that the database is away


@dataclass(frozen=True, slots=True)
class Observation:
    """Whoever watches the service asks here."""

    storage: Storage
    metrics: Metrics
    clock: Clock

    async def scrape(self) -> bytes:
        """All metrics, as text. Without the database: those of the process, and that it is down."""
        return self.metrics.render(await self._readings())

    def abandoned(self, route: str) -> None:
        """Count a question whose client did not wait for the answer; `route` is its template."""
        self.metrics.abandoned(route)

    async def _readings(self) -> Readings | None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self.storage.readings(self.clock())
        except (StoreUnavailable, TimeoutError):
            return None
