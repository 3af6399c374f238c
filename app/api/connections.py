"""Connections: how many there may be, and how long one may keep us waiting."""

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api.problems import MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of a server's connections; `head_bytes` is the longest request line with its headers."""

    connections: int
    head_bytes: int
    head_seconds: float
    stalled_seconds: float


def server_config(app: ASGIApp, limits: ConnectionLimits, **more: Any) -> uvicorn.Config:  # noqa: ANN401
    """How the service is served, wherever it is."""
    return uvicorn.Config(
        app,
        http=partial(Connection, limits),  # type: ignore[arg-type]  # called like the class
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # else a client could choose the address that it is counted by
        server_header=False,
        limit_concurrency=limits.connections,
        h11_max_incomplete_event_size=limits.head_bytes,
        **more,
    )


class Connection(H11Protocol):
    """One connection, which ends if a request's head does not come, or if an answer is not taken."""

    def __init__(self, limits: ConnectionLimits, *args: Any, **more: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **more)
        self._limits = limits
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._head = self.loop.call_later(self._limits.head_seconds, self._give_up)

    def data_received(self, data: bytes) -> None:
        """A part of a head, or of a body; bodies are timed where they are read (`app/api/bodies.py`)."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head = _off(self._head)
        elif self._head is None:
            self._head = self.loop.call_later(self._limits.head_seconds, self._give_up)

    def on_response_complete(self) -> None:
        """The next head may take its time again; uvicorn's own clock runs until it begins."""
        self._head = _off(self._head)
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read what it asked for."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self._limits.stalled_seconds, self._give_up)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        self._stalled = _off(self._stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        """No clock outlives its connection."""
        self._head, self._stalled = _off(self._head), _off(self._stalled)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """A problem for what is no HTTP, or has too long a head; then the connection ends."""
        detail = f"no valid HTTP/1.1 request, or more than {self._limits.head_bytes} bytes of request line and headers"
        body = {"type": "/problems/bad_request", "title": "Bad Request", "status": 400, "detail": detail}
        content = json.dumps(body).encode()
        headers = [
            ("content-type", MEDIA_TYPE),
            ("content-length", str(len(content))),
            ("connection", "close"),
        ]
        answer = h11.Response(status_code=400, reason=b"Bad Request", headers=headers)
        for event in (answer, h11.Data(data=content), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _give_up(self) -> None:
        self.transport.abort()


def _off(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Stop a clock, if it runs; there is none then."""
    if timer is not None:
        timer.cancel()
    return None
