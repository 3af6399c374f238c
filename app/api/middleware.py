"""Around every request: an id, a measure, a limit on the body, and the last word on errors."""

import logging
import time
import traceback
from collections.abc import MutableMapping
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problems import problem
from app.domain.errors import AppError, TooLarge
from app.telemetry.metrics import Metrics

log = logging.getLogger(__name__)

CLIENT_GONE = 499  # nobody was left to answer


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
        """Pass on; answer 500 for an error that nobody expected."""
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            frames = traceback.extract_tb(error.__traceback__)
            where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-5:]))
            log.error("%s at %s", type(error).__name__, where)  # the message might quote memory: left out
            answer = problem(500, AppError.code, AppError.title, AppError.title, _request_id(scope))
            await answer(scope, receive, send)


class BodyLimit:
    """Refuses bodies over `limit` bytes, declared or not, before they fill the memory."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; answer 413 as soon as the body is too large."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if _declared(scope) > self.limit:
            await self._refuse(scope, receive, send)
            return
        seen, refused = 0, False

        async def count() -> Message:
            nonlocal seen, refused
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limit and not refused:
                refused = True
                await self._refuse(scope, receive, send)
            return {"type": "http.disconnect"} if refused else message

        async def send_unless_refused(message: Message) -> None:
            if not refused:
                await send(message)

        await self.app(scope, count, send_unless_refused)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        detail = f"the body is larger than {self.limit} bytes"
        answer = problem(413, TooLarge.code, TooLarge.title, detail, _request_id(scope))
        await answer(scope, receive, send)


def _declared(scope: Scope) -> int:
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    value = next((value for name, value in headers if name == b"content-length"), b"0")
    return int(value) if value.isdigit() else 0


def _request_id(scope: Scope) -> str:
    state: MutableMapping[str, Any] = scope.get("state", {})
    return str(state.get("request_id", ""))
