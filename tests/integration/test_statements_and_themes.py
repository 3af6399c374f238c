"""From episodes to statements to themes, and what makes it safe to run a step twice."""

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest
from sqlalchemy import update

from app.container import Container
from app.domain.errors import Discarded
from app.domain.jobs import Attempt, JobState, Step
from app.domain.levels import Level
from app.storage.tables import namespaces
from tests.conftest import Api
from tests.integration.support import (
    Interrupting,
    assert_whole,
    claim,
    drain,
    kinds,
    namespace_id,
    post,
    remembered,
    rows,
    search,
    succeed,
    waiting,
)

FACTS = (
    "I moved to Lisbon last week.",
    "My sister Ines is allergic to peanuts.",
    "I bought a red bicycle in Porto.",
    "My sister Ines lives in Madrid with two cats.",
    "I am learning to play the cello.",
    "The cello teacher is called Marta.",
)


@pytest.fixture
def api(shared: Api) -> Api:
    """These tests share a service, and look at namespaces of their own."""
    return shared


async def test_every_level_rests_on_the_one_below(api: Api, ada: str) -> None:
    for name in ("one", "two", "three"):
        await api.say(ada, *(f"{fact} That was in conversation {name}." for fact in FACTS), conversation=name)
        await api.settle(ada)
    memory = await assert_whole(api, ada)
    assert len(memory["statements"]) >= len(FACTS)
    assert sum(theme["size"] for theme in memory["themes"]) == len(memory["statements"])
    assert all(theme["label"].strip() for theme in memory["themes"])
    assert all(episode["title"].strip() and episode["narrative"].strip() for episode in memory["episodes"])
    assert {row["made_by"]["model"] for row in memory["statements"] + memory["episodes"]} == {"extractive"}


async def test_many_statements_keep_to_one_theme_each(api: Api, ada: str) -> None:
    topics = ("cello", "garden", "harbour", "bakery", "telescope")
    facts = [f"I keep a {topic} note number{number} about my {topic}." for number in range(24) for topic in topics]
    for start in range(0, len(facts), 40):
        await api.say(ada, *facts[start : start + 40])
        await api.settle(ada)
    memory = await assert_whole(api, ada)
    assert len(memory["statements"]) == len(facts)
    assert len(memory["themes"]) > 1
    assert max(theme["size"] for theme in memory["themes"]) <= 12


async def test_relative_dates_are_resolved_against_the_message(api: Api, ada: str) -> None:
    await api.say(ada, "I went to the support group yesterday.", occurred_at="2023-05-08T13:56:00Z")
    await api.settle(ada)
    [statement] = await api.all(f"/v1/namespaces/{ada}/statements")
    assert "7 May 2023" in statement["text"]
    assert statement["valid_from"] == "2023-05-07T00:00:00Z"
    assert statement["occurred_at"] == "2023-05-08T13:56:00Z"


@pytest.mark.parametrize("greetings", [("ok", "👍"), ("Hi there!", "Hello!", "How are you?"), ("Thanks!", "Bye!")])
async def test_case_3_greetings_give_nothing_and_the_job_says_so(api: Api, ada: str, greetings: Sequence[str]) -> None:
    await api.say(ada, *greetings)
    settled = await api.settle(ada)
    assert settled["jobs"]["failed"] == 0
    assert await api.all(f"/v1/namespaces/{ada}/statements") == []
    assert await api.all(f"/v1/namespaces/{ada}/themes") == []
    admitted = [job for job in await api.all(f"/v1/namespaces/{ada}/jobs") if job["kind"] == "admit"]
    assert admitted
    for job in admitted:
        assert job["state"] == "succeeded"
        assert job["result"]["reason"] == "nothing to remember"
        assert (job["result"]["new"], job["error"]) == (0, None)


async def test_case_26_recalled_text_is_not_new_evidence(api: Api, ada: str) -> None:
    await api.say(ada, "My sister Ines is allergic to peanuts.", "I work as a nurse in Porto.", speaker="Ada")
    await api.settle(ada)
    before = await api.all(f"/v1/namespaces/{ada}/statements", include="superseded")
    assert len(before) == 2
    for number in range(5):
        context = (await search(api, ada, "What is Ines allergic to?"))["context"]
        assert "peanuts" in context
        quoted = "\n".join(f"> {line}" for line in context.splitlines())
        await api.say(ada, context, role="system", conversation=f"system-{number}")
        for form in (context, quoted, f"From memory:\n{context}", f"You told me: “{before[0]['text']}”"):
            await api.say(ada, form, role="assistant", speaker="Botty", conversation=f"said-{number}")
    rules = "You are Botty, an assistant who lives in Velmar, loves tea and has worked at Lumen for 5 years. " * 170
    assert len(rules.split()) > 3000
    await api.say(ada, rules, role="system")
    await api.settle(ada)
    assert await api.all(f"/v1/namespaces/{ada}/statements", include="superseded") == before


async def test_a_fact_told_again_is_reinforced_not_doubled(api: Api, ada: str) -> None:
    for _ in range(2):
        await api.say(ada, "My sister Ines is allergic to peanuts.", speaker="Ada")
        await api.settle(ada)
    memory = await assert_whole(api, ada)
    [statement] = memory["statements"]
    assert statement["support"] == 2
    assert [cited["sequence"] for cited in statement["messages"]] == [1, 2]


async def test_a_theme_holds_the_sum_of_its_members_vectors(built: Container) -> None:
    for number in range(3):
        await post(built, "ada", *(f"{fact} Note {number}." for fact in FACTS))
        await built.services.flush.flush("ada", None, 0)
        await drain(built, "ada")
    async with built.storage.read(await namespace_id(built, "ada")) as unit:
        themes = [theme.id for theme in await unit.themes.page(None, 1000)]
        assert themes
        sums = await unit.themes.sums(themes)
        members = await unit.statements.of_themes(themes)
        for theme in themes:
            ids = [statement for statement, _ in members[theme]]
            vectors = await unit.embeddings.vectors(Level.STATEMENT, ids)
            total = np.sum([vectors[id_] for id_ in ids], axis=0)
            size, stored = sums[theme]
            assert size == len(ids) > 0
            np.testing.assert_allclose(stored, total, atol=1e-4)
            np.testing.assert_allclose(await unit.themes.centroid(theme), total / np.linalg.norm(total), atol=1e-4)


# Twice is once ---------------------------------------------------------------------------------------------

STEPS = (Step.SEGMENT, Step.ADMIT, Step.MAINTAIN)


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_run_twice_gives_the_same_rows(built: Container, step: Step) -> None:
    attempt = await waiting(built, FACTS, step)
    run = kinds(built)[step].run
    before = await remembered(built)
    await run(attempt)
    once, work = await remembered(built), await rows(built)
    assert once != before
    await run(attempt)
    assert await remembered(built) == once
    assert await rows(built) == work, "no second job was queued either"


async def test_an_episode_is_admitted_exactly_once(built: Container) -> None:
    attempt = await waiting(built, FACTS, Step.ADMIT)
    run = kinds(built)[Step.ADMIT].run
    assert (await run(attempt))["new"] == len(FACTS)
    assert "new" not in await run(attempt), "it is not even looked at again"


@pytest.mark.parametrize("step", STEPS)
async def test_a_step_taken_up_by_another_attempt_gives_the_same_rows(built: Container, step: Step) -> None:
    """The process dies after the step's commit and before its job is settled."""
    attempt = await waiting(built, FACTS, step)
    run = kinds(built)
    await run[step].run(attempt)
    once = await remembered(built)
    async with built.storage.write(attempt.namespace) as unit:
        await unit.jobs.postpone(attempt, None, attempt.job.due_at)
        await unit.commit()
    again = await claim(built, attempt.namespace)
    assert again is not None
    assert (again.job.id, again.job.attempts) == (attempt.job.id, 2)
    await succeed(built, again, await run[step].run(again))
    assert await remembered(built) == once
    await drain(built, "ada")
    found = await built.services.namespaces.status("ada")
    assert (found.messages, found.buffered, found.jobs.pending) == (len(FACTS), 0, 0)
    assert found.statements == len(FACTS)


async def _cancel(built: Container, attempt: Attempt) -> None:
    await built.services.work.cancel("ada", attempt.job.id)


async def _erase_something(built: Container, attempt: Attempt) -> None:
    async with built.storage.engines.write.begin() as connection:
        mine = update(namespaces).where(namespaces.c.id == attempt.namespace)
        await connection.execute(mine.values(erasures=namespaces.c.erasures + 1))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("overtake", [_cancel, _erase_something])
async def test_an_overtaken_step_writes_nothing(
    built: Container, step: Step, overtake: Callable[[Container, Attempt], Awaitable[None]]
) -> None:
    attempt = await waiting(built, FACTS, step)
    before = await remembered(built)
    await overtake(built, attempt)
    with pytest.raises(Discarded):
        await kinds(built)[step].run(attempt)
    assert await remembered(built) == before


@pytest.mark.parametrize(("step", "calls"), [(Step.SEGMENT, 1), (Step.SEGMENT, 2), (Step.ADMIT, 1)])
@pytest.mark.parametrize("overtake", [_cancel, _erase_something])
async def test_a_step_overtaken_while_it_thinks_writes_nothing(
    built: Container, step: Step, calls: int, overtake: Callable[[Container, Attempt], Awaitable[None]]
) -> None:
    attempt = await waiting(built, FACTS, step)
    before = await built.services.namespaces.status("ada")
    embedder = Interrupting(lambda: overtake(built, attempt), calls)
    with pytest.raises(Discarded):
        await kinds(built, embedder)[step].run(attempt)
    after = await built.services.namespaces.status("ada")
    assert (after.episodes, after.statements, after.buffered) == (before.episodes, before.statements, before.buffered)


async def test_a_message_leaves_the_buffer_only_with_its_episode(built: Container) -> None:
    attempt = await waiting(built, FACTS, Step.SEGMENT)
    embedder = Interrupting(lambda: _cancel(built, attempt), 2)
    with pytest.raises(Discarded):
        await kinds(built, embedder)[Step.SEGMENT].run(attempt)
    found = await built.services.namespaces.status("ada")
    assert (found.buffered, found.episodes, found.jobs.of(JobState.CANCELLED)) == (len(FACTS), 0, 1)
    await built.services.work.retry("ada", attempt.job.id)
    await drain(built, "ada")
    found = await built.services.namespaces.status("ada")
    assert (found.buffered, found.statements) == (0, len(FACTS))
