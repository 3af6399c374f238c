"""What clients send: how much of it, how fast, and in which form; refused before it fills the memory."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import problems
from app.domain.errors import Busy, TooLarge

SLOWEST = 10 * 1024  # bytes a second: a body that comes slower holds a connection for nothing
RETRY_SECONDS = 2.0  # the bodies that are worked on are usually done by then
PLAIN = (b"", b"identity")


@dataclass(slots=True)
class Held:
    """Bytes of the bodies that are being worked on."""

    total: int = 0


class Bodies:
    """Bounds the bodies of requests: `limit` bytes each, `in_all` bytes of those that are worked on together.

    The first byte has `seconds` to come, and each that has come gives the next a little more. `streams` are the ends
    of paths whose bodies are worked on as they come, with their own limits: of those only what came last counts.
    """

    def __init__(
        self, app: ASGIApp, limit: int, in_all: int, seconds: float, streams: Mapping[str, int] | None = None
    ) -> None:
        self.app = app
        self.limit = limit
        self.streams = streams or {}
        self.in_all = in_all
        self.seconds = seconds
        self.held = Held()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; answer 408, 413, 415 or 503 where a body is not taken."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        taking = _Taking(self, scope, receive, send)
        headers = dict(scope["headers"])
        if headers.get(b"content-encoding", b"").strip().lower() not in PLAIN:
            await taking.refuse(problems.of_status(415, "bodies are taken as they are, not compressed", taking.id))
        elif _declared(headers) > taking.limit:
            await taking.refuse(taking.too_large())
        else:
            await taking.run(self.app)


class _Taking:
    """The body of one request."""

    def __init__(self, bounds: Bodies, scope: Scope, receive: Receive, send: Send) -> None:
        self.id = problems.request_id(scope)
        self._bounds = bounds
        self._scope, self._receive, self._send = scope, receive, send
        streamed = [limit for end, limit in bounds.streams.items() if scope["path"].endswith(end)]
        self.limit = streamed[0] if streamed else bounds.limit
        self._streams = bool(streamed)
        self._seen = 0
        self._held = 0
        self._begun: float | None = None
        self._whole = False
        self._refused = False

    async def run(self, app: ASGIApp) -> None:
        """The rest of the application, which sees no more of the body than it may."""
        try:
            await app(self._scope, self._next, self._send_unless_refused)
        except ClientDisconnect:
            if not self._refused:  # else it is we who left
                raise
        finally:
            self._hold(0)

    async def refuse(self, answer: Response) -> None:
        """Answer, and be deaf to the rest."""
        self._refused = True
        await answer(self._scope, self._receive, self._send)

    def too_large(self) -> Response:
        """The answer to a body over the limit."""
        return problems.of_error(TooLarge(f"the body is larger than {self.limit} bytes"), self.id)

    async def _next(self) -> Message:
        if self._refused:
            return {"type": "http.disconnect"}
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            answer = problems.of_status(408, "the body comes too slowly", self.id)
            answer.headers["Connection"] = "close"
            await self.refuse(answer)
            return {"type": "http.disconnect"}
        came = len(message.get("body", b""))
        self._seen += came
        self._hold(came if self._streams else self._seen)
        self._whole = not message.get("more_body", False)
        if self._seen > self.limit:
            await self.refuse(self.too_large())
        elif self._bounds.held.total > self._bounds.in_all:
            await self.refuse(problems.of_error(_too_many(), self.id))
        return {"type": "http.disconnect"} if self._refused else message

    def _hold(self, size: int) -> None:
        self._bounds.held.total += size - self._held
        self._held = size

    def _deadline(self) -> float | None:
        """When the next part must be here, by the loop's clock; after the last there is only the client's leaving."""
        if self._whole:
            return None
        if self._begun is None:
            self._begun = asyncio.get_running_loop().time()
        return self._begun + self._bounds.seconds + self._seen / SLOWEST

    async def _send_unless_refused(self, message: Message) -> None:
        if not self._refused:
            await self._send(message)


def _too_many() -> Busy:
    return Busy("too many large bodies are worked on at once", "LIMITS__BODIES_BYTES", RETRY_SECONDS)


def _declared(headers: Mapping[bytes, bytes]) -> int:
    value = headers.get(b"content-length", b"0")
    return int(value) if value.isdigit() else 0
