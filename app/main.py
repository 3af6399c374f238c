"""The HTTP application."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI

from app import __version__, container
from app.api import problems
from app.api.dependencies import known_query_only
from app.api.middleware import BodyLimit, LastResort, RequestId
from app.api.openapi import describe
from app.api.routers import answer, conversations, flush, health, jobs, memory, namespaces, search
from app.settings import Settings

ROUTERS = (conversations, flush, search, answer, memory, jobs, namespaces, health)


def create_app(settings: Settings) -> FastAPI:
    """The application; its database and models come up when it starts and go down when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with container.build(settings) as built:
            app.state.services = built.services
            worker = asyncio.create_task(built.runner.run()) if settings.worker == "inline" else None
            yield
            if worker is not None:
                built.runner.stop()
                await worker

    app = FastAPI(
        title="xMemory",
        version=__version__,
        lifespan=lifespan,
        dependencies=[Depends(known_query_only)],
        redirect_slashes=False,
    )
    for module in ROUTERS:
        app.include_router(module.router)
    problems.install(app)
    # The last one added is the outermost: ids first, so that every refusal has one.
    app.add_middleware(BodyLimit, limit=settings.limits.body_bytes)
    app.add_middleware(LastResort)
    app.add_middleware(RequestId)
    describe(app)
    return app


def migrate_database(settings: Settings) -> None:
    """Bring the database of `settings` up to this version's schema. Blocking."""
    container.migrate_database(settings)
