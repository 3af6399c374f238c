"""How many requests a key, an address and a namespace may send: counted in this process, before a body is read."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.domain.errors import TooMany
from app.services.pausing import Pauses

WINDOW = 60  # seconds
NOT_COUNTED = "/health/"  # whoever watches the service must see it when it is busiest
UNAUTHENTICATED = 401


@dataclass(frozen=True, slots=True)
class Allowance:
    """Requests a minute of one of a kind: a key, an address without one, a namespace. `setting` says how many."""

    kind: str
    setting: str
    amount: int

    @property
    def item(self) -> RateLimitItemPerMinute:
        """For the limiter."""
        return RateLimitItemPerMinute(self.amount, namespace=self.kind)


@dataclass(frozen=True, slots=True)
class Counted:
    """How far an allowance is used up by `who` it is of; the next request is free in `seconds`."""

    allowance: Allowance
    who: str
    allowed: bool
    remaining: int
    seconds: float


class Rate:
    """Counts requests over a sliding minute, and refuses those above it after a pause.

    The pause costs us a timer, and keeps whoever does not wait from keeping us busy with refusals. Two counters an
    allowance are all that is stored, whatever comes; the library forgets them when their minute is over.
    """

    def __init__(self, key: int, namespace: int, pause: float) -> None:
        """Requests a minute, 0 for any number; `pause` in seconds, or more where many are refused (`Pauses`)."""
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._pauses = Pauses(pause)
        self._key, self._namespace = key, namespace

    async def __call__(self, request: Request, *, opens: bool) -> None:
        """Count a request; what its key does not open counts for the key, not for the namespace. Raises TooMany."""
        if request.url.path.startswith(NOT_COUNTED):
            return
        counted: list[Counted] = []
        request.scope["state"]["counted"] = counted
        name = request.path_params.get("namespace")
        if self._key:
            kind, who = _sender(request.scope)
            counted.append(await self._hit(Allowance(kind, "LIMITS__KEY_REQUESTS", self._key), who))
        if opens and self._namespace and name is not None and all(one.allowed for one in counted):
            allowance = Allowance("namespace", "LIMITS__NAMESPACE_REQUESTS", self._namespace)
            counted.append(await self._hit(allowance, str(name)))
        for one in counted:
            if not one.allowed:
                await self._pauses.pause(f"{one.allowance.kind} {one.who}")
                detail = f"a {one.allowance.kind} may send {one.allowance.amount} requests in {WINDOW} seconds"
                raise TooMany(detail, one.allowance.setting, one.seconds)

    async def unauthenticated(self, scope: Scope) -> None:
        """Count a request without a valid key: above the limit its refusal waits too."""
        allowance = Allowance("unauthenticated address", "LIMITS__KEY_REQUESTS", self._key)
        if self._key and not (await self._hit(allowance, _address(scope))).allowed:
            await self._pauses.pause(f"{allowance.kind} {_address(scope)}")

    async def _hit(self, allowance: Allowance, who: str) -> Counted:
        allowed = await self._limiter.hit(allowance.item, who)
        reset, remaining = await self._limiter.get_window_stats(allowance.item, who)
        return Counted(allowance, who, allowed, remaining, max(1.0, reset - time.time()))


class RateHeaders:
    """Tells each answer's client what is left to it, and slows down who tries keys."""

    def __init__(self, app: ASGIApp, rate: Rate) -> None:
        self.app = app
        self.rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, with `RateLimit-Policy` and `RateLimit` where requests are counted."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == UNAUTHENTICATED:
                    await self.rate.unauthenticated(scope)
                counted: Sequence[Counted] = scope["state"].get("counted", ())
                message["headers"] = [*message["headers"], *_headers(counted)]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _sender(scope: Scope) -> tuple[str, str]:
    """What is counted: the key that was used; without one the address that the request comes from."""
    caller = scope["state"].get("caller")
    key = None if caller is None else caller.id
    return ("address", _address(scope)) if key is None else ("key", str(key))


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _headers(counted: Sequence[Counted]) -> list[tuple[bytes, bytes]]:
    """As the IETF's draft has them."""
    if not counted:
        return []
    policy = ", ".join(f'"{one.allowance.kind}";q={one.allowance.amount};w={WINDOW}' for one in counted)
    left = ", ".join(f'"{one.allowance.kind}";r={one.remaining};t={math.ceil(one.seconds)}' for one in counted)
    return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]
