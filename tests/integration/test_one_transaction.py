"""What belongs together is written together: nothing of it is there unless all of it is."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Connection, Engine, event, make_url, update

from app.container import Container, build
from app.domain.errors import Discarded
from app.domain.ids import NamespaceId
from app.domain.jobs import Step
from app.domain.messages import Draft, Role
from app.services.memory import Memory
from app.services.once import Once
from app.settings import Settings
from app.storage.tables import messages
from tests.integration.support import (
    Interrupting,
    claim,
    drain,
    kinds,
    post,
    remembered,
    rows,
    succeed,
    waiting,
)

FACTS = ("My sister Ines is allergic to peanuts.", "I moved to Lisbon last week.")
MEMORY = ("messages", "episodes", "statements", "citations", "embeddings", "postings", "themes")


class BrokenBell:
    """Fails where jobs are about to be committed, as a connection does that is lost in that moment."""

    async def before_commit(self, connection: object, namespace: NamespaceId) -> None:
        raise ConnectionError

    def after_commit(self, namespace: NamespaceId) -> None:
        raise AssertionError


def _without_a_bell(built: Container) -> Container:
    broken = Memory(replace(built.storage, doorbell=BrokenBell()))
    return replace(built, services=replace(built.services, memory=broken))


@pytest.mark.parametrize("step", [Step.SEGMENT, Step.ADMIT])
async def test_a_steps_rows_and_the_job_that_follows_are_one_transaction(built: Container, step: Step) -> None:
    attempt = await waiting(built, FACTS, step)
    before, work = await remembered(built), await rows(built)
    with pytest.raises(ConnectionError):
        await kinds(_without_a_bell(built))[step].run(attempt)
    after = await remembered(built)
    made_early = {"embeddings", "namespaces"}  # the messages' vectors have a transaction of their own
    assert {table for table in after if after[table] != before[table]} <= made_early
    assert (await rows(built))["jobs"] == work["jobs"]
    await kinds(built)[step].run(attempt)
    assert (await rows(built))["jobs"] == work["jobs"] + 1


async def test_messages_their_job_and_the_kept_answer_are_one_transaction(built: Container) -> None:
    def cannot(result: object) -> str:
        raise ConnectionError

    once = Once("a key", "0" * 64, 202, cannot)
    with pytest.raises(ConnectionError):
        await built.services.ingest.append_once("ada", "chat", [Draft(Role.USER, FACTS[0])], once)
    assert set((await rows(built)).values()) == {0}


@pytest.mark.parametrize("step", [Step.SEGMENT, Step.ADMIT])
async def test_no_connection_is_held_while_a_model_thinks(built: Container, step: Step) -> None:
    attempt = await waiting(built, FACTS, step)
    pool = built.storage.engines.write.sync_engine.pool
    held: list[int] = []

    async def look() -> None:
        held.append(pool.checkedout())

    await kinds(built, Interrupting(look))[step].run(attempt)
    assert held
    assert set(held) == {0}


async def test_messages_that_left_the_buffer_meanwhile_are_in_no_second_episode(built: Container) -> None:
    await post(built, "ada", "I like tea.", conversation="first")
    attempt = await waiting(built, FACTS, Step.SEGMENT)
    while attempt.job.payload["close_through"] == 1:  # of the other conversation
        await succeed(built, attempt, await kinds(built)[Step.SEGMENT].run(attempt))
        attempt = await claim(built, attempt.namespace)
    before = await remembered(built)
    async with built.storage.read("ada") as unit:
        [other] = await unit.episodes.page(None, 10)

    async def take_one() -> None:
        async with built.storage.engines.write.begin() as connection:
            last = (messages.c.namespace_id == attempt.namespace, messages.c.sequence == 3)
            await connection.execute(update(messages).where(*last).values(episode_id=other.id))

    with pytest.raises(Discarded):
        await kinds(built, Interrupting(take_one, 2))[Step.SEGMENT].run(attempt)
    after = await remembered(built)
    assert after["episodes"] == before["episodes"]
    found = await built.services.namespaces.status("ada")
    assert (found.messages, found.buffered, found.episodes) == (3, 1, 1)


# What it costs ---------------------------------------------------------------------------------------------


@pytest.fixture
def sent(settings: Settings) -> Iterator[list[tuple[str, int]]]:
    """Every statement that reaches this test's database meanwhile, and with how many rows."""
    found: list[tuple[str, int]] = []
    ours = make_url(settings.database_url)

    def note(
        connection: Connection, cursor: object, statement: str, parameters: object, context: object, many: bool
    ) -> None:
        if connection.engine.url == ours:
            found.append((statement, len(parameters) if many and isinstance(parameters, list) else 1))

    event.listen(Engine, "before_cursor_execute", note)
    yield found
    event.remove(Engine, "before_cursor_execute", note)


IN_ALL = re.compile(r"^SELECT count\(\*\) AS \w+ \nFROM jobs \nWHERE jobs\.state")  # every few seconds, whoever posts


async def test_an_episode_costs_the_same_however_much_is_stored(built: Container, sent: list[tuple[str, int]]) -> None:
    costs = []
    for _ in range(8):
        sent.clear()
        attempt = await waiting(built, FACTS, Step.SEGMENT)
        await succeed(built, attempt, await kinds(built)[Step.SEGMENT].run(attempt))
        paid = [count for sql, count in sent if not IN_ALL.search(sql)]
        costs.append((len(paid), sum(paid)))
        await drain(built, "ada")
    assert len(set(costs[1:])) == 1, costs  # the first one also makes the namespace


async def test_a_process_that_starts_reads_no_memory(settings: Settings, sent: list[tuple[str, int]]) -> None:
    async with build(settings) as built:
        await post(built, "ada", *FACTS)
        await drain(built, "ada")
    sent.clear()
    async with build(settings):
        assert sent
        assert [sql for sql, _ in sent if any(f"FROM {table}" in sql for table in MEMORY)] == []
