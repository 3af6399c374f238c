"""Around every request: an id, a measure, and the last word on errors."""

import asyncio
import time
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import CLIENT_GONE, of_error, request_id, tell_unexpected
from app.domain.errors import AppError, Unavailable
from app.telemetry.metrics import Metrics


class RequestId:
    """Gives each request an id, seen in the X-Request-ID header, in problems and in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with the id in `scope["state"]`."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = str(uuid4())
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        await self.app(scope, receive, send_with_id)


class Measure:
    """Counts and times requests, by the template of their route: a path would name a namespace."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; note the answer when it is out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.monotonic(), CLIENT_GONE

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            route = getattr(scope.get("route"), "path_format", None)
            self.metrics.request(scope["method"], route, status, time.monotonic() - begun)


class LastResort:
    """The one place in HTTP that catches everything: the client gets a problem, the log the place it came from."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; answer 500 for an error that nobody expected, 503 where the service stops and waits no longer."""
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except asyncio.CancelledError:
            if scope["type"] == "http" and not started:  # what has begun is cut
                answer = of_error(Unavailable("the service is stopping"), request_id(scope))
                await answer(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            tell_unexpected(error)
            answer = of_error(AppError(), request_id(scope))
            await answer(scope, receive, send)
