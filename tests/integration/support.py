"""What the integration tests share: problems, waiting, driving jobs by hand, looking at rows."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import func, select

from app.container import Container, Modes, build_worker, job_kinds, utc_now
from app.domain.ids import JobId, NamespaceId
from app.domain.jobs import Attempt, Job, Step, Unfinished
from app.domain.messages import Draft, Role
from app.domain.modes import AdmitMode
from app.domain.segmentation import SegmentPolicy
from app.jobs.registry import JobKind
from app.jobs.runner import Runner, RunnerPolicy, Worker
from app.main import create_app
from app.providers.embedders import Embedders
from app.providers.protocols import ChatModel, Embedded, Embedder
from app.providers.scripted import ScriptedEmbedder
from app.services.ingest import Ingested
from app.settings import Settings
from app.storage.tables import metadata as schema
from app.storage.unit_of_work import Clock
from tests.conftest import WAIT, Api

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
NO_MEMORY = {"audit", "jobs", "keys", "namespaces", "receipts", "usage"}  # how work went, not what is remembered

FOUND = {
    "query",
    "strategy",
    "items",
    "context",
    "tokens",
    "tokenizer",
    "sequence",
    "pending",
    "buffered",
    "gate",
    "trace",
}
"""The fields of a search's reply."""


def messages_path(namespace: str, conversation: str = "chat") -> str:
    return f"/v1/namespaces/{namespace}/conversations/{conversation}/messages"


def route(namespace: str, name: str) -> str:
    return f"/v1/namespaces/{namespace}/{name}"


def later(minutes: float) -> str:
    return (NOON + timedelta(minutes=minutes)).isoformat()


def assert_problem(reply: httpx.Response, status: int, *pointers: str) -> dict[str, Any]:
    """An RFC 9457 document that names these fields, quotes the request's id and gives nothing away."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    document = reply.json()
    assert {"type", "title", "status", "detail", "instance"} <= document.keys()
    assert document["status"] == status
    assert document["instance"] == f"urn:uuid:{UUID(reply.headers['x-request-id'])}"
    named = [error["pointer"] for error in document.get("errors", [])]
    assert set(pointers) <= set(named), named
    for leak in ("sqlalchemy", "psycopg", "sqlite3", "SELECT ", "INSERT ", "Traceback"):
        assert leak not in reply.text
    return document


# Over HTTP -------------------------------------------------------------------------------------------------


async def status(api: Api, namespace: str) -> dict[str, Any]:
    reply = await api.get(f"/v1/namespaces/{namespace}/status")
    assert reply.status_code == 200, reply.text
    return reply.json()


async def rest(api: Api, namespace: str) -> dict[str, Any]:
    """Wait, without flushing, until no job is queued or running."""
    async with asyncio.timeout(WAIT):
        while (found := await status(api, namespace))["pending_jobs"]:
            await asyncio.sleep(0.02)
    return found


async def everything(api: Api, namespace: str) -> dict[str, list[dict[str, Any]]]:
    """All messages, episodes, statements and themes of a namespace."""
    base = f"/v1/namespaces/{namespace}"
    names = [conversation["name"] for conversation in await api.all(f"{base}/conversations")]
    messages = [message for name in names for message in await api.all(messages_path(namespace, name))]
    levels = {level: await api.all(f"{base}/{level}") for level in ("episodes", "statements", "themes")}
    return {"messages": messages, **levels}


async def assert_whole(api: Api, namespace: str) -> dict[str, list[dict[str, Any]]]:
    """What must hold of any namespace at rest; returns all of it."""
    memory = await everything(api, namespace)
    messages = {message["id"]: message for message in memory["messages"]}
    assert sorted(m["sequence"] for m in messages.values()) == list(range(1, len(messages) + 1))
    for episode in memory["episodes"]:
        inside = [m for m in messages.values() if m["episode"] == episode["id"]]
        assert len(inside) == episode["message_count"] <= 25
        assert {m["conversation"] for m in inside} == {episode["conversation"]}
        between = [
            m
            for m in messages.values()
            if m["conversation"] == episode["conversation"]
            and episode["first_sequence"] <= m["sequence"] <= episode["last_sequence"]
        ]
        assert [m["id"] for m in between] == [m["id"] for m in inside]
    episodes = {episode["id"] for episode in memory["episodes"]}
    assert {m["episode"] for m in messages.values()} - {None} == episodes
    for statement in memory["statements"]:
        assert statement["messages"]
        assert all(messages[cited["id"]]["sequence"] == cited["sequence"] for cited in statement["messages"])
    for theme in memory["themes"]:
        members = [s["id"] for s in memory["statements"] if s["theme"] == theme["id"]]
        inside = (await api.get(f"/v1/namespaces/{namespace}/themes/{theme['id']}")).json()["statements"]
        assert sorted(members) == sorted(s["id"] for s in inside)
        assert theme["size"] == len(members)
    assert {s["theme"] for s in memory["statements"]} == {theme["id"] for theme in memory["themes"]}
    return memory


async def until(what: Callable[[], object]) -> None:
    """Wait until it is so."""
    async with asyncio.timeout(WAIT):
        while not what():
            await asyncio.sleep(0.01)


async def search(api: Api, namespace: str, query: str, **body: object) -> dict[str, Any]:
    reply = await api.post(f"/v1/namespaces/{namespace}/search", json={"query": query, **body})
    assert reply.status_code == 200, reply.text
    return reply.json()


# Without HTTP ----------------------------------------------------------------------------------------------


async def post(built: Container, namespace: str, *contents: str, conversation: str = "chat") -> Ingested:
    drafts = [Draft(Role.USER, content, speaker="Ada", occurred_at=NOON) for content in contents]
    return await built.services.ingest.append(namespace, conversation, drafts)


async def namespace_id(built: Container, name: str) -> NamespaceId:
    return (await built.services.namespaces.get(name)).id


def kinds(
    built: Container, embedder: Embedder | None = None, chat: ChatModel | None = None, modes: Modes | None = None
) -> Mapping[Step, JobKind]:
    """The real handlers, built anew so that a test can run one when it likes."""
    embedders = built.embedders if embedder is None else Embedders(embedder)
    chat = chat or built.chat
    modes = modes or Modes(AdmitMode.DIRECT if chat else AdmitMode.EXTRACTIVE, borders=True)
    return job_kinds(built.services, embedders, chat, utc_now, SegmentPolicy(), modes)


class Interrupting(ScriptedEmbedder):
    """Lets something happen while it embeds the texts of its call number `calls`; of every call, if that is None."""

    def __init__(self, happen: Callable[[], Awaitable[None]], calls: int | None = None) -> None:
        super().__init__()
        self._happen, self._calls = happen, calls

    async def embed(self, texts: Sequence[str]) -> Embedded:
        if self._calls is not None:
            self._calls -= 1
        if not self._calls:
            await self._happen()
        return await super().embed(texts)


async def claim(built: Container, namespace: NamespaceId, now: datetime | None = None) -> Attempt | None:
    now = now or utc_now()
    async with built.storage.write(namespace, also_deleted=True) as unit:
        attempt = await unit.jobs.claim(now, now - timedelta(seconds=60), unit.namespace)
        await unit.commit(revises_memory=False)
    return attempt


async def succeed(built: Container, attempt: Attempt, result: Mapping[str, Any] | Unfinished) -> None:
    async with built.storage.write(attempt.namespace, also_deleted=True) as unit:
        if isinstance(result, Unfinished):
            await unit.jobs.step_back(attempt, result, utc_now() + timedelta(seconds=result.rest))
        else:
            await unit.jobs.succeed(attempt, result, utc_now())
        await unit.commit(revises_memory=False)


async def forget(built: Container, attempt: Attempt) -> None:
    """Run the job to its end: it steps back when its turn is over, which on a slow machine it is soon."""
    while isinstance(await kinds(built)[Step.FORGET].run(attempt), Unfinished):
        pass


async def drain(built: Container, namespace: str, *, until: Step | None = None) -> Attempt | None:
    """Run due jobs one by one; stop at (and return) the first claimed attempt of the kind `until`."""
    found, run = await namespace_id(built, namespace), kinds(built)
    while attempt := await claim(built, found):
        if attempt.job.kind is until:
            return attempt
        await succeed(built, attempt, await run[attempt.job.kind].run(attempt))
    return None


async def waiting(built: Container, contents: Sequence[str], step: Step) -> Attempt:
    """Post messages and close them; the namespace's next job, just claimed, is of this kind."""
    await post(built, "ada", *contents)
    await built.services.flush.flush("ada", None, 0)
    attempt = await drain(built, "ada", until=step)
    assert attempt is not None
    return attempt


async def enqueue(built: Container, namespace: NamespaceId, *keys: str, kind: Step = Step.SEGMENT) -> list[JobId]:
    async with built.storage.write(namespace) as unit:
        made = [await unit.jobs.enqueue(kind, key, {}, utc_now()) for key in keys]
        await unit.commit(revises_memory=False)
    return made


async def job(built: Container, namespace: NamespaceId, id_: JobId) -> Job:
    async with built.storage.read(namespace) as unit:
        return await unit.jobs.get(id_)


@asynccontextmanager
async def runner(built: Container, *given: JobKind, clock: Clock = utc_now, **policy: float) -> AsyncIterator[Worker]:
    """A worker for these kinds (the real ones if none is given) that works while the block lasts."""
    made = Runner(
        built.storage,
        {kind.step: kind for kind in given} or kinds(built),
        built.services.flush.progress,
        clock,
        RunnerPolicy(**{"look_seconds": 0.05, **policy}),
    )
    worker = build_worker(made, built.storage)
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await task


async def settled(built: Container, namespace: NamespaceId, jobs: Sequence[JobId]) -> list[Job]:
    """Wait until these jobs are neither queued nor running."""
    async with asyncio.timeout(WAIT):
        while True:
            found = [await job(built, namespace, id_) for id_ in jobs]
            if all(one.finished_at for one in found):
                return found
            await asyncio.sleep(0.02)


async def rows(built: Container) -> dict[str, int]:
    """How many rows each table has."""
    async with built.storage.engines.read.connect() as connection:
        return {
            table.name: (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for table in schema.sorted_tables
        }


async def remembered(built: Container) -> dict[str, list[str]]:
    """Every row of every table of memory, as text."""
    async with built.storage.engines.read.connect() as connection:
        return {
            table.name: sorted(map(repr, (await connection.execute(select(table))).all()))
            for table in schema.sorted_tables
            if table.name not in NO_MEMORY
        }


@asynccontextmanager
async def over_http(built: Container, settings: Settings) -> AsyncIterator[Api]:
    """A built service's routes, in this process; nothing runs its jobs unless the test does."""
    app = create_app(settings)
    app.state.services = built.services
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with Api(transport=transport, base_url="http://127.0.0.1", timeout=WAIT) as client:
        yield client
