"""The one thread that runs a model: callers wait on the event loop, and whoever comes joins those at work."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial

import torch

from app.domain.errors import ProviderUnavailable
from app.providers.causal.engine import Engine
from app.providers.causal.rows import Prefix, Row, Said

log = logging.getLogger(__name__)


class Lane:
    """Work for an engine, in the order in which it came. Who stops waiting is dropped, also in the middle of it."""

    def __init__(self, engine: Engine, threads: int) -> None:
        self._engine = engine
        self._threads = threads
        self._reads: deque[tuple[Sequence[int], Future[Prefix]]] = deque()
        self._rows: deque[Row] = deque()
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._work, name="chat", daemon=True)
        self._thread.start()

    async def read(self, tokens: Sequence[int]) -> Prefix:
        """Read the beginning of prompts, before the next step of what is at work. Raises ProviderUnavailable."""
        future: Future[Prefix] = Future()
        self._enter(lambda: self._reads.append((tokens, future)))
        return await asyncio.wrap_future(future)

    async def run(self, rows: Sequence[Row]) -> list[Said]:
        """What comes of rows. Raises ProviderUnavailable and ProviderRefused; then the others are given up."""
        waiting = [asyncio.wrap_future(row.outcome) for row in rows]
        try:
            self._enter(lambda: self._rows.extend(rows))
            return await asyncio.gather(*waiting)
        finally:
            for row in rows:
                row.outcome.cancel()

    def close(self) -> None:
        """End the thread after the step that it is in; whoever still waits is told."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()

    def _enter(self, put: Callable[[], None]) -> None:
        with self._changed:
            if not self._open:
                raise _closed()
            put()
            self._changed.notify()

    def _work(self) -> None:
        torch.set_num_threads(self._threads)
        try:
            while self._wait():
                self._turn()
        finally:
            self._give_up()

    def _wait(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._reads or self._rows or self._engine.rows or not self._open)
            return self._open

    def _turn(self) -> None:
        """Read beginnings, admit who has room, and take one step."""
        while self._reads:
            self._read(*self._reads.popleft())
        while rows := self._next():
            with _failures_told(partial(self._fail, joining=rows)):
                self._engine.admit(rows)
        self._engine.drop_those_over()
        if self._engine.rows:
            with _failures_told(self._fail):
                self._engine.step()

    def _read(self, tokens: Sequence[int], future: "Future[Prefix]") -> None:
        if future.cancelled():
            return
        with suppress(InvalidStateError), _failures_told(future.set_exception):  # cancelled meanwhile
            future.set_result(self._engine.read(tokens))

    def _fail(self, failure: ProviderUnavailable, joining: Sequence[Row] = ()) -> None:
        """What was at work is given up; others are served."""
        for row in (*self._engine.rows, *joining):
            row.fail(failure)
        self._engine.clear()

    def _next(self) -> list[Row]:
        """The next rows that have room: one, or several that begin with the same prefix."""
        rows: list[Row] = []
        while self._rows:
            row = self._rows[0]
            if not row.over:
                alike = not rows or (row.prefix is not None and row.prefix is rows[0].prefix)
                if not alike or not self._engine.has_room(row, rows):
                    break
                rows.append(row)
            self._rows.popleft()
        return rows

    def _give_up(self) -> None:
        with self._changed:
            self._open = False
        self._fail(_closed(), self._rows)
        for _, future in self._reads:
            with suppress(InvalidStateError):
                future.set_exception(_closed())


@contextmanager
def _failures_told(tell: Callable[[ProviderUnavailable], None]) -> Iterator[None]:
    """A failure of torch, such as no memory left, is told to whoever waits; any other ends the thread, told too."""
    failure: ProviderUnavailable | None = _closed()
    try:
        yield
        failure = None
    except RuntimeError as error:  # torch speaks of memory and shapes, never of texts
        log.warning("the language model failed: %s", error)
        failure = ProviderUnavailable(f"the language model in this process failed: {type(error).__name__}")
    finally:
        if failure is not None:
            tell(failure)


def _closed() -> ProviderUnavailable:
    return ProviderUnavailable("the language model in this process is closed")
