"""Answers that are read from the database while they are sent: none of them may stand open for ever."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.domain.errors import AppError

log = logging.getLogger(__name__)

NDJSON = "application/x-ndjson"


class Source(Protocol):
    """What is sent."""

    def chunks(self) -> AsyncGenerator[bytes]:
        """Its parts, in order."""
        ...

    async def close(self) -> None:
        """Give back what it holds."""
        ...


class Download(Response):
    """Sends a source for at most `seconds`, and closes it whatever happens.

    An answer that has begun cannot turn into an error: it is cut, and lacks its end.
    """

    def __init__(self, source: Source, seconds: float, disposition: str) -> None:
        super().__init__(media_type=NDJSON, headers={"Content-Disposition": disposition})
        del self.headers["content-length"]
        self.source = source
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the head, and each chunk when the client has taken those before."""
        gone = asyncio.ensure_future(_gone(receive))
        try:
            async with asyncio.timeout(self.seconds):
                await self._send(gone, send)
        except TimeoutError:
            log.warning("a download was cut: it took longer than it may")
        except AppError as error:
            log.warning("a download was cut: %s", error.code)
        finally:
            gone.cancel()
            await self.source.close()

    async def _send(self, gone: asyncio.Future[None], send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self.source.chunks()) as chunks:
            async for chunk in chunks:
                if gone.done():
                    return  # nobody would read the rest
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    """Wait until the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
