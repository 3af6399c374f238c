"""A language model that fails, hangs or babbles, in each step: nothing is lost, doubled or made up."""

import json
from collections.abc import Callable

import pytest

from app.container import Container
from app.domain.errors import ProviderRefused, ProviderUnavailable
from app.domain.jobs import Job, JobState, Step
from app.domain.provenance import EXTRACTIVE
from app.providers.guarded import GuardedChat
from tests.integration.support import settled
from tests.integration.writing import (
    DOGS,
    EXTRACTING,
    MUSIC,
    WALKS,
    Held,
    assert_sound,
    faults,
    hang,
    held,
    mend,
    redo,
    say,
    scripted,
    settle,
    work,
    working,
)
from tests.unit.models import ActingChat

FAULTS: dict[str, tuple[Callable[[GuardedChat], None], str]] = {
    "fails": (lambda chat: faults(chat).fail(ProviderUnavailable("the model answers 503")), "provider_unavailable"),
    "refuses": (lambda chat: faults(chat).fail(ProviderRefused("the model answers 400")), "provider_refused"),
    "hangs": (hang, "provider_unavailable"),
    "babbles": (lambda chat: faults(chat).babble(), "unusable_reply"),
}
OUTAGES = ("fails", "hangs")


@pytest.fixture
def chat() -> GuardedChat:
    return scripted()


def strike(chat: GuardedChat, name: str) -> str:
    """Let the model fail in this way; returns the code by which a job shows it."""
    act, code = FAULTS[name]
    act(chat)
    return code


async def assert_complete(built: Container, *contents: str) -> Held:
    """Every message in one episode, every episode admitted and told, all sound."""
    found = await held(built)
    assert sum(one.message_count for one in found.episodes) == len(contents)
    assert all(one.admitted for one in found.episodes)
    assert not any(one.degraded for one in (*found.episodes, *found.themes))
    assert len({one.text for one in found.statements}) == len(found.statements) == len(contents)
    assert not found.failed
    await assert_sound(built)
    return found


async def retry(built: Container, jobs: list[Job]) -> None:
    namespace = (await built.services.namespaces.get("ada")).id
    for job in jobs:
        assert (await built.services.work.retry("ada", job.id)).state is JobState.QUEUED
    await settled(built, namespace, [job.id for job in jobs])


@pytest.mark.parametrize("fault", FAULTS)
async def test_borders_do_not_wait_for_the_model(built: Container, chat: GuardedChat, fault: str) -> None:
    strike(chat, fault)
    await say(built, *DOGS, *MUSIC)
    async with working(built, chat):
        await settle(built)
        found = await held(built)
        [segment] = found.of(Step.SEGMENT)
        assert segment.state is JobState.SUCCEEDED
        assert segment.result == {"episodes": len(found.episodes), "buffered": 0, "boundary_fallbacks": 1}
        assert all(one.degraded and one.made_by == EXTRACTIVE for one in found.episodes)


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_admission_that_failed_says_why_and_is_made_good_once(
    built: Container, chat: GuardedChat, fault: str
) -> None:
    code = strike(chat, fault)
    await say(built, *DOGS, *MUSIC)
    async with working(built, chat):
        await settle(built)
        found = await held(built)
        assert {job.kind for job in found.failed} == {Step.ADMIT}
        assert {job.error["code"] for job in found.failed} == {code}
        assert all(job.usage["statements"]["calls"] >= 1 for job in found.failed)
        assert (found.statements, any(one.admitted for one in found.episodes)) == ([], False), "nothing stands in"
        assert await redo(built, chat) == 0, "only a retry helps"

        mend(chat)
        await retry(built, found.failed)
        await settle(built)
    await assert_complete(built, *DOGS, *MUSIC)


@pytest.mark.parametrize("fault", FAULTS)
async def test_an_episode_that_could_not_be_told_is_told_later(built: Container, chat: GuardedChat, fault: str) -> None:
    code = strike(chat, fault)
    await say(built, *DOGS)
    async with working(built, chat, EXTRACTING):
        await settle(built)
        found = await held(built)
        assert {job.error["code"] for job in found.failed if job.kind is Step.NARRATE} == {code}
        [episode] = found.episodes
        assert (episode.admitted, episode.degraded, episode.made_by) == (True, True, EXTRACTIVE)
        assert len(found.statements) == len(DOGS), "statements did not wait"
        if fault in OUTAGES:
            assert await redo(built, chat) == 0, "the model is not back yet"

        mend(chat)
        assert bool(await redo(built, chat)) is (fault in OUTAGES), "the same would come of what it refused"
        if fault not in OUTAGES:
            await retry(built, found.failed)
        await settle(built)
    found = await held(built)
    assert not any(one.degraded for one in (*found.episodes, *found.themes))
    assert found.episodes[0].made_by.prompt == "episode/1"
    assert await redo(built, chat) == 0
    await assert_sound(built)


@pytest.mark.parametrize("fault", FAULTS)
async def test_labels_stand_in_until_the_model_is_back(built: Container, chat: GuardedChat, fault: str) -> None:
    useless = {"title": "Walks", "narrative": "Ada walks her dogs.", "themes": [{"theme": 9}]}
    await say(built, *WALKS)
    await work(built, ActingChat(json.dumps(useless)), EXTRACTING)
    [label] = (await held(built)).failed
    code = strike(chat, fault)
    async with working(built, chat, EXTRACTING):
        await retry(built, [label])
        found = await held(built)
        assert [(job.kind, job.error["code"]) for job in found.failed] == [(Step.LABEL, code)]
        [theme] = [theme for theme in found.themes if theme.degraded]
        assert (bool(theme.label), theme.made_by) == (True, EXTRACTIVE)

        mend(chat)
        assert await redo(built, chat) == (1 if fault in OUTAGES else 0)
        if fault not in OUTAGES:
            await retry(built, found.failed)
        await settle(built)
    found = await held(built)
    assert [theme.made_by.prompt for theme in found.themes if theme.size >= 3] == ["label/1"]
    assert not any(theme.degraded for theme in found.themes)
    await assert_sound(built)


async def test_outages_are_forgiven_a_few_times_only(built: Container, chat: GuardedChat) -> None:
    await say(built, *DOGS)
    rounds = 0
    async with working(built, chat, EXTRACTING):
        faults(chat).fail(ProviderUnavailable("down"))
        await settle(built)
        while True:
            mend(chat)
            if not await redo(built, chat):
                break
            faults(chat).fail(ProviderUnavailable("down again"))
            await settle(built)
            rounds += 1
            assert rounds < 10
    assert 2 <= rounds <= 4


async def test_admission_run_twice_asks_once_and_writes_once(built: Container, chat: GuardedChat) -> None:
    await say(built, *DOGS)
    await work(built, chat)
    before = await held(built)
    [admit] = before.of(Step.ADMIT)
    async with working(built, chat):
        async with built.storage.write("ada") as unit:
            await unit.jobs.enqueue(Step.ADMIT, admit.key, {}, admit.created_at)
            await unit.commit()
        await settle(built)
    after = await held(built)
    assert (after.statements, after.episodes) == (before.statements, before.episodes)
    assert after.of(Step.ADMIT)[-1].result == {"reason": "already admitted"}
