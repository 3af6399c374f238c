"""An embedding model whose calls are counted, and whose last outcome is remembered."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.domain.vectors import Matrix
from app.providers.protocols import Embedder
from app.telemetry import usage
from app.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Watch:
    """How a model's health is known."""

    recent_seconds: float = 30.0  # an outcome so old says nothing: one small call of our own tells
    patience_seconds: float = 2.0  # that call may take so long; a probe must not hang with the model


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, and when on the monotonic clock."""

    ok: bool
    at: float


class ObservedEmbedder:
    """Another embedder, watched: metrics, usage of the running job, health."""

    def __init__(self, inner: Embedder, metrics: Metrics, watch: Watch | None = None) -> None:
        self.inner = inner
        self.profile = inner.profile
        self.max_tokens = inner.max_tokens
        self.watch = watch or Watch()
        self._metrics = metrics
        self._last: Outcome | None = None
        self._checking = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts."""
        with self._watched("batch", len(texts)):
            return await self.inner.embed(texts)

    async def embed_query(self, text: str) -> Matrix:
        """The vector of one question."""
        with self._watched("query", 1):
            return await self.inner.embed_query(text)

    def close(self) -> None:
        """Release the model."""
        self.inner.close()

    async def is_well(self) -> bool:
        """Whether its last call succeeded; if that was a while ago, one small call is made to know."""
        async with self._checking:  # many probes at once are one call
            last = self._last
            if last is None or time.monotonic() - last.at >= self.watch.recent_seconds:
                last = await self._check()
        return last.ok

    async def _check(self) -> Outcome:
        call = asyncio.create_task(self.embed_query("ready?"))
        done, _ = await asyncio.wait({call}, timeout=self.watch.patience_seconds)
        if not done:
            call.cancel()
        ok = bool(done) and call.exception() is None
        self._last = Outcome(ok, time.monotonic())
        return self._last

    @contextmanager
    def _watched(self, lane: str, texts: int) -> Iterator[None]:
        begun, outcome = time.monotonic(), "failed"
        try:
            yield
            outcome = "ok"
        except asyncio.CancelledError:
            outcome = "cancelled"  # who asked went away: says nothing about the model
            raise
        finally:
            ended = time.monotonic()
            if outcome != "cancelled":
                self._last = Outcome(outcome == "ok", ended)
            self._metrics.embedding(lane, outcome, texts, ended - begun)
            usage.note("embedder", calls=1, texts=texts if outcome == "ok" else 0, seconds=ended - begun)
