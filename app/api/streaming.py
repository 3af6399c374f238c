"""An answer as server-sent events while it is made: `evidence`, any number of `delta`, then `final` or `error`."""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from app.api.presence import Client
from app.api.problems import of_error, tell_unexpected
from app.api.schemas.answers import AnswerOut, DeltaOut
from app.api.schemas.reading import SearchOut
from app.domain.errors import AppError, Unavailable
from app.services.answer import Answered, Listener
from app.services.search import Found

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 10.0  # proxies cut a connection that is silent for 30 to 60
HEARTBEAT = b": thinking\n\n"
MEDIA_TYPE = "text/event-stream"
LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\u0085\u2028\u2029"}  # to some readers; JSON leaves them
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would keep events back


class _Events(StreamingResponse):
    """Events on their way; `after` is called when all are out, and where the client left before that.

    Where the service stops and waits no longer, `last` is sent.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self, events: AsyncIterator[bytes], after: Callable[[], Awaitable[None]], last: Callable[[], bytes]
    ) -> None:
        super().__init__(events, headers=HEADERS)
        self._after, self._last = after, last

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send them. What is cut before it has begun is left to whoever answers for that."""
        begun = False

        async def watch(message: Message) -> None:
            nonlocal begun
            await send(message)
            begun = True

        try:
            await super().__call__(scope, receive, watch)
        except asyncio.CancelledError:
            if not begun:
                raise
            await send({"type": "http.response.body", "body": self._last(), "more_body": False})
        finally:
            await self._after()


class AnswerStream:
    """One answer on its way to one client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._events: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._said = ""
        self.listener = Listener(self._found, self._say)
        """Whoever makes the answer tells it what there is so far."""

    async def follow(self, answering: Coroutine[Any, Any, Answered]) -> StreamingResponse:
        """The response, once there is evidence. Raises what `answering` raises before that: nothing was sent then."""
        work = asyncio.create_task(answering)
        work.add_done_callback(lambda _: self._more.set())
        try:
            await self._client.waits_for(self._more.wait())
            if not self._events:
                work.result()
        finally:
            if not self._events and work.cancel():
                await asyncio.wait({work})
        return _Events(self._sent(work), lambda: self._leave(work), self._stopping)

    async def _sent(self, work: asyncio.Task[Answered]) -> AsyncIterator[bytes]:
        """All events in order."""
        while not work.done():
            if not self._events and not await self._have_more():
                yield HEARTBEAT
            while self._events:
                yield self._events.popleft()
        self._end(work)
        while self._events:
            yield self._events.popleft()

    async def _have_more(self) -> bool:
        """Wait for events, or for the end of the work. False if a while passes without either."""
        self._more.clear()
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                return await self._more.wait()
        except TimeoutError:
            return False

    async def _leave(self, work: asyncio.Task[Answered]) -> None:
        if work.cancel():  # it was not done
            self._client.left()
            await asyncio.wait({work})

    def _found(self, found: Found) -> None:
        self._put("evidence", SearchOut.of(found).model_dump_json())

    def _say(self, text: str) -> None:
        """All that was answered so far: what is new of it, or all again where it does not go on from before."""
        restart = not text.startswith(self._said)
        more = text if restart else text[len(self._said) :]
        if more:
            self._said = text
            self._put("delta", DeltaOut(text=more, restart=restart).model_dump_json())

    def _end(self, work: asyncio.Task[Answered]) -> None:
        error = work.exception()
        if error is not None:
            self._put("error", self._problem(error))
            return
        answered = AnswerOut.answered(work.result())
        if answered.answer is not None and not self._said:  # whoever made it says nothing before the end
            self._say(answered.answer)
        self._put("final", answered.model_dump_json())

    def _problem(self, error: BaseException) -> str:
        if not isinstance(error, AppError):
            tell_unexpected(error)
            error = AppError()
        log.error("%s", error.code, extra={"request": self._client.request_id})
        return self._document(error)

    def _stopping(self) -> bytes:
        return _event("error", self._document(Unavailable("the service is stopping")))

    def _document(self, error: AppError) -> str:
        return bytes(of_error(error, self._client.request_id).body).decode()

    def _put(self, name: str, data: str) -> None:
        self._events.append(_event(name, data))
        self._more.set()


def _event(name: str, data: str) -> bytes:
    return f"event: {name}\ndata: {data.translate(LINE_ENDS)}\n\n".encode()
