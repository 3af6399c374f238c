"""A re-embedding step by step: new messages, other words, erasures, kills and failures come in between."""

from datetime import timedelta
from uuid import UUID

import pytest

from app.container import Container, build, utc_now
from app.domain.errors import Discarded, NotFound, ProviderUnavailable
from app.domain.findings import Fault
from app.domain.jobs import JobState, Step, Unfinished
from app.domain.late import Embedding
from app.domain.levels import Level
from app.jobs.registry import JobKind, Retry
from app.providers.scripted import ScriptedEmbedder
from app.services.embedding import embedded_texts
from app.services.search import Ask, Strategy
from app.settings import Settings
from tests.conftest import WAIT
from tests.integration.reembed import (
    NEW,
    OLD,
    Interrupted,
    Mirrored,
    attempt_of,
    best,
    dimensions,
    findings,
    finish,
    profile_of,
    service,
    step,
    vectors,
)
from tests.integration.support import (
    claim,
    drain,
    forget,
    namespace_id,
    post,
    rows,
    runner,
    settled,
    succeed,
)


async def test_all_vectors_are_exchanged_at_once_and_read_as_before_until_then(
    both: Container, changing: Settings
) -> None:
    before = await both.services.namespaces.get("ada")
    await both.services.reembedding.order("ada", None)
    doing = service(both)
    steps = 0
    while isinstance(await step(both, doing), Unfinished):
        steps += 1
        assert "Lisbon" in await best(both, "Who moved to Lisbon in 2021?")
        if await profile_of(both) == OLD:
            assert await findings(changing) == []
    assert steps > 5
    after = await both.services.namespaces.get("ada")
    assert (after.embedding_profile, after.next_profile, after.generation) == (NEW, None, before.generation + 1)
    assert after.revision == before.revision + 1, "only the exchange changed what readers see"
    assert await dimensions(both) == {96}
    assert await findings(changing) == []
    assert "Lisbon" in await best(both, "Who moved to Lisbon in 2021?", Strategy.ADAPTIVE)


async def test_when_all_is_changed_the_new_model_is_enough_and_nothing_is_left_to_do(changing: Settings) -> None:
    async with build(changing) as built:
        await built.services.reembedding.order("ada", None)
        await finish(built, service(built))
        before = await vectors(built)
        assert (await built.services.reembedding.order("ada", None)).job is None
        assert await vectors(built) == before
    async with build(changing.model_copy(update={"embedder": "scripted:96", "embedder_next": None})) as built:
        assert "Miso" in await best(built, "What cat was adopted?")


async def test_the_vectors_are_those_that_the_new_model_makes_from_the_start(
    both: Container, settings: Settings
) -> None:
    await both.services.reembedding.order("ada", None)
    await finish(both, service(both))
    ada = await namespace_id(both, "ada")
    fresh = ScriptedEmbedder(96)
    async with both.storage.read(ada) as unit:
        [statement, *_] = await unit.statements.page(None, 1, superseded=True)
        [[stored]] = (await unit.embeddings.parts(Level.STATEMENT, [statement.id])).values()
        assert stored[1] == pytest.approx((await fresh.embed([statement.text])).vectors[0], abs=1e-6)


async def test_a_flush_does_not_wait_for_other_vectors(both: Container) -> None:
    await both.services.flush.flush("ada", None, 0)
    await drain(both, "ada")
    await both.services.reembedding.order("ada", None)
    await step(both, service(both))
    flushed = await both.services.flush.flush("ada", None, WAIT)
    assert (flushed.settled, flushed.jobs.pending) == (True, 0)
    assert (await both.services.namespaces.status("ada")).jobs.pending == 1, "it is there to be looked at"
    found = await both.services.search.search("ada", Ask("boat", max_tokens=200))
    assert (found.pending, found.buffered) == (0, 0)


async def test_new_messages_go_first_and_get_their_new_vectors_too(both: Container, changing: Settings) -> None:
    ordered = await both.services.reembedding.order("ada", None)
    await step(both, service(both))
    await post(both, "ada", "I bought a boat called Nimbus.", conversation="sea")
    await both.services.flush.flush("ada", "sea", 0)
    ada = await namespace_id(both, "ada")
    first = await claim(both, ada)
    assert first is not None
    assert first.job.kind is Step.REEMBED, "it was queued before them"
    await succeed(both, first, Unfinished({}))
    assert ordered.job is not None
    waiting = await drain(both, "ada", until=Step.REEMBED)
    assert waiting is not None
    await succeed(both, waiting, Unfinished({}))
    assert "Nimbus" in await best(both, "What is the boat called?")
    await finish(both, service(both))
    assert await dimensions(both) == {96}
    assert await findings(changing) == []
    assert "Nimbus" in await best(both, "What is the boat called?")


async def test_a_text_that_is_rewritten_meanwhile_gets_the_vector_of_its_new_words(both: Container) -> None:
    ada = await namespace_id(both, "ada")
    await both.services.reembedding.order("ada", None)
    async with both.storage.read(ada) as unit:
        [episode, *_] = await unit.episodes.page(None, 10)
        old = await unit.embeddings.vectors(Level.EPISODE, [episode.id])
    rewritten = False
    while isinstance(await step(both, service(both)), Unfinished):
        async with both.storage.write(ada) as unit:
            if not rewritten and await unit.staging.ready.vectors(Level.EPISODE, [episode.id]):
                rewritten = True
                await unit.repairs.set_episode(episode.id, title="Of boats and harbours")
                await unit.embeddings.replace(Level.EPISODE, {episode.id: [Embedding(old[episode.id])]})
                await unit.commit()
    assert rewritten
    async with both.storage.read(ada) as unit:
        [text] = (await embedded_texts(unit, Level.EPISODE, [episode.id])).values()
        [stored] = (await unit.embeddings.vectors(Level.EPISODE, [episode.id])).values()
    assert text.startswith("Of boats")
    assert stored == pytest.approx((await ScriptedEmbedder(96).embed([text])).vectors[0], abs=1e-6)


async def test_what_is_erased_meanwhile_gets_no_vector(both: Container, changing: Settings) -> None:
    ada = await namespace_id(both, "ada")
    gone: list[UUID] = []

    async def erase() -> None:
        """A message of the open tail goes, while its text is at the model."""
        async with both.storage.write(ada) as unit:
            [message] = [one for one in await unit.messages.buffers() if one.count]
            [last] = await unit.messages.buffer(message.conversation, 10)
            gone.append(last.id)
            await unit.embeddings.remove(Level.MESSAGE, gone)
            await unit.directory.raise_erasures(ada)
            await unit.commit()

    coming = Interrupted(erase)
    await both.services.reembedding.order("ada", None)
    await finish(both, service(both, coming, slice_items=100))
    async with both.storage.read(ada) as unit:
        assert await unit.embeddings.vectors(Level.MESSAGE, gone) == {}
    assert len(coming.embedded) > len(set(coming.embedded)), "the slice was read again"
    assert {finding.fault for finding in await findings(changing)} == {Fault.VECTORS_MISSING}


async def test_a_namespace_that_is_deleted_meanwhile_leaves_nothing(both: Container) -> None:
    async def delete() -> None:
        await both.services.forgetting.retire("ada")

    ada = await namespace_id(both, "ada")
    await both.services.reembedding.order("ada", None)
    attempt = await attempt_of(both)
    with pytest.raises(NotFound):
        await service(both, Interrupted(delete)).reembed(attempt)
    forgetting = await claim(both, ada)
    assert forgetting is not None
    assert forgetting.job.kind is Step.FORGET
    await forget(both, forgetting)
    assert {name: count for name, count in (await rows(both)).items() if count} == {"audit": 2, "receipts": 1}


async def test_who_is_overtaken_writes_nothing(both: Container, changing: Settings) -> None:
    """A worker pauses while its texts are at the model; another one takes the job and ends it."""
    ada = await namespace_id(both, "ada")
    later = utc_now() + timedelta(minutes=10)

    async def overtake() -> None:
        second = await claim(both, ada, later)
        assert second is not None
        await succeed(both, second, await service(both, turn_seconds=60).reembed(second))

    await both.services.reembedding.order("ada", None)
    paused = await attempt_of(both)
    with pytest.raises(Discarded):
        await service(both, Interrupted(overtake)).reembed(paused)
    assert await dimensions(both) == {96}
    assert await findings(changing) == []


async def test_what_a_killed_worker_made_is_not_made_again(both: Container) -> None:
    ada = await namespace_id(both, "ada")
    coming = Interrupted()
    await both.services.reembedding.order("ada", None)
    for minutes in range(10, 70, 10):
        killed = await claim(both, ada, utc_now() + timedelta(minutes=minutes))
        assert killed is not None
        assert isinstance(await service(both, coming).reembed(killed), Unfinished)  # and is never settled
    last = await claim(both, ada, utc_now() + timedelta(minutes=90))
    assert last is not None
    result = await service(both, coming, turn_seconds=60).reembed(last)
    assert not isinstance(result, Unfinished)
    assert len(coming.embedded) == result["done"] == result["total"]
    assert await dimensions(both) == {96}


async def test_a_model_that_fails_leaves_its_cause_and_the_job_is_taken_up_where_it_was(both: Container) -> None:
    ada = await namespace_id(both, "ada")
    assert both.embedders.next is not None
    faults = both.embedders.next.inner.faults
    ordered = await both.services.reembedding.order("ada", None)
    assert ordered.job is not None
    await step(both, service(both))
    faults.fail(ProviderUnavailable("the embedding model does not answer"))
    kind = JobKind(Step.REEMBED, service(both).reembed, Retry(attempts=1))
    async with runner(both, kind):
        [failed] = await settled(both, ada, [ordered.job])
    assert (failed.state, failed.error and failed.error["code"]) == (JobState.FAILED, "provider_unavailable")
    assert failed.result == {"profile": NEW, "done": 2, "total": failed.result["total"]}
    assert "Lisbon" in await best(both, "Who moved to Lisbon in 2021?"), "the old vectors are read"
    faults.mend()
    again = await both.services.reembedding.order("ada", None)
    assert again.job not in (None, ordered.job)
    calls = faults.calls
    await finish(both, service(both, slice_items=1))
    assert faults.calls - calls == failed.result["total"] - 2
    assert await dimensions(both) == {96}


async def test_another_target_is_begun_from_the_start(both: Container, changing: Settings) -> None:
    """The first new model failed for good; a third one is chosen."""
    ordered = await both.services.reembedding.order("ada", None)
    assert ordered.job is not None
    await step(both, service(both))
    await both.services.work.cancel("ada", ordered.job)
    other = service(both, Mirrored())
    await other.order("ada", None)
    await finish(both, other)
    assert await profile_of(both) == "mirrored@1/64"
    assert await dimensions(both) == {64}
    assert await findings(changing) == []
