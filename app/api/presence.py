"""Clients that go away: what was done for one of them alone is stopped, and counted."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from starlette.requests import ClientDisconnect

from app.api.dependencies import Use
from app.services.observation import Observation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Client:
    """Whoever waits for the answer to a request whose body was read."""

    request: Request
    observation: Observation

    async def waits_for(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, and whatever it raises. It is cancelled, and ClientDisconnect raised, if nobody waits
        for it any more: only for work that stores nothing.
        """
        working, leaving = asyncio.create_task(work), asyncio.create_task(self._gone())
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            self.left()
            raise ClientDisconnect
        finally:
            leaving.cancel()
            if working.cancel():
                await asyncio.wait({working})

    @property
    def request_id(self) -> str:
        """What problems and the log call it."""
        return str(self.request.state.request_id)

    def left(self) -> None:
        """Count a client that did not wait."""
        self.observation.abandoned(self.request.scope["route"].path_format)

    async def _gone(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            continue


async def client(request: Request, use: Use) -> Client:
    """The client of this request."""
    return Client(request, use.observation)


Waiting = Annotated[Client, Depends(client)]
