"""Clients that do not behave, over bare sockets: each is refused or left after a while, and nobody else notices."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.settings import LimitSettings
from tests.conftest import WAIT, Api, serving, settings_for, sqlite_copy

SOON = 0.2  # seconds that a client may keep this service waiting; the tests wait for what follows, however long
CONNECTIONS = 8
HEAD_BYTES = 4096
READ_AT_ONCE = 2**18  # bytes that come in one piece: what is whole by then is read, however long
HOST = b"Host: 127.0.0.1\r\n"
POST = b"POST /v1/namespaces/ada/conversations/chat/messages HTTP/1.1\r\nContent-Type: application/json\r\n" + HOST


@pytest.fixture(scope="module")
async def strict(sqlite_template: Path) -> AsyncIterator[Api]:
    """A service with little patience; what is tested here never reaches its database."""
    limits = LimitSettings(
        key_requests=0,
        namespace_requests=0,
        head_seconds=SOON,
        body_seconds=SOON,
        stalled_seconds=SOON,
        head_bytes=HEAD_BYTES,
        connections=CONNECTIONS,
    )
    with sqlite_copy(sqlite_template) as url:
        async with serving(settings_for(url).model_copy(update={"limits": limits})) as client:
            yield client


async def _open(api: Api) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", api.base_url.port)


async def _said(api: Api, *parts: bytes) -> bytes:
    """All that a connection answers until the service closes it."""
    reader, writer = await _open(api)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        async with asyncio.timeout(WAIT):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


def _problem(answer: bytes, status: int) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == str(status).encode(), answer[:300]
    assert b"application/problem+json" in head
    return json.loads(body)


async def test_a_head_that_does_not_come(strict: Api) -> None:
    for beginning in (b"", b"GET /version HTTP/1.1\r\nHost: "):
        assert await _said(strict, beginning) == b""


async def test_a_body_that_does_not_come(strict: Api) -> None:
    length = b"Content-Length: 100\r\n\r\n"
    for part in (length, length + b'{"messages"', b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"):
        assert _problem(await _said(strict, POST + part), 408)["title"] == "Request Timeout"


async def test_an_answer_that_is_not_taken(strict: Api) -> None:
    """A client that asks and asks, and reads nothing."""
    asked = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
    reader, writer = await _open(strict)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    left = asyncio.create_task(_ask_for_ever(writer, asked))
    await asyncio.wait([left], timeout=WAIT)
    assert isinstance(left.exception(), ConnectionError)
    assert (await strict.get("/health/live")).status_code == 200
    assert not reader.at_eof()


async def _ask_for_ever(writer: asyncio.StreamWriter, request: bytes) -> None:
    while True:
        writer.write(request)
        await writer.drain()
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /version HTTP/1.1\r\n" + HOST + b"X-Long: " + b"x" * READ_AT_ONCE + b"\r\n\r\n",
        b"GET /version HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: y\r\n" % n for n in range(READ_AT_ONCE // 8)) + b"\r\n",
        b"GET /" + b"x" * READ_AT_ONCE + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /version HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
        b"GET /version HTTP/1.1\r\n" + HOST + b"No colon\r\n\r\n",
        b"GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /version HTTP/1.1\r\n\r\n",
        b"GET /v\xc3\xa9rsion HTTP/1.1\r\n" + HOST + b"\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        POST + b"Content-Length: 1e3\r\n\r\n",
        POST + b"Transfer-Encoding: gzip\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x00" * 100 + b"\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
    ],
)
async def test_what_is_no_request_of_http(strict: Api, request_: bytes) -> None:
    answer = await _said(strict, request_)
    if answer:  # else it closed, with bytes unread: what it says may be lost then
        assert answer.startswith(b"HTTP/1.1 4"), answer[:300]
    assert b"Traceback" not in answer
    assert (await strict.get("/health/live")).status_code == 200


async def test_one_connection_too_many(strict: Api) -> None:
    """It is told so at once; the others stay."""
    assert (await strict.get("/health/live")).status_code == 200
    held = [await _open(strict) for _ in range(CONNECTIONS)]
    try:
        for _, writer in held:
            writer.write(b"GET /health/live HTTP/1.1\r\n" + HOST + b"\r\n")
        heads = [await reader.readline() for reader, _ in held]
        assert b"HTTP/1.1 503 Service Unavailable\r\n" in heads
    finally:
        for _, writer in held:
            writer.close()
