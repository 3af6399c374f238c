"""`xmemory reembed` against a service that refuses, fails, forgets or stands still."""

from collections import deque
from collections.abc import Callable

import httpx
import pytest

from app.evaluation import reembedding
from app.evaluation.client import Client
from app.evaluation.errors import Refused, ToolError
from app.evaluation.reembedding import _conclude, _Outcome, _Reembedding

NEW = "scripted@1/96"
Reply = Callable[[httpx.Request], httpx.Response]


def problem(status: int, detail: str) -> httpx.Response:
    return httpx.Response(status, json={"title": "No", "detail": detail})


def job(state: str, done: int = 0, error: dict[str, str] | None = None) -> httpx.Response:
    body = {"id": "1", "kind": "reembed", "state": state, "error": error, "result": {"done": done, "total": 8}}
    return httpx.Response(200, json=body)


def service(routes: dict[str, Reply | httpx.Response]) -> Client:
    """A service with these answers by the end of the path; every namespace has eight texts."""
    counts = dict.fromkeys(("buffered", "statements", "themes", "pending_jobs", "failed_jobs", "sequence"), 0)
    status = httpx.Response(200, json={**counts, "messages": 6, "episodes": 2, "usage": {}})

    def reply(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/status"):
            return status
        answer = next(answer for end, answer in routes.items() if request.url.path.endswith(end))
        return answer(request) if callable(answer) else answer

    return Client(httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(reply)))


async def work(routes: dict[str, Reply | httpx.Response], *names: str) -> _Outcome:
    return await _Reembedding(service(routes), NEW, deque(names)).work()


def ordered(job: str | None = "1") -> httpx.Response:
    return httpx.Response(202 if job else 200, json={"job": job})


async def test_a_namespace_that_lacks_nothing_is_kept() -> None:
    assert await work({"/reembed": ordered(None)}, "ada") == _Outcome(kept=1)


async def test_all_are_done_however_many_there_are_and_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "LOOK_SECONDS", 0)
    under_way: set[str] = set()
    most = 0

    def begin(request: httpx.Request) -> httpx.Response:
        nonlocal most
        under_way.add(request.url.path.split("/")[3])
        most = max(most, len(under_way))
        return ordered()

    def look(request: httpx.Request) -> httpx.Response:
        under_way.discard(request.url.path.split("/")[3])
        return job("succeeded", 8)

    assert await work({"/reembed": begin, "/jobs/1": look}, *(f"n{i}" for i in range(30))) == _Outcome(done=30)
    assert most == reembedding.AT_ONCE


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        ({"/reembed": problem(404, "no such namespace")}, _Outcome(gone=1)),
        ({"/reembed": ordered(), "/jobs/1": problem(404, "no such namespace")}, _Outcome(gone=1)),
        ({"/reembed": problem(409, "cancel job 7 first")}, _Outcome(failed={"ada": "No (409): cancel job 7 first"})),
        (
            {"/reembed": ordered(), "/jobs/1": job("failed", 3, {"code": "x", "detail": "it is down"})},
            _Outcome(failed={"ada": "failed: x: it is down"}),
        ),
        ({"/reembed": ordered(), "/jobs/1": job("cancelled", 3)}, _Outcome(failed={"ada": "cancelled"})),
    ],
)
async def test_what_becomes_of_one_namespace_does_not_stop_the_others(
    routes: dict[str, Reply | httpx.Response], expected: _Outcome
) -> None:
    others = {"ben/reembed": ordered(None)}
    expected.kept = 1
    assert await work({**others, **routes}, "ada", "ben") == expected


async def test_what_is_wrong_with_the_request_ends_it() -> None:
    with pytest.raises(Refused, match="must be one of"):
        await work({"/reembed": problem(422, "must be one of two")}, "ada", "ben")


async def test_work_that_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reembedding, "STALLED_SECONDS", 0.05)
    monkeypatch.setattr(reembedding, "LOOK_SECONDS", 0.01)
    with pytest.raises(ToolError, match="Does a worker run"):
        await work({"/reembed": ordered(), "/jobs/1": job("running", 3)}, "ada")


def test_a_failure_is_the_last_word(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ToolError, match="1 namespace failed: run it again to go on where it stopped"):
        _conclude(_Outcome(done=2, gone=1, failed={"ada": "failed: it is down"}), NEW)
    printed = capsys.readouterr()
    assert printed.out == f"2 namespaces re-embedded for {NEW}; 1 deleted meanwhile.\n"
    assert "ada: failed: it is down" in printed.err
