"""A small client of the service's HTTP API, with errors that a person can act on."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from app.domain.messages import Draft
from app.evaluation import wire
from app.evaluation.errors import Refused, ToolError, Unreachable

BATCH = 200  # messages a request: each is done quickly, and progress shows
PAGE = 100  # items a page, the most that the service gives
REPLY_SECONDS = 60.0  # a reply that takes longer, beyond what it was asked to wait, is given up
LONG_SECONDS = 600.0  # of silence while a file is read or checked at the other end
CONNECT_SECONDS = 5.0
LOOK_SECONDS = 1.0  # between two looks at work in the background
STALLED_SECONDS = 600.0  # background work that does not move for so long is given up

KEY_FORM = re.compile(r"[!-~]+")

ReplyT = TypeVar("ReplyT", bound=wire.Reply)


class Client:
    """Calls one service. Every method raises Refused, Unreachable or ToolError, nothing else."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def version(self) -> wire.Version:
        """What runs at the other end."""
        return await self._call(wire.Version, "GET", "/version")

    async def append(
        self,
        namespace: str,
        conversation: str,
        messages: Sequence[Draft],
        posted: Callable[[int], None] = lambda count: None,
    ) -> wire.Appended:
        """Append messages in their order; `posted` is told how many went with each request."""
        accepted = duplicates = 0
        for start in range(0, len(messages), BATCH):
            batch = messages[start : start + BATCH]
            body = {"messages": [wire.message_body(message) for message in batch]}
            path = f"{_in(namespace)}/conversations/{_part(conversation)}/messages"
            reply = await self._call(wire.Appended, "POST", path, body)
            accepted += reply.accepted
            duplicates += reply.duplicates
            posted(len(batch))
        return wire.Appended(accepted=accepted, duplicates=duplicates)

    async def flush(self, namespace: str, wait_seconds: float = 0) -> wire.Flushed:
        """Close open conversations and wait so long for the work to settle."""
        body = {"wait_seconds": wait_seconds}
        return await self._call(wire.Flushed, "POST", f"{_in(namespace)}/flush", body, wait_seconds + REPLY_SECONDS)

    async def settle(self, namespace: str, watch: Callable[[wire.Status], None] = lambda status: None) -> wire.Status:
        """Flush and wait until all work is done; `watch` sees each look at it.

        Returns the final status. Raises ToolError if nothing moves for STALLED_SECONDS.
        """
        clock = asyncio.get_running_loop().time
        moved, before = clock(), None
        while not (await self.flush(namespace, LOOK_SECONDS)).settled:
            status = await self.status(namespace)
            watch(status)
            if status != before:
                moved, before = clock(), status
            if clock() - moved > STALLED_SECONDS:
                raise ToolError(
                    f"the work on {namespace} has not moved for {STALLED_SECONDS:.0f} s: {status.pending_jobs} jobs "
                    f"are waiting, {status.buffered} messages are in the buffer. Does a worker run?"
                )
        status = await self.status(namespace)
        watch(status)
        return status

    async def status(self, namespace: str) -> wire.Status:
        """A namespace in numbers."""
        return await self._call(wire.Status, "GET", f"{_in(namespace)}/status")

    async def search(self, namespace: str, query: str, **options: object) -> wire.Found:
        """The evidence for a question; options as in the API (`strategy`, `max_tokens`, …)."""
        return await self._call(wire.Found, "POST", f"{_in(namespace)}/search", {"query": query, **options})

    async def answer(self, namespace: str, query: str, **options: object) -> wire.Answer:
        """The answer to a question; options as in the API."""
        return await self._call(wire.Answer, "POST", f"{_in(namespace)}/answer", {"query": query, **options})

    async def messages(self, namespace: str, conversation: str) -> list[wire.Message]:
        """All messages of a conversation, in order."""
        return await self._all(wire.Message, f"{_in(namespace)}/conversations/{_part(conversation)}/messages")

    async def episodes(self, namespace: str) -> list[wire.Episode]:
        """All episodes, oldest first."""
        return await self._all(wire.Episode, f"{_in(namespace)}/episodes")

    async def statements(self, namespace: str) -> list[wire.Statement]:
        """All current statements, oldest first."""
        return await self._all(wire.Statement, f"{_in(namespace)}/statements")

    async def themes(self, namespace: str) -> list[wire.Theme]:
        """All themes, oldest first."""
        return await self._all(wire.Theme, f"{_in(namespace)}/themes")

    async def failed_jobs(self, namespace: str) -> list[wire.Job]:
        """All failed jobs, newest first."""
        return await self._all(wire.Job, f"{_in(namespace)}/jobs", state="failed")

    async def namespaces(self) -> list[wire.Namespace]:
        """All namespaces, oldest first."""
        return await self._all(wire.Namespace, "/v1/namespaces")

    async def namespace(self, namespace: str) -> wire.Namespace:
        """One namespace."""
        return await self._call(wire.Namespace, "GET", _in(namespace))

    async def reembed(self, namespace: str, profile: str) -> wire.Ordered:
        """Give a namespace the vectors of another profile."""
        return await self._call(wire.Ordered, "POST", f"{_in(namespace)}/reembed", {"profile": profile})

    async def job(self, namespace: str, job: str) -> wire.Job:
        """One job."""
        return await self._call(wire.Job, "GET", f"{_in(namespace)}/jobs/{_part(job)}")

    async def claim(self, namespace: str, statements: Sequence[Mapping[str, object]], key: str) -> list[wire.Decided]:
        """Post statements of the client's own; the same ones under the same key again change nothing."""
        path = f"{_in(namespace)}/statements"
        headers = {"Idempotency-Key": key}
        document = await self._send("POST", path, {"statements": statements}, headers=headers)
        return [_read(wire.Decided, one, path) for one in document["statements"]]

    async def create_key(self, order: Mapping[str, object]) -> wire.CreatedKey:
        """Make a key, as the API takes it."""
        return await self._call(wire.CreatedKey, "POST", "/v1/keys", order)

    async def keys(self) -> list[wire.Key]:
        """All keys, oldest first."""
        return await self._all(wire.Key, "/v1/keys")

    async def revoke_key(self, key: str) -> None:
        """End a key."""
        await self._send("DELETE", f"/v1/keys/{_part(key)}")

    async def delete_namespace(self, namespace: str) -> None:
        """Erase a namespace."""
        await self._send("DELETE", _in(namespace))

    async def export(self, namespace: str, **query: str) -> AsyncGenerator[bytes]:
        """A namespace as the bytes of a file, piece by piece; query as in the API (`vectors`, `after`, `revision`)."""
        path, timeout = f"{_in(namespace)}/export", httpx.Timeout(LONG_SECONDS, connect=CONNECT_SECONDS)
        with self._reaching(path, LONG_SECONDS):
            async with self._http.stream("GET", path, params=query, timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    raise _refusal(response)
                async for piece in response.aiter_bytes():
                    yield piece

    async def import_file(self, namespace: str, file: AsyncIterable[bytes], conflict: str, key: str) -> wire.Imported:
        """Send the bytes of an exported namespace; the same file under the same key again changes nothing."""
        path, timeout = f"{_in(namespace)}/import", httpx.Timeout(LONG_SECONDS, connect=CONNECT_SECONDS)
        headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
        with self._reaching(path, LONG_SECONDS):
            response = await self._http.post(
                path, content=file, params={"conflict": conflict}, headers=headers, timeout=timeout
            )
        if not response.is_success:
            raise _refusal(response)
        return _read(wire.Imported, _document(response), path)

    async def _all(self, kind: type[ReplyT], path: str, **query: str) -> list[ReplyT]:
        items: list[ReplyT] = []
        cursor: str | None = None
        while True:
            page = {**query, "limit": str(PAGE)} | ({} if cursor is None else {"cursor": cursor})
            document = await self._send("GET", path, query=page)
            items += [_read(kind, item, path) for item in document["items"]]
            cursor = document["next_cursor"]
            if cursor is None:
                return items

    async def _call(
        self,
        kind: type[ReplyT],
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        seconds: float = REPLY_SECONDS,
    ) -> ReplyT:
        return _read(kind, await self._send(method, path, body, seconds), path)

    async def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        seconds: float = REPLY_SECONDS,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401  (a JSON document)
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        with self._reaching(path, seconds):
            response = await self._http.request(method, path, json=body, params=query, headers=headers, timeout=timeout)
        if not response.is_success:
            raise _refusal(response)
        return _document(response) if response.content else None

    @contextmanager
    def _reaching(self, path: str, seconds: float) -> Iterator[None]:
        """What can go wrong on the way, in words."""
        base = str(self._http.base_url).rstrip("/")
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Unreachable(f"nothing answers at {base}. Start the service with `xmemory serve`.") from error
        except httpx.TimeoutException as error:
            raise ToolError(f"no reply from {base}{path} within {seconds:.0f} s") from error
        except httpx.TransportError as error:
            raise Unreachable(f"the connection to {base} broke off: {type(error).__name__}") from error


@asynccontextmanager
async def connect(url: str, key: str | None = None) -> AsyncIterator[Client]:
    """A client of the service at `url`, for as long as the context lasts; it shows `key` with every request.

    Raises ToolError for what is no URL, and for what cannot be a key.
    """
    try:
        base = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ToolError(f"{url} is no URL: {error}") from error
    if base.scheme not in ("http", "https") or not base.host:
        raise ToolError(f"{url} is no URL of a service: write it like http://127.0.0.1:8000")
    if key is not None and not KEY_FORM.fullmatch(key):
        raise ToolError("the key has characters that no key has: was something else copied with it?")
    headers = None if key is None else {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=base, headers=headers) as http:
        yield Client(http)


def _in(namespace: str) -> str:
    return f"/v1/namespaces/{_part(namespace)}"


def _part(name: str) -> str:
    return quote(name, safe="")


def _document(response: httpx.Response) -> Any:  # noqa: ANN401  (a JSON document)
    try:
        return response.json()
    except ValueError as error:
        kind = response.headers.get("content-type", "no content type")
        raise ToolError(f"{response.url} answered with {kind} instead of JSON: is this xMemory?") from error


def _read(kind: type[ReplyT], document: object, path: str) -> ReplyT:
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ToolError(f"{path} answered in a form we do not know: {place}: {first['msg']}") from error


def _rest(response: httpx.Response) -> float | None:
    """How long the service wants to be left alone, in seconds."""
    value = response.headers.get("Retry-After", "")
    return float(value) if value.isdigit() else None


def _refusal(response: httpx.Response) -> Refused:
    """The problem document as an error; other bodies in their first words."""
    try:
        problem = response.json()
        title, detail = str(problem["title"]), str(problem.get("detail", ""))
        fields = [(str(field["pointer"]), str(field["detail"])) for field in problem.get("errors") or ()]
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refused(response.status_code, response.reason_phrase, response.text[:200])
    if response.status_code == httpx.codes.UNAUTHORIZED:
        detail = f"{detail}. The commands take one as --key or XMEMORY_KEY."
    return Refused(response.status_code, title, detail, fields, _rest(response))
