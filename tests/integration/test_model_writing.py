"""The write path with a language model: who writes what, in which mode, with which provenance."""

import json

import pytest

from app.container import Container, Modes, utc_now
from app.domain.chat import Stage
from app.domain.episodes import BoundaryReason
from app.domain.jobs import JobState, Step
from app.domain.levels import Level
from app.domain.messages import Draft, Role
from app.domain.modes import AdmitMode
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.segmentation import SegmentPolicy
from app.domain.text import terms
from app.jobs import handlers
from app.prompts import statements
from app.providers.guarded import GuardedChat
from app.services.segmentation import Segmentation, SegmentMode
from tests.conftest import WAIT
from tests.integration.support import kinds, runner
from tests.integration.writing import (
    DIRECT,
    DOGS,
    EXTRACTING,
    MUSIC,
    WALKS,
    assert_sound,
    calls,
    drafts,
    faults,
    held,
    redo,
    say,
    scripted,
    settle,
    work,
    working,
)
from tests.unit.models import ActingChat


@pytest.fixture
def chat() -> GuardedChat:
    return scripted()


async def test_in_direct_mode_one_call_an_episode_writes_all(built: Container, chat: GuardedChat) -> None:
    await say(built, *DOGS, *MUSIC)
    await work(built, chat)
    found = await held(built)
    assert [(one.message_count, one.boundary_reason) for one in found.episodes] == [
        (len(DOGS), BoundaryReason.TOPIC),
        (len(MUSIC), BoundaryReason.FLUSH),
    ]
    by_model = MadeBy("scripted", "1", f"statements/{statements.VERSION}")
    assert {(one.degraded, one.made_by) for one in found.episodes} == {(False, by_model)}
    assert {(one.origin, one.made_by) for one in found.statements} == {("model", by_model)}
    assert len(found.statements) == len(DOGS) + len(MUSIC)
    assert calls(found) == {"boundary": 1, "statements": 2}
    assert not found.failed
    await assert_sound(built)


@pytest.mark.parametrize("mode", [AdmitMode.OFF, AdmitMode.EXTRACTIVE])
async def test_where_admission_asks_no_model_a_job_tells_the_episode(
    built: Container, chat: GuardedChat, mode: AdmitMode
) -> None:
    await say(built, *DOGS)
    await work(built, chat, Modes(mode, borders=True))
    found = await held(built)
    [episode] = found.episodes
    assert (episode.admitted, episode.degraded, episode.made_by) == (True, False, MadeBy("scripted", "1", "episode/1"))
    assert {one.made_by for one in found.statements} == (set() if mode is AdmitMode.OFF else {EXTRACTIVE})
    assert calls(found).keys() - {"label"} == {"episode"}
    assert await redo(built, chat) == 0
    await assert_sound(built)


async def test_in_predict_mode_what_was_expected_is_not_noted_again(built: Container, chat: GuardedChat) -> None:
    predict = Modes(AdmitMode.PREDICT, borders=True)
    await say(built, *DOGS)
    await work(built, chat, predict)
    assert "predict" not in calls(await held(built)), "nothing is known yet"
    await say(built, *DOGS[:4], *MUSIC, day=1)
    await work(built, chat, predict)
    found = await held(built)
    assert calls(found)["predict"] == len(found.episodes) - 1
    assert found.statements[-1].made_by == MadeBy("scripted", "1", f"predict/1 statements/{statements.VERSION}")
    await assert_sound(built)


async def test_signals_alone_can_decide_the_borders(built: Container, chat: GuardedChat) -> None:
    await say(built, *DOGS, *MUSIC)
    await work(built, chat, Modes(AdmitMode.DIRECT, borders=False))
    assert "boundary" not in calls(await held(built))


async def test_borders_do_not_depend_on_how_messages_came_in(built: Container, chat: GuardedChat) -> None:
    talk = drafts(*DOGS, *MUSIC, *reversed(DOGS), *reversed(MUSIC), *DOGS)
    cuts = []
    async with working(built, chat):
        for step in (len(talk), 7, 1):
            for start in range(0, len(talk), step):
                await built.services.ingest.append(f"by-{step}", "chat", talk[start : start + step])
            assert (await built.services.flush.flush(f"by-{step}", None, WAIT)).settled
            async with built.storage.read(f"by-{step}") as unit:
                episodes = await unit.episodes.page(None, 50)
            cuts.append([(one.first_sequence, one.boundary_reason) for one in episodes])
    assert cuts[0] == cuts[1] == cuts[2]
    assert len(cuts[0]) > 2


async def test_a_long_buffer_is_cut_by_several_jobs_each_with_its_budget(built: Container, chat: GuardedChat) -> None:
    await say(built, *(DOGS + MUSIC) * 18)
    mode = SegmentMode(chat, retold=True, asked_in_a_job=2)
    impatient = Segmentation(built.storage, built.embedders, utc_now, SegmentPolicy(), mode, turn_seconds=0.0)
    cutting = handlers.segment(impatient)
    async with runner(built, *{**kinds(built, chat=chat), Step.SEGMENT: cutting}.values()):
        await settle(built)
    found = await held(built)
    assert sum(one.message_count for one in found.episodes) == 18 * len(DOGS + MUSIC)
    assert len(found.of(Step.SEGMENT)) > 2
    assert {job.state for job in found.jobs} == {JobState.SUCCEEDED}
    await assert_sound(built)


# What is stored --------------------------------------------------------------------------------------------


def account(**values: object) -> str:
    told = {"title": "Kennel club", "narrative": "Ada told of her dogs at length.", "statements": []}
    return json.dumps(told | values)


async def test_a_told_episode_is_found_by_its_new_words(built: Container) -> None:
    await say(built, *DOGS)
    await work(built, ActingChat(account()))
    [episode] = (await held(built)).episodes
    assert (episode.title, episode.narrative) == ("Kennel club", "Ada told of her dogs at length.")
    async with built.storage.read("ada") as unit:
        for word, there in (("kennel", True), ("slipper", False)):
            assert bool(await unit.words.holding(Level.EPISODE, terms(word))) is there
    await assert_sound(built)


async def test_nothing_to_remember_is_no_failure_and_says_so(built: Container) -> None:
    await say(built, "ok", "👍")
    await work(built, ActingChat(account()))
    [job] = (await held(built)).of(Step.ADMIT)
    assert job.result == {"new": 0, "reinforced": 0, "refused": {}, "reason": "nothing to remember"}


async def test_what_the_messages_do_not_say_is_refused_and_counted(built: Container) -> None:
    statements = [
        {"text": "Ada adopted two dogs from a shelter.", "messages": [1]},
        {"text": "Alice works as a software engineer at Google.", "messages": [1]},  # learnt by heart
        {"text": "Ada has 3 dogs.", "messages": [1]},
        {"text": "Ada pays 80 francs a month for dog food.", "messages": [8, 99]},
        {"text": "Ada's dogs are healthy.", "messages": [4], "updates": "s7"},
        {"text": "Ada's dogs are healthy.", "messages": "all"},
    ]
    await say(built, *DOGS)
    await work(built, ActingChat(account(statements=statements)))
    found = await held(built)
    [job] = found.of(Step.ADMIT)
    assert [one.text for one in found.statements] == ["Ada adopted two dogs from a shelter."]
    assert job.result["refused"] == {
        "not_supported": 2,
        "unknown_message": 1,
        "unknown_statement": 1,
        "malformed": 1,
    }


async def test_an_update_ends_the_statement_it_replaces(built: Container, chat: GuardedChat) -> None:
    for day, francs in ((0, 30), (300, 40)):
        await say(built, *MUSIC[:2], f"Violin lessons cost {francs} francs an hour.", day=day)
        await work(built, chat)
    found = await held(built)
    [old] = [one for one in found.statements if "30 francs" in one.text]
    [new] = [one for one in found.statements if "40 francs" in one.text]
    assert (old.superseded_by, old.valid_to, old.theme) == (new.id, new.occurred_at, None)
    assert (new.superseded_by, new.theme in {theme.id for theme in found.themes}) == (None, True)
    assert sum(job.result.get("superseded", 0) for job in found.of(Step.ADMIT)) == 1
    repeated = [one for one in found.statements if "new violin teacher" in one.text]
    assert [one.support for one in repeated] == [2], "said again, it is reinforced"
    await assert_sound(built)


async def test_an_update_of_another_matter_is_not_believed(built: Container, chat: GuardedChat) -> None:
    await say(built, DOGS[0])
    await work(built, chat)
    statements = [{"text": "Ada says the orchestra rehearses Mahler.", "messages": [1], "updates": "s1"}]
    await say(built, MUSIC[4], day=1)
    await work(built, ActingChat(account(statements=statements)))
    assert [one.superseded_by for one in (await held(built)).statements] == [None, None]


async def test_instructions_and_tools_are_not_asked_about(built: Container, chat: GuardedChat) -> None:
    told = [Draft(role, text) for role, text in ((Role.SYSTEM, "You are Botty."), (Role.TOOL, "Order 17 was sent."))]
    await built.services.ingest.append("ada", "chat", told)
    await work(built, chat)
    found = await held(built)
    assert (calls(found), found.statements) == ({}, [])
    assert [(one.degraded, one.made_by) for one in found.episodes] == [(False, EXTRACTIVE)]


async def test_a_message_longer_than_the_window_is_read_in_parts(built: Container, chat: GuardedChat) -> None:
    filler = "The weather report was read aloud on the radio again this morning. "
    await say(built, "Hello there!", filler * 1500 + "The safe code word is heron. " + filler * 1500, "Bye now.")
    await work(built, chat, DIRECT)
    found = await held(built)
    assert not found.failed
    assert any("heron" in one.text for one in found.statements)
    assert calls(found)["statements"] > 5
    assert max(len(one.narrative) for one in found.episodes) <= 1200
    await assert_sound(built)


# Labels ----------------------------------------------------------------------------------------------------


async def test_large_themes_are_named_once_all_else_is_done(built: Container, chat: GuardedChat) -> None:
    await say(built, *WALKS, *MUSIC)
    await work(built, chat, EXTRACTING)
    found = await held(built)
    large = [theme for theme in found.themes if theme.size >= 3]
    assert [(one.degraded, one.made_by) for one in large] == [(False, MadeBy("scripted", "1", "label/1"))]
    assert large[0].summary
    assert {(one.degraded, one.made_by) for one in found.themes if one.size < 3} == {(False, EXTRACTIVE)}
    assert [job.result for job in found.of(Step.LABEL)] == [{"labelled": 1}]


async def test_a_name_that_says_nothing_of_its_theme_is_asked_for_again_and_then_shown(built: Container) -> None:
    acting = ActingChat(account(themes=[{"theme": 1, "label": "Nebula", "summary": "Made up."}]))
    await say(built, *WALKS)
    await work(built, acting, Modes(AdmitMode.EXTRACTIVE, borders=False))
    found = await held(built)
    [failed] = [job for job in found.failed if job.kind is Step.LABEL]
    assert failed.error["code"] == "unusable_reply"
    assert [one.stage for one in acting.prompts].count(Stage.LABEL) == 2 * failed.attempts
    [theme] = [theme for theme in found.themes if theme.size >= 3]
    assert (theme.degraded, theme.made_by) == (True, EXTRACTIVE)


async def test_a_theme_that_changed_meanwhile_keeps_its_stand_in_until_it_is_asked_about_again(
    built: Container,
) -> None:
    """A client corrects a member while the model thinks of a label for what was there before."""
    said = account(themes=[{"theme": 1, "label": "Dogs by the river", "summary": "Walks that suit dogs."}])

    async def correct_first() -> str:
        [statement, *_] = (await held(built)).statements
        await built.services.editing.correct("ada", statement.id, f"{statement.text[:-1]} or so.")
        return said

    await say(built, *WALKS)
    await work(built, ActingChat(account(), correct_first, said), Modes(AdmitMode.EXTRACTIVE, borders=False))
    found = await held(built)
    assert sorted(job.result["labelled"] for job in found.of(Step.LABEL)) == [0, 1]
    [theme] = [theme for theme in found.themes if theme.size >= 3]
    assert (theme.degraded, theme.label) == (False, "Dogs by the river")
    await assert_sound(built)


async def test_themes_are_not_named_again_each_time_they_grow(built: Container, chat: GuardedChat) -> None:
    for day, name in enumerate(("Rex", "Luna", "Bella", "Max", "Kira", "Bruno")):
        await say(built, f"Long walks along the river suit the dogs and {name}.", day=day)
        await work(built, chat, EXTRACTING)
    found = await held(built)
    [theme] = found.themes
    assert (theme.size, theme.degraded) == (6, False)
    assert calls(found)["label"] == 2, "once with three statements, once with six"
    assert faults(chat).calls > 2
