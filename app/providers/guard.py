"""How a model is called, whoever serves it: in time, again where that helps, not too often, not while it is down."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from app.domain.errors import ContextOverflow, ProviderFault, ProviderRefused, ProviderUnavailable, UnusableReply

T = TypeVar("T")
ReportedT = TypeVar("ReportedT", contravariant=True)

OK, FAILED, CANCELLED = "ok", "failed", "cancelled"
"""How a call ended; else it is the code of a ProviderFault."""


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """How a model is called. Times in seconds."""

    call_seconds: float = 120.0  # of one try, to the last byte of its reply
    attempts: int = 3  # tries of one call; after that its job waits, and tries again later
    first_delay: float = 0.5  # between tries, doubled each time
    jitter: float = 0.5  # of the delay, at most, on top: calls that failed together do not come back together
    patience_seconds: float = 20.0  # a model that asks for a longer rest is left to the job, which waits better
    concurrency: int = 8  # calls at once
    opens_after: int = 5  # failures in a row; then nothing is asked of the model for a while
    open_seconds: float = 15.0
    recent_seconds: float = 30.0  # an outcome so old says nothing of health: one small call of our own tells
    probe_seconds: float = 2.0  # that call may take so long; whoever asks for health must not hang with the model
    one_at_a_time: bool = False  # it may be: while a call is under way a look at health would only wait behind it
    job_tokens: int = 200_000  # that one piece of work may use of a language model


class Circuit:
    """Opens after failures in a row: calls then fail at once. After a rest, one call is let through to see."""

    def __init__(self, name: str, policy: GuardPolicy, opened: Callable[[bool], None]) -> None:
        self._name = name
        self._policy = policy
        self._opened = opened
        self._failures = 0
        self._open_until: float | None = None
        self._trying = False

    @property
    def is_open(self) -> bool:
        """Whether a call would be refused now."""
        return self._open_until is not None and (self._trying or time.monotonic() < self._open_until)

    def check(self) -> None:
        """Raises ProviderUnavailable while calls are refused."""
        if self.is_open:
            left = max((self._open_until or 0.0) - time.monotonic(), 1.0)
            raise ProviderUnavailable(f"{self._name} failed {self._failures} times in a row and is left alone", left)

    def enter(self) -> bool:
        """Begin a call; True if it is the one that is let through to see. Raises ProviderUnavailable."""
        self.check()
        self._trying = self._open_until is not None
        return self._trying

    def leave(self, *, ok: bool | None, trying: bool) -> None:
        """End a call; None says nothing about the model."""
        if trying:
            self._trying = False
        if ok is None:
            return
        self._failures = 0 if ok else self._failures + 1
        if ok:
            self._open_until = None
        elif trying or self._failures >= self._policy.opens_after:
            self._open_until = time.monotonic() + self._policy.open_seconds
        self._opened(self._open_until is not None)


class Report(Protocol[ReportedT]):
    """Told of each try: how it ended, how long it took in seconds, and its result if it has one."""

    def __call__(self, outcome: str, seconds: float, result: ReportedT | None) -> None:
        """Count it."""
        ...


@dataclass(frozen=True, slots=True)
class _Health:
    ok: bool
    at: float  # on the monotonic clock


class Guard:
    """The calls of one model."""

    def __init__(self, name: str, policy: GuardPolicy, opened: Callable[[bool], None]) -> None:
        self.policy = policy
        self._name = name
        self._circuit = Circuit(name, policy, opened)
        self._last: _Health | None = None
        self._under_way = 0
        self._checking = asyncio.Lock()

    def lane(self) -> asyncio.Semaphore:
        """A line in which calls wait for their turn."""
        return asyncio.Semaphore(self.policy.concurrency)

    async def call(self, work: Callable[[], Awaitable[T]], lane: asyncio.Semaphore, report: Report[T]) -> T:
        """Call, and call again what may yet go well; between tries the place in the lane is free for others.

        Raises ProviderUnavailable, and what `work` raises.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return await self.once(work, lane, report)
            except ProviderUnavailable as error:
                delay = self._delay(error, tries)
                if delay is None or self._circuit.is_open:
                    raise
            await asyncio.sleep(delay)

    async def once(self, work: Callable[[], Awaitable[T]], lane: asyncio.Semaphore, report: Report[T]) -> T:
        """One try, within its time. Raises ProviderUnavailable, and what `work` raises."""
        self._circuit.check()  # not only after a wait behind calls that hang
        async with lane:
            trying = self._circuit.enter()
            begun, outcome, result = time.monotonic(), FAILED, None
            self._under_way += 1
            try:
                async with asyncio.timeout(self.policy.call_seconds):
                    result = await work()
                outcome = OK
            except TimeoutError:
                raise ProviderUnavailable(f"{self._name} took longer than {self.policy.call_seconds:g} s") from None
            except asyncio.CancelledError:
                outcome = CANCELLED  # who asked went away: says nothing about the model
                raise
            except ProviderFault as error:
                outcome = error.code
                raise
            finally:
                self._under_way -= 1
                self._learn(outcome, trying=trying)
                report(outcome, time.monotonic() - begun, result)
        return result

    async def is_well(self, check: Callable[[], Awaitable[object]]) -> bool:
        """Whether the last call succeeded; if that was a while ago, `check` is called to know."""
        async with self._checking:  # many probes at once are one call
            last = self._last
            if last is None or not self._still_says(last):
                last = self._last = await self._probed(check)
        return last.ok and not self._circuit.is_open

    def _still_says(self, last: _Health) -> bool:
        busy = self.policy.one_at_a_time and self._under_way > 0
        return busy or time.monotonic() - last.at < self.policy.recent_seconds

    async def _probed(self, check: Callable[[], Awaitable[object]]) -> _Health:
        call = asyncio.ensure_future(check())
        done, _ = await asyncio.wait({call}, timeout=self.policy.probe_seconds)
        if not done:
            call.cancel()
        ok = bool(done) and not call.cancelled() and call.exception() is None
        return _Health(ok, time.monotonic())

    def _learn(self, outcome: str, *, trying: bool) -> None:
        if outcome == CANCELLED:
            self._circuit.leave(ok=None, trying=trying)
            return
        well = outcome in (OK, ContextOverflow.code)
        doubtful = outcome in (ProviderRefused.code, UnusableReply.code)
        self._circuit.leave(ok=well or doubtful, trying=trying)
        # What was refused or answered badly may be this one text or all we ask: the next look at health finds out.
        self._last = None if doubtful else _Health(well, time.monotonic())

    def _delay(self, error: ProviderUnavailable, tries: int) -> float | None:
        """Seconds until the next try; None if there is none."""
        rest = error.retry_after or 0.0
        if tries >= self.policy.attempts or rest > self.policy.patience_seconds:
            return None
        backed_off = self.policy.first_delay * 2.0 ** (tries - 1)
        return max(backed_off, rest) * (1.0 + random.uniform(0.0, self.policy.jitter))  # noqa: S311  (no secret)
