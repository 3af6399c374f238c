"""Threads that end where nobody waits for them any more."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from app.domain.support import Look

T = TypeVar("T")


class _NobodyWaits(Exception):
    """Raised inside a thread, and seen by nobody."""


async def in_thread(work: Callable[[Look], T]) -> T:
    """The result of `work`, off the event loop. What it is given it calls now and then: if the caller was cancelled
    meanwhile, that raises, and the thread is free.
    """
    left = threading.Event()

    def look() -> None:
        if left.is_set():
            raise _NobodyWaits

    try:
        return await asyncio.to_thread(work, look)
    finally:
        left.set()
