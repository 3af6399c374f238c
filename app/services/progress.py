"""Tells waiting requests that background work got further."""

import asyncio

from app.domain.ids import NamespaceId

LOOK_AGAIN_SECONDS = 1.0  # another process may have done the work: then nobody tells us


class Progress:
    """Wakes whoever waits for a namespace whenever one of its jobs settles."""

    def __init__(self) -> None:
        self._events: dict[NamespaceId, asyncio.Event] = {}

    def notify(self, namespace: NamespaceId) -> None:
        """A job of this namespace settled."""
        event = self._events.pop(namespace, None)
        if event is not None:
            event.set()

    async def wait(self, namespace: NamespaceId, seconds: float) -> None:
        """Return at the next notice, or after `seconds`, or when it is time to look for oneself."""
        event = self._events.setdefault(namespace, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), min(seconds, LOOK_AGAIN_SECONDS))
        except TimeoutError:
            if self._events.get(namespace) is event:
                del self._events[namespace]
