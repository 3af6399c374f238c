"""Withdrawing what messages carry: what is left is what the other messages would have given."""

import random
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

import pytest

from app.container import Container, build, build_doctor, utc_now
from app.domain.errors import Discarded
from app.domain.ids import MessageId
from app.domain.levels import Level
from app.domain.messages import Draft, Role
from app.domain.records import Statement
from app.domain.wording import take_apart
from app.services.removing import Withdrawn, withdraw
from app.settings import Settings
from tests.integration.support import NOON, claim, drain, kinds, namespace_id, rows, succeed

LIVES = "I live in Velmar."
SAYINGS = (
    *(LIVES, "I live in Nordhagen.", "I live in Quillhaven.", "I moved to Nordhagen."),
    *("I work at Lumen.", "I work at Pell & Sons.", "My rent is 900 francs.", "My rent is 950 francs."),
    *("I have two cats.", "I've got 2 cats.", "I have three cats now.", "I smoke.", "I stopped smoking."),
    *("My sister Ines is allergic to peanuts.", "We adopted a dog called Miso.", "My bike is red."),
)


async def tell(built: Container, *sayings: tuple[str, int], namespace: str = "ada") -> list[MessageId]:
    """Remember sayings one by one, each said that many days after NOON."""
    said = []
    for content, day in sayings:
        drafts = [Draft(Role.USER, content, speaker="Ada", occurred_at=NOON + timedelta(days=day))]
        [message] = (await built.services.ingest.append(namespace, "chat", drafts)).messages
        await built.services.flush.flush(namespace, "chat", 0)
        await drain(built, namespace)
        said.append(message.id)
    return said


async def take_back(built: Container, *messages: MessageId) -> Withdrawn:
    async with built.storage.write("ada") as unit:
        done = await withdraw(unit, messages, utc_now())
        await unit.commit()
    await drain(built, "ada")
    return done


async def stored(built: Container, namespace: str = "ada") -> list[Statement]:
    async with built.storage.read(namespace) as unit:
        return sorted(await unit.statements.page(None, 100, superseded=True), key=lambda one: one.occurred_at)


def current(statements: Collection[Statement]) -> dict[str, int]:
    """Text and support of what holds."""
    return {one.text: one.support for one in statements if one.superseded_by is None}


async def findings(settings: Settings) -> Sequence[Any]:
    async with build_doctor(settings) as (doctor, _):
        return [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]


async def test_a_statement_goes_with_its_last_message_and_leaves_no_row(built: Container, settings: Settings) -> None:
    first, again, other = await tell(built, (LIVES, 0), (LIVES, 3), ("My sister Ines is allergic to peanuts.", 4))
    [kept] = [one for one in await stored(built) if one.support == 2]
    assert await take_back(built, first) == Withdrawn(citations=1, statements=0, themes=0)
    [left] = [one for one in await stored(built) if one.id == kept.id]
    assert (left.messages, left.support, left.occurred_at) == ((again,), 1, NOON + timedelta(days=3))
    assert await findings(settings) == []
    await take_back(built, again)
    assert list(current(await stored(built))) == ["Ada: My sister Ines is allergic to peanuts."]
    assert await findings(settings) == []
    await take_back(built, other)
    counts = await rows(built)
    assert (counts["statements"], counts["citations"], counts["themes"]) == (0, 0, 0)
    async with built.storage.read("ada") as unit:
        assert await unit.embeddings.vectors(Level.STATEMENT, [kept.id]) == {}
        assert await unit.doctor.postings(Level.STATEMENT, [kept.id]) == {}
    assert await take_back(built, other) == Withdrawn(0, 0, 0)
    assert await findings(settings) == []


async def test_what_a_withdrawn_statement_replaced_holds_again(built: Container, settings: Settings) -> None:
    velmar, nordhagen, quillhaven = await tell(
        built, (LIVES, 0), ("I live in Nordhagen.", 10), ("I live in Quillhaven.", 20)
    )
    del velmar
    await take_back(built, nordhagen)
    first, last = await stored(built)
    assert (first.superseded_by, first.valid_to) == (last.id, last.occurred_at)
    done = await take_back(built, quillhaven)
    assert (done.citations, done.statements, done.themes) == (1, 1, 1)
    [only] = await stored(built)
    assert (only.text, only.superseded_by, only.valid_to) == ("Ada: I live in Velmar.", None, None)
    assert only.theme is not None
    assert await findings(settings) == []


async def test_what_was_said_last_is_told_anew(built: Container, settings: Settings) -> None:
    sayings = (("I live in Nordhagen.", 0), (LIVES, 5), ("I live in Nordhagen.", 9))
    _, _, last = await tell(built, *sayings)
    await take_back(built, last)
    assert current(await stored(built)) == {"Ada: I live in Velmar.": 1}
    assert await findings(settings) == []


async def test_what_was_kept_apart_by_a_withdrawn_message_becomes_one(built: Container, settings: Settings) -> None:
    _, between, _ = await tell(built, (LIVES, 0), ("I live in Nordhagen.", 5), (LIVES, 9))
    assert len(await stored(built)) == 3
    await take_back(built, between)
    assert current(await stored(built)) == {"Ada: I live in Velmar.": 2}
    assert len(await stored(built)) == 1
    assert await findings(settings) == []


async def test_the_users_version_goes_with_the_messages_it_rests_on(built: Container, settings: Settings) -> None:
    [said] = await tell(built, (LIVES, 0))
    [old] = await stored(built)
    await built.services.editing.correct("ada", old.id, "Ada: I live in Velmar Old Town.")
    done = await take_back(built, said)
    assert (done.statements, await stored(built)) == (2, [])
    assert await findings(settings) == []


async def test_a_step_that_read_the_messages_does_not_write(built: Container) -> None:
    drafts = [Draft(Role.USER, LIVES, speaker="Ada", occurred_at=NOON)]
    [message] = (await built.services.ingest.append("ada", "chat", drafts)).messages
    await built.services.flush.flush("ada", "chat", 0)
    namespace = await namespace_id(built, "ada")
    run = kinds(built)
    segment = await claim(built, namespace)
    assert segment is not None
    await succeed(built, segment, await run[segment.job.kind].run(segment))
    admit = await claim(built, namespace)
    assert admit is not None
    async with built.storage.write("ada") as unit:
        await withdraw(unit, [message.id], utc_now())
        await unit.commit()
    with pytest.raises(Discarded):
        await run[admit.job.kind].run(admit)


@pytest.mark.parametrize("seed", range(3))
async def test_any_withdrawals_leave_what_the_other_messages_give(settings: Settings, seed: int) -> None:
    rng = random.Random(seed)
    days = rng.sample(range(60), 12)
    sayings = [(rng.choice(SAYINGS), day) for day in days]
    async with build(settings) as built:
        ids = await tell(built, *sayings)
        left = dict(zip(ids, sayings, strict=True))
        while left:
            some = rng.sample(sorted(left), min(len(left), rng.randint(1, 4)))
            await take_back(built, *some)
            for one in some:
                del left[one]
            assert await findings(settings) == [], f"seed {seed}"
        counts = await rows(built)
    assert (counts["statements"], counts["citations"], counts["themes"]) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(4))
async def test_what_is_left_is_as_if_only_the_rest_had_been_said(settings: Settings, seed: int) -> None:
    rng = random.Random(100 + seed)
    sayings = [(rng.choice(SAYINGS), day) for day in sorted(rng.sample(range(60), 10))]
    async with build(settings) as built:
        ids = await tell(built, *sayings)
        gone = set(rng.sample(range(len(ids)), 4))
        await take_back(built, *(ids[place] for place in sorted(gone)))
        await tell(built, *(one for place, one in enumerate(sayings) if place not in gone), namespace="fresh")
        ours, theirs = await stored(built), await stored(built, "fresh")
    assert told(ours) == told(theirs)


def told(statements: Sequence[Statement]) -> set[tuple[object, ...]]:
    """What holds or held, from when until when, on how many messages, and what took its place; in whichever words."""
    said = {one.id: take_apart(one.text, one.occurred_at).essence for one in statements}
    assert len(set(said.values())) >= len([one for one in statements if one.superseded_by is None])
    return {
        (said[one.id], one.occurred_at, one.valid_to, one.superseded_by and said[one.superseded_by], one.support)
        for one in statements
    }
