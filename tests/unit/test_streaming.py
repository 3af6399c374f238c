"""Server-sent events of an answer that is being made."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, MutableMapping
from typing import Any
from uuid import uuid4

import pytest
from fastapi import Request
from fastapi.responses import StreamingResponse

from app.api.presence import Client
from app.api.streaming import AnswerStream
from app.domain.errors import NotFound, UnusableReply
from app.services.answer import Answered, Listener


class Watched:
    """Counts clients that left."""

    def __init__(self) -> None:
        self.left: list[str] = []

    def abandoned(self, route: str) -> None:
        self.left.append(route)


class Route:
    path_format = "/answer"


def client(watched: Watched, leaving: asyncio.Event) -> Client:
    async def receive() -> dict[str, Any]:
        await leaving.wait()
        return {"type": "http.disconnect"}

    scope = {"type": "http", "state": {"request_id": str(uuid4())}, "route": Route}
    return Client(Request(scope, receive), watched)  # type: ignore[arg-type]


Answering = Callable[[Listener], Coroutine[Any, Any, Answered]]


async def begun(answering: Answering, watched: Watched, leaving: asyncio.Event) -> StreamingResponse:
    stream = AnswerStream(client(watched, leaving))
    return await stream.follow(answering(stream.listener))


async def told(answering: Answering) -> list[tuple[str, dict[str, Any]]]:
    response = await begun(answering, Watched(), asyncio.Event())
    parts = [bytes(part).decode() async for part in response.body_iterator]
    fields = [dict(line.split(": ", 1) for line in part.strip().splitlines()) for part in parts]
    return [(field["event"], json.loads(field["data"])) for field in fields]


async def test_only_what_is_new_is_sent_and_another_try_begins_anew() -> None:
    async def answering(listener: Listener) -> Answered:
        for text in ("Or", "Orsk", "Orsk", "Velmar", "Velmar, not Orsk"):
            listener.said(text)
            await asyncio.sleep(0)
        raise UnusableReply("no more")

    *deltas, (last, problem) = await told(answering)
    assert [(delta["text"], delta["restart"]) for _, delta in deltas] == [
        ("Or", False),
        ("sk", False),
        ("Velmar", True),
        (", not Orsk", False),
    ]
    assert (last, problem["status"], problem["type"]) == ("error", 502, "/problems/unusable_reply")


async def test_an_event_is_two_lines_for_every_reader() -> None:
    said = "one\u2028two\u2029three\u0085four\nfive\r\u001csix"

    async def answering(listener: Listener) -> Answered:
        listener.said(said)
        await asyncio.sleep(0)
        raise UnusableReply("no more")

    response = await begun(answering, Watched(), asyncio.Event())
    first, *_ = [bytes(part) async for part in response.body_iterator]
    event = first.decode()
    assert [line.partition(":")[0] for line in event.splitlines()] == ["event", "data", ""]
    assert json.loads(event.splitlines()[1].removeprefix("data: "))["text"] == said


async def test_an_error_that_nobody_expected_gives_nothing_away(caplog: pytest.LogCaptureFixture) -> None:
    async def answering(listener: Listener) -> Answered:
        listener.said("Orsk")
        await asyncio.sleep(0)
        raise ValueError("the otter sleeps")

    _, (name, problem) = await told(answering)
    assert (name, problem["status"]) == ("error", 500)
    assert "otter" not in json.dumps(problem) + caplog.text


async def test_an_error_before_the_evidence_is_raised() -> None:
    async def answering() -> Answered:
        raise NotFound("no such namespace")

    with pytest.raises(NotFound):
        await AnswerStream(client(Watched(), asyncio.Event())).follow(answering())


@pytest.mark.parametrize("heads", [0, 1], ids=["before its head", "after its head"])
async def test_a_stream_that_is_cut_tells_so_only_where_it_has_begun(heads: int) -> None:
    tried: list[str] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        tried.append(message["type"])
        if len(tried) == heads + 1:
            raise asyncio.CancelledError

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def answering(listener: Listener) -> Answered:
        listener.said("Orsk")
        await asyncio.Event().wait()
        raise AssertionError

    response = await begun(answering, Watched(), asyncio.Event())
    with contextlib.suppress(asyncio.CancelledError):
        await response({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
    # The last one, where there is any, says why it ended.
    assert tried == ["http.response.start", "http.response.body", "http.response.body"][: 1 if heads == 0 else 3]
