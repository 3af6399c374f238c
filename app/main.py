"""The HTTP application."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.responses import RedirectResponse

from app import __version__, container
from app.api import problems
from app.api.bodies import Bodies
from app.api.connections import ConnectionLimits, server_config
from app.api.dependencies import known_query_only
from app.api.limiting import Rate, RateHeaders
from app.api.middleware import LastResort, Measure, RequestId
from app.api.openapi import describe
from app.api.routers import (
    answer,
    conversations,
    flush,
    health,
    jobs,
    keys,
    memory,
    namespaces,
    search,
    statements,
    themes,
    transfer,
)
from app.domain.errors import ConfigurationError
from app.jobs.runner import Worker
from app.settings import Settings

ROUTERS = (conversations, flush, search, answer, memory, statements, themes, jobs, namespaces, transfer, keys, health)


def create_app(settings: Settings) -> FastAPI:
    """The application; its database and models come up when it starts and go down when it stops."""
    metrics = container.build_metrics(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with container.build(settings, metrics=metrics) as built, built.services.keys.noting_uses():
            app.state.services = built.services
            await built.services.keys.warn_if_nobody_may()
            if settings.worker == "off":
                yield
                return
            app.state.worker = built.worker
            working = asyncio.create_task(built.worker.run())
            try:
                yield
            finally:
                built.worker.stop()
                await working

    app = FastAPI(
        title="xMemory",
        version=__version__,
        lifespan=lifespan,
        dependencies=[Depends(known_query_only)],
        redirect_slashes=False,
    )
    app.state.local_only = settings.local_only
    for module in ROUTERS:
        app.include_router(module.router)
    app.add_route("/", _to_docs, include_in_schema=False)
    problems.install(app)
    # The last one added is the outermost: ids first, so that every refusal has one.
    limits = settings.limits
    app.state.rate = Rate(limits.key_requests, limits.namespace_requests, limits.pause_seconds)
    app.add_middleware(
        Bodies,
        limit=limits.body_bytes,
        in_all=limits.bodies_bytes,
        seconds=limits.body_seconds,
        streams={"/import": limits.import_bytes},
    )
    app.add_middleware(RateHeaders, rate=app.state.rate)
    app.add_middleware(LastResort)
    app.add_middleware(RequestId)
    app.add_middleware(Measure, metrics=metrics)
    describe(app, keys=settings.auth == "keys")
    return app


def configured(app: FastAPI, settings: Settings, **more: Any) -> uvicorn.Config:  # noqa: ANN401
    """How the application is served; `more` is given to uvicorn."""
    limits = settings.limits
    bounds = ConnectionLimits(limits.connections, limits.head_bytes, limits.head_seconds, limits.stalled_seconds)
    return server_config(app, bounds, **more)


def keep_what_is_loaded() -> None:
    """Tell the collector of garbage that what is there by now stays, in a process that only serves from now on.

    Libraries and models are half a million objects: to walk through them all again took 0.1 to 0.5 s each time.
    """
    gc.collect()
    gc.freeze()


async def run_worker(settings: Settings, started: Callable[[Worker], None]) -> None:
    """Run background work until the worker that `started` is given is stopped. Raises ConfigurationError."""
    if not settings.database_url.startswith("postgresql"):
        message = "`xmemory worker` is for Postgres: an SQLite file belongs to one process, "
        raise ConfigurationError(message + "and `xmemory serve` runs its background work (XMEMORY_WORKER=inline)")
    async with container.build(settings) as built:
        keep_what_is_loaded()
        started(built.worker)
        await built.worker.run()


async def _to_docs(request: Request) -> RedirectResponse:
    """Whoever opens the bare address wants to know what this is."""
    del request
    return RedirectResponse("/docs")


def migrate_database(settings: Settings) -> None:
    """Bring the database of `settings` up to this version's schema. Blocking."""
    container.migrate_database(settings)
