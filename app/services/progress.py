"""Tells waiting requests that background work got further."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from app.domain.ids import NamespaceId

LOOK_AGAIN_SECONDS = 1.0  # another process may have done the work: then nobody tells us


@dataclass(eq=False)
class Notice:
    """Comes when a job settles. Taken before the state is read, so that nothing is missed in between."""

    _given: asyncio.Event = field(default_factory=asyncio.Event)

    def give(self) -> None:
        """Wake whoever waits."""
        self._given.set()

    async def wait(self, seconds: float) -> None:
        """Return when given, after `seconds`, or when it is time to look for oneself."""
        try:
            await asyncio.wait_for(self._given.wait(), min(seconds, LOOK_AGAIN_SECONDS))
        except TimeoutError:
            return


class Progress:
    """Wakes whoever waits for a namespace whenever one of its jobs settles."""

    def __init__(self) -> None:
        self._notices: WeakValueDictionary[NamespaceId, Notice] = WeakValueDictionary()

    def expect(self, namespace: NamespaceId) -> Notice:
        """The notice of the next job of this namespace to settle."""
        notice = self._notices.get(namespace)
        if notice is None:
            notice = self._notices[namespace] = Notice()
        return notice

    def notify(self, namespace: NamespaceId) -> None:
        """A job of this namespace settled."""
        notice = self._notices.pop(namespace, None)
        if notice is not None:
            notice.give()
