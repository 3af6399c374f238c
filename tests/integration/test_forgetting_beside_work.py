"""Erasing while background work thinks about what is erased: nothing of it comes back, and the rest gets done."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest
from sqlalchemy import delete

from app.container import Container, Modes, utc_now
from app.domain.chat import Prompt, Reply, Stage
from app.domain.jobs import JobState, Step
from app.domain.namespaces import What
from app.providers.guarded import GuardedChat
from app.providers.protocols import Heard
from app.providers.scripted_chat import ScriptedChat
from app.services.forgetting import begin
from app.services.retention import RECEIPTS_KEPT, Retention
from app.services.transfer.exporting import Wanted
from app.settings import Settings
from app.storage.tables import jobs
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT
from tests.integration.forgetting import findings, sightings
from tests.integration.support import Interrupting, claim, drain, kinds, namespace_id, post, rows
from tests.integration.writing import DIRECT, DOGS, EXTRACTING, MUSIC, QUICK, WALKS, held, say, settle, work, working

SAID = ["My zorblat chews every slipper.", *DOGS[:4], *DOGS[5:]]
Act = Callable[[], Awaitable[object]]


class Thinking(ScriptedChat):
    """Something happens while it thinks about the first prompt of a stage that holds a word; then it answers all the
    same, from what it was shown."""

    def __init__(self, stage: Stage, word: str, act: Act) -> None:
        self._stage, self._word, self._act = stage, word, act
        self.acted = False

    async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
        if prompt.stage is self._stage and self._word in prompt.user and not self.acted:
            self.acted = True
            await self._act()
        return await super().reply(prompt, heard)


async def erase(built: Container) -> None:
    """Erase the message that names the zorblat."""
    found = await built.services.memory.messages("ada", "chat", 0, 100)
    [message] = [one.id for one in found if "zorblat" in one.content]
    await built.services.forgetting.message("ada", message)


@pytest.mark.parametrize(
    ("stage", "modes", "said"),
    [
        (Stage.STATEMENTS, DIRECT, SAID),
        (Stage.EPISODE, EXTRACTING, SAID),
        (Stage.LABEL, DIRECT, ["Long walks along the river suit the dogs and the zorblat.", *WALKS]),
        (Stage.BOUNDARY, DIRECT, [*DOGS, "The zorblat sleeps beside the dogs.", *MUSIC]),
    ],
    ids=["statements", "episode", "label", "boundary"],
)
async def test_an_erasure_while_a_model_thinks(
    built: Container, settings: Settings, stage: Stage, modes: Modes, said: list[str]
) -> None:
    thinking = Thinking(stage, "zorblat", lambda: erase(built))
    chat = GuardedChat(thinking, QUICK, Metrics())
    await say(built, *said)
    async with working(built, chat, modes):
        await settle(built)
        await settle(built)  # what the erasure left open
    assert thinking.acted
    assert await sightings(settings, "zorblat") == {}
    found = await held(built)
    assert not found.failed
    assert sum(episode.message_count for episode in found.episodes) == len(said) - 1
    assert len({message for one in found.statements for message in one.messages}) >= len(said) - 2
    assert await findings(settings) == []


async def test_an_erasure_while_vectors_are_made(built: Container, settings: Settings) -> None:
    await say(built, *SAID)
    await built.services.flush.flush("ada", None, 0)
    namespace = await namespace_id(built, "ada")
    attempt = await claim(built, namespace)
    assert attempt is not None
    run = kinds(built, Interrupting(lambda: erase(built), calls=1))
    with pytest.raises(Exception, match="overtaken"):
        await run[attempt.job.kind].run(attempt)
    async with built.storage.write(namespace) as unit:
        await unit.jobs.postpone(attempt, None, utc_now())
        await unit.commit(revises_memory=False)
    await drain(built, "ada")
    assert await sightings(settings, "zorblat") == {}
    assert await findings(settings) == []


async def test_an_erasure_goes_on_where_its_request_broke_off(built: Container, settings: Settings) -> None:
    """Only the first transaction of it came about; then its job is lost, and found missing."""
    await post(built, "ada", *SAID, *(f"Remark {number} about the wuffel." for number in range(120)))
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    now = utc_now()
    async with built.storage.write("ada") as unit:
        conversation = await unit.messages.conversation("chat")
        await unit.erasures.retire_conversation(conversation, now)
        receipt = await begin(unit, What.CONVERSATION, now)
        await unit.commit()
    assert await built.services.memory.conversations("ada", None, 10) == []
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(delete(jobs).where(jobs.c.kind == Step.FORGET))
    assert [one.fault for one in await findings(settings)] == ["erasure_stuck"]
    assert await Retention(built.storage, utc_now).run() == 1
    await drain(built, "ada")
    told = await built.services.forgetting.receipt(receipt.id)
    assert (told.state, (told.erased or {})["messages"]) == ("done", len(SAID) + 120)
    assert await sightings(settings, "zorblat", "wuffel") == {}
    counts = await rows(built)
    assert (counts["conversations"], counts["episodes"], counts["postings"], counts["embeddings"]) == (0, 0, 0, 0)
    assert counts["tombstones"] == len(SAID) + 120
    assert await findings(settings) == []


async def test_old_receipts_go(built: Container) -> None:
    await post(built, "ada", "Something.")
    [message] = await built.services.memory.messages("ada", "chat", 0, 1)
    await built.services.forgetting.message("ada", message.id)
    await drain(built, "ada")

    def after(kept: timedelta) -> Callable[[], datetime]:
        return lambda: utc_now() + kept

    await Retention(built.storage, after(RECEIPTS_KEPT / 2)).run()
    assert (await rows(built))["receipts"] == 1
    await Retention(built.storage, after(RECEIPTS_KEPT)).run()
    assert (await rows(built))["receipts"] == 0


async def test_many_erasures_beside_slow_work_fail_nothing(built: Container, settings: Settings) -> None:
    """However often a step is overtaken, it is no failure: in the end all is done."""
    await say(built, *[f"Remark {number} about the zorblat." for number in range(12)], *DOGS[:4])
    messages = [one.id for one in await built.services.memory.messages("ada", "chat", 0, 12)]

    class Busy(ScriptedChat):
        async def reply(self, prompt: Prompt, heard: Heard | None = None) -> Reply:
            for _ in range(3):
                if messages:
                    await built.services.forgetting.message("ada", messages.pop())
            return await super().reply(prompt, heard)

    await work(built, GuardedChat(Busy(), QUICK, Metrics()))
    found = await held(built)
    assert {job.state for job in found.jobs} == {JobState.SUCCEEDED}
    assert await sightings(settings, "zorblat") == {}
    assert await findings(settings) == []


async def test_writers_have_turns_while_a_reader_keeps_the_log(
    built: Container, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may keep SQLite's log for minutes, and what was erased with it."""
    line = built.storage.writers
    if line is None:
        pytest.skip("SQLite only")
    monkeypatch.setattr("app.storage.unit_of_work.LOG_SECONDS", (0.05, 3600))
    await post(built, "ada", "Something.")
    async with asyncio.timeout(WAIT):
        async with built.storage.read("ada"):
            cleaning = asyncio.create_task(built.storage.clean())
            while not line.locked():
                await asyncio.sleep(0)
            await post(built, "ada", "Something else.")  # between the two tries
        await cleaning


async def test_an_export_that_waits_for_a_writer_keeps_no_log(built: Container) -> None:
    """Or a writer that waits for the log, and the export, wait for each other."""
    if built.storage.writers is None:
        pytest.skip("SQLite only")
    await post(built, "ada", "Something.")
    pool = built.storage.engines.read.pool
    async with asyncio.timeout(WAIT):
        async with built.storage.write("ada"):
            beginning = asyncio.create_task(built.services.exporting.begin("ada", Wanted()))
            while pool.checkedout() < 2:  # the writer, and the export while it looks
                await asyncio.sleep(0)
            while pool.checkedout() > 1:
                await asyncio.sleep(0)
        await (await beginning).close()
