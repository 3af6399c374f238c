"""The stub endpoint steered over HTTP, as tests in other processes do, and as a process of its own."""

import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator

import httpx
import pytest

from app.stub.faults import Fault, Kind, Plan, Unsteady
from tests.integration.stubbed import Stub, stubbed

WAIT = 60  # seconds; the process imports much


@pytest.fixture
async def stub() -> AsyncIterator[Stub]:
    async with stubbed() as running:
        yield running


@pytest.fixture
async def http(stub: Stub) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=stub.url.removesuffix("/v1")) as client:
        yield client


async def _embed(http: httpx.AsyncClient) -> int:
    return (await http.post("/v1/embeddings", json={"model": "any", "input": "one"})).status_code


async def _chat(http: httpx.AsyncClient) -> int:
    body = {"model": "any", "messages": [{"role": "user", "content": "Are you there?"}]}
    return (await http.post("/v1/chat/completions", json=body)).status_code


async def test_faults_befall_one_call_each(http: httpx.AsyncClient) -> None:
    told = await http.post("/faults", json={"faults": ["server_error", "fewer_vectors", "unauthorized"]})
    assert told.json() == {
        "always": [],
        "waiting": ["server_error", "fewer_vectors", "unauthorized"],
        "unsteady": False,
    }
    assert [await _chat(http), await _chat(http), await _chat(http)] == [500, 401, 200]
    assert (await http.get("/faults")).json()["waiting"] == ["fewer_vectors"]
    await _embed(http)
    assert (await http.get("/faults")).json()["waiting"] == []


async def test_faults_that_last_and_end(http: httpx.AsyncClient) -> None:
    await http.post("/faults", json={"faults": ["rate_limited"], "repeat": True, "retry_after": "9"})
    reply = await http.post("/v1/embeddings", json={"model": "any", "input": ["one"]})
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "9")
    assert [await _chat(http), await _embed(http)] == [429, 429]
    assert (await http.delete("/faults")).json() == {"always": [], "waiting": [], "unsteady": False}
    assert [await _chat(http), await _embed(http)] == [200, 200]


async def test_calls_are_counted(stub: Stub, http: httpx.AsyncClient) -> None:
    await _chat(http)
    await _embed(http)
    await stub.chat().capabilities()
    counted = (await http.get("/calls")).json()
    assert {name: counted[name] for name in ("models", "chat", "embeddings")} == {
        "models": 1,
        "chat": 4,
        "embeddings": 1,
    }
    assert counted["stages"] == {"text": 3, "check": 1}
    assert counted["tokens"]["read"] > 0


async def test_an_unknown_fault_is_refused(http: httpx.AsyncClient) -> None:
    assert (await http.post("/faults", json={"faults": ["no_such_thing"]})).status_code == 422


def test_an_unsteady_endpoint_repeats_itself() -> None:
    def drawn(seed: int) -> list[frozenset[Fault]]:
        plan = Plan(unsteady=Unsteady(seed, 0.3))
        return [plan.take(Kind.CHAT) for _ in range(1000)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 250 < sum(map(bool, drawn(1))) < 350


async def test_an_unsteady_endpoint_can_be_asked_for(http: httpx.AsyncClient) -> None:
    told = await http.post("/faults", json={"unsteady": {"seed": 1, "share": 1.0}})
    assert told.json()["unsteady"] is True


def test_as_a_process() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "app.stub", "--port", str(port), "--unsteady", "7", "0.5"]
    with subprocess.Popen(command) as process:
        try:
            assert _answer(f"http://127.0.0.1:{port}/faults")["unsteady"] is True
        finally:
            process.terminate()


def _answer(url: str) -> dict:
    until = time.monotonic() + WAIT
    while True:
        try:
            return httpx.get(url).json()
        except httpx.TransportError:
            assert time.monotonic() < until
            time.sleep(0.1)
