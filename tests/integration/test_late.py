"""Vectors of words: kept with those of texts, read for the best candidates, made later where they are missing."""

from uuid import UUID

import pytest
from sqlalchemy import func, select, update

from app.container import Container, build, build_doctor
from app.domain.findings import Fault
from app.domain.late import WIDTH, content_spans
from app.domain.levels import Level
from app.domain.messages import render
from app.services.search import Ask, Found
from app.settings import Settings
from app.storage.tables import embeddings
from tests.integration.reembed import OLD, finish, remember, service
from tests.integration.support import drain, namespace_id, post


async def _clear(built: Container) -> None:
    """As a version that kept no words left it."""
    async with built.storage.engines.write.connect() as connection:
        await connection.execute(update(embeddings).values(word_vectors=None))
        await connection.commit()


async def _lengths(built: Container) -> dict[str, list[int | None]]:
    """Bytes of the words' vectors, by level."""
    async with built.storage.engines.read.connect() as connection:
        query = select(embeddings.c.level, func.length(embeddings.c.word_vectors)).order_by(embeddings.c.item_id)
        found: dict[str, list[int | None]] = {}
        for level, length in await connection.execute(query):
            found.setdefault(level, []).append(length)
        return found


async def _ask(built: Container, question: str) -> Found:
    return await built.services.search.search("ada", Ask(question, 500, explain=True))


async def test_messages_and_statements_have_words(built: Container) -> None:
    await remember(built)
    async with built.storage.read(await namespace_id(built, "ada")) as unit:
        messages = await unit.doctor.walk(None, 100)
        words = await unit.embeddings.words(Level.MESSAGE, [message.id for message in messages])
        assert not await unit.embeddings.lack_words()
    for message in messages:
        assert words[message.id].shape == (len(content_spans(render(message))), WIDTH)
    lengths = await _lengths(built)
    assert all(lengths["statement"])
    assert set(lengths["episode"]) == {None}


async def test_long_messages_have_the_words_of_all_parts(built: Container) -> None:
    await post(built, "ada", " ".join(f"harbour{number} boat." for number in range(300)))
    await drain(built, "ada")
    async with built.storage.read(await namespace_id(built, "ada")) as unit:
        [message] = await unit.doctor.walk(None, 10)
        parts = (await unit.embeddings.parts(Level.MESSAGE, [message.id]))[message.id]
        words = (await unit.embeddings.words(Level.MESSAGE, [message.id]))[message.id]
    assert len(parts) > 1
    assert len(words) == 601, "the speaker, and two words a sentence"


async def test_what_was_compared_is_told(built: Container) -> None:
    await remember(built)
    found = await _ask(built, "Who moved to Lisbon?")
    compared = found.word_by_word
    assert compared.asked is not None
    assert compared.asked.words == ("moved", "Lisbon")
    assert compared.matches.keys() == compared.words.keys() == compared.speakers.keys()
    best = max(compared.matches, key=lambda one: compared.matches[one])
    texts = {hit.item.id: hit.item.text for hit in found.hits}
    assert "Lisbon" in texts[UUID(str(best))]
    assert compared.matches[best] > 0.9
    assert found.trace is not None
    met = {one["id"]: one["late"] for one in found.trace["candidates"]}
    assert met[str(best)] == pytest.approx(compared.matches[best], abs=1e-3)


async def test_without_words_all_is_found_by_the_other_signals(built: Container) -> None:
    await remember(built)
    await _clear(built)
    found = await _ask(built, "Who moved to Lisbon?")
    assert "Lisbon" in found.hits[0].item.text
    assert found.word_by_word.matches == {}
    assert all(0.0 < hit.item.score < 1.0 for hit in found.hits)


async def test_statements_that_go_take_their_words_along(built: Container) -> None:
    await remember(built)
    id_ = await namespace_id(built, "ada")
    async with built.storage.read(id_) as unit:
        [statement, *_] = await unit.statements.page(None, 10, superseded=False)
        assert await unit.embeddings.words(Level.STATEMENT, [statement.id])
    await built.services.editing.remove("ada", statement.id)
    async with built.storage.read(id_) as unit:
        assert not await unit.embeddings.words(Level.STATEMENT, [statement.id])


async def test_words_are_made_where_they_are_missing(built: Container) -> None:
    await remember(built)
    before = await _lengths(built)
    assert (await built.services.reembedding.order("ada", None)).job is None, "nothing is missing"
    await _clear(built)
    ordered = await built.services.reembedding.order("ada", None)
    assert ordered.job is not None
    assert ordered.embedding_profile == ordered.profile == OLD
    assert (await built.services.reembedding.order("ada", None)).job == ordered.job
    assert "Lisbon" in (await _ask(built, "Who moved to Lisbon?")).hits[0].item.text, "it answers meanwhile"
    done = await finish(built, service(built))
    assert done["done"] == done["total"] > 0
    assert {level: sorted(lengths) for level, lengths in (await _lengths(built)).items() if level != "episode"} == {
        level: sorted(lengths) for level, lengths in before.items() if level != "episode"
    }
    assert (await built.services.reembedding.order("ada", None)).job is None


async def test_torn_words_are_found_and_mended(settings: Settings) -> None:
    async with build(settings) as built:
        await remember(built)
        async with built.storage.engines.write.connect() as connection:
            await connection.exec_driver_sql(
                "UPDATE embeddings SET word_vectors = substr(word_vectors, 1, 65) WHERE level = 'statement'"
            )
            await connection.commit()
    async with build_doctor(settings, repairs=True) as (doctor, repair):
        patients = await doctor.patients()
        findings = await doctor.examine(patients)
        assert {(one.fault, one.where) for one in findings} == {(Fault.VECTORS_WRONG, "statement")}
        await repair.mend(patients[0].id, findings)
        assert not await doctor.examine(patients)
