"""The bell of a process that runs its own jobs: an event, set after the commit."""

import asyncio

from app.domain.ids import NamespaceId


class InProcessDoorbell:
    """Wakes the runner of this process."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    async def before_commit(self, connection: object, namespace: NamespaceId) -> None:
        """Nothing to do: until the commit there is no job to find."""

    def after_commit(self, namespace: NamespaceId) -> None:
        """There are jobs now."""
        del namespace
        self.ring()

    def ring(self) -> None:
        """Wake the runner."""
        self._rung.set()

    async def wait(self, seconds: float) -> None:
        """Return when rung, at the latest after `seconds`."""
        try:
            await asyncio.wait_for(self._rung.wait(), seconds)
        except TimeoutError:
            return
        self._rung.clear()
