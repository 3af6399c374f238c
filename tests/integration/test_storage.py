"""What must be the same on both databases: times, JSON, vectors, words, and what a rollback leaves."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.exc import StatementError

from app.container import Container, utc_now
from app.domain.bm25 import formula
from app.domain.errors import NotFound
from app.domain.filters import Filter
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.vectors import unit
from app.storage.dialects import sqlite_json_contains
from app.storage.filters import within
from app.storage.repository import new_id
from app.storage.tables import WITHOUT_MEMORY, messages, namespaces
from tests.integration.support import claim, drain, namespace_id, post, rows

# JSON containment ------------------------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 1),
    st.sampled_from([0.0, 1.0, -1.5, 0.1, 1e20, 10**20, 2.0]),
    st.sampled_from(["", "a", "b", "1", "true", "null", "é", "e\u0301", "😀", "'", '"', "\\"]),
)
KEYS = st.sampled_from(["a", "b", "", "é", "a.b", "1"])
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
DOCUMENTS = st.dictionaries(KEYS, JSON, max_size=3)


ALIKE = ((True, 1, 1.0, "1", "true"), (False, 0, 0.0, "", None, "null"))  # scalars that are easily confused


def _part(draw: st.DrawFn, value: object) -> object:
    """Something cut out of `value`, now and then with a scalar that looks alike."""
    if isinstance(value, dict):
        return {key: _part(draw, inner) for key, inner in value.items() if draw(st.booleans())}
    if isinstance(value, list):
        return [_part(draw, inner) for inner in draw(st.permutations(value)) if draw(st.booleans())]
    alike = next((family for family in ALIKE if value in family), (value, None, "a"))
    return draw(st.sampled_from(alike)) if draw(st.booleans()) else value


@st.composite
def pairs(draw: st.DrawFn) -> tuple[object, object]:
    document = draw(DOCUMENTS)
    return document, _part(draw, document) if draw(st.booleans()) else draw(DOCUMENTS)


def test_json_contains_is_what_postgres_calls_contains(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:

        @settings(max_examples=600, deadline=None, database=None)
        @given(pairs())
        def agrees(pair: tuple[object, object]) -> None:
            document, part = map(json.dumps, pair)
            [theirs] = connection.execute("SELECT %s::jsonb @> %s::jsonb", (document, part)).fetchone()
            assert sqlite_json_contains(document, part) is theirs

        agrees()


# Times -----------------------------------------------------------------------------------------------------


async def test_a_naive_time_is_never_stored(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    with pytest.raises(StatementError, match="naive"):
        async with built.storage.engines.write.begin() as connection:
            await connection.execute(update(messages).values(occurred_at=datetime(2026, 3, 2)))  # noqa: DTZ001


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2026, 3, 2, 12, 0, 0, 123456, tzinfo=UTC),
        datetime(2025, 3, 9, 23, 30, tzinfo=timezone(timedelta(hours=-5))),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ],
)
async def test_times_come_back_exact_and_aware(built: Container, moment: datetime) -> None:
    await post(built, "ada", "I like tea.")
    async with built.storage.engines.write.begin() as connection:
        await connection.execute(update(messages).values(occurred_at=moment))
        [found] = (await connection.execute(select(messages.c.occurred_at))).scalars()
    assert found == moment
    assert found.utcoffset() == timedelta(0)


# Vectors and words -----------------------------------------------------------------------------------------


async def test_similarities_are_inner_products_on_both_databases(built: Container) -> None:
    rng = np.random.default_rng(7)
    vectors = unit(rng.standard_normal((40, 64)).astype(np.float32))
    query = unit(rng.standard_normal(64).astype(np.float32))
    ids = [new_id() for _ in range(20)]
    await post(built, "ada", "I like tea.")
    parts = {id_: [Embedding(vector) for vector in vectors[2 * n : 2 * n + 2]] for n, id_ in enumerate(ids)}
    async with built.storage.write(await namespace_id(built, "ada")) as unit_:
        await unit_.embeddings.add(Level.STATEMENT, parts)
        await unit_.commit()
    expected = dict(zip(ids, (vectors @ query).reshape(20, 2).max(axis=1).tolist(), strict=True))
    async with built.storage.read(await namespace_id(built, "ada")) as reading:
        nearest = await reading.embeddings.nearest(Level.STATEMENT, query, 5)
        some = await reading.embeddings.similarities(Level.STATEMENT, query, ids[:3])
        first = await reading.embeddings.vectors(Level.STATEMENT, ids)
    best = sorted(ids, key=lambda id_: -expected[id_])[:5]
    assert list(nearest.similarities) == best
    for id_, closeness in nearest.similarities.items():
        assert closeness == pytest.approx(expected[id_], abs=1e-5)
    values = np.array(list(expected.values()))
    assert nearest.count == 20
    assert (nearest.mean, nearest.deviation) == pytest.approx((values.mean(), values.std()), abs=1e-5)
    assert some == pytest.approx({id_: expected[id_] for id_ in ids[:3]}, abs=1e-5)
    assert all(np.array_equal(first[id_], vectors[2 * n]) for n, id_ in enumerate(ids))


async def test_words_and_their_statistics_are_the_same_on_both_databases(built: Container) -> None:
    ids = [new_id() for _ in range(3)]
    documents = dict(zip(ids, (["tea", "tea", "milk"], ["milk"], ["rome", "é", "茶会"]), strict=True))
    await post(built, "ada", "I like tea.")
    async with built.storage.write(await namespace_id(built, "ada")) as unit_:
        await unit_.words.add(Level.STATEMENT, documents)
        await unit_.commit()
    asked = ["tea", "milk", "É", "茶会", "none"]
    async with built.storage.read(await namespace_id(built, "ada")) as reading:
        formula_ = await reading.words.formula(Level.STATEMENT, asked)
        found = await reading.words.best(Level.STATEMENT, formula_, 2)
        some = await reading.words.scores(Level.STATEMENT, formula_, [ids[0], ids[1], new_id()])
        nothing = await reading.words.best(Level.STATEMENT, await reading.words.formula(Level.STATEMENT, []), 2)
    assert formula_ == formula({"tea": 1, "milk": 2, "É": 0, "茶会": 1, "none": 0}, 3, 7 / 3)
    expected = {id_: formula_.score(Counter(words), len(words)) for id_, words in documents.items()}
    assert list(found.scores) == sorted(ids, key=lambda id_: -expected[id_])[:2]
    assert found.scores == pytest.approx({id_: expected[id_] for id_ in found.scores})
    assert some == pytest.approx({id_: expected[id_] for id_ in ids[:2]})
    values = np.array(list(expected.values()))
    assert (found.mean, found.deviation, found.count) == pytest.approx((values.mean(), values.std(), 3))
    assert (nothing.scores, nothing.mean, nothing.deviation, nothing.count) == ({}, 0.0, 0.0, 3)


async def test_the_best_that_meet_a_condition_come_in_order_and_no_other(built: Container) -> None:
    planted = ("cherry tree", "red rose near the well", "pear tree", "row of old willows", "hazel bush", "white lilac")
    await post(built, "ada", *(f"I planted a {plant} beside the barn." for plant in planted))
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")
    async with built.storage.read(await namespace_id(built, "ada")) as reading:
        current = within(Level.STATEMENT, Filter())
        barn = await reading.words.formula(Level.STATEMENT, ["barn", "tree"])
        query = (await built.embedder.embed_query("a tree beside the barn")).vector
        by_words = [await reading.words.best(Level.STATEMENT, barn, limit, current) for limit in (3, 100)]
        by_vectors = [await reading.embeddings.nearest(Level.STATEMENT, query, limit, current) for limit in (3, 100)]
    for few, every in (
        [found.scores for found in by_words],
        [found.similarities for found in by_vectors],
    ):
        assert len(every) >= 5
        assert list(every) == sorted(every, key=lambda id_, of=every: (-of[id_], id_))
        assert list(few.items()) == list(every.items())[:3]


async def test_the_spread_of_words_is_that_of_all_items_whatever_a_filter_leaves(built: Container) -> None:
    await post(built, "ada", "I like tea.", "Rome was warm.")
    later = within(Level.MESSAGE, Filter(since=datetime(2100, 1, 1, tzinfo=UTC)))
    before = within(Level.MESSAGE, Filter(until=datetime(2100, 1, 1, tzinfo=UTC)))
    async with built.storage.read(await namespace_id(built, "ada")) as reading:
        tea = await reading.words.formula(Level.MESSAGE, ["tea"])
        every = await reading.words.best(Level.MESSAGE, tea, 5)
        assert every == await reading.words.best(Level.MESSAGE, tea, 5, before)
        assert every.mean > 0
        assert not (await reading.words.best(Level.MESSAGE, tea, 5, later)).scores


# Units -----------------------------------------------------------------------------------------------------


async def test_what_is_not_committed_is_not_there(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    before = await rows(built)
    async with built.storage.write(await namespace_id(built, "ada")) as unit_:
        await unit_.words.add(Level.STATEMENT, {new_id(): ["tea"]})
    assert await rows(built) == before


async def test_a_read_unit_sees_one_moment(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    async with built.storage.read(await namespace_id(built, "ada")) as unit_:
        before = await unit_.messages.counts()
        await post(built, "ada", "I live in Rome.")
        assert await unit_.messages.counts() == before
    async with built.storage.read(await namespace_id(built, "ada")) as unit_:
        assert await unit_.messages.counts() == (2, 2)


async def test_a_gone_namespace_cannot_be_opened(built: Container) -> None:
    await post(built, "ada", "I like tea.")
    ada = await namespace_id(built, "ada")
    await built.services.forgetting.retire("ada")
    for opened in (built.storage.read(ada), built.storage.write(ada)):
        with pytest.raises(NotFound):
            async with opened:
                pass
    async with built.storage.write(ada, also_deleted=True) as unit_:
        assert unit_.namespace.erasures == 1


async def test_one_namespace_sees_none_of_anothers_rows(built: Container) -> None:
    for name in ("ada", "bob"):
        await post(built, name, "I like tea.")
    ada, bob = await namespace_id(built, "ada"), await namespace_id(built, "bob")
    attempt = await claim(built, ada)
    assert attempt is not None
    async with built.storage.read(bob) as unit_:
        assert await unit_.messages.counts() == (1, 1)
        tea = await unit_.words.formula(Level.MESSAGE, ["tea"])
        assert len((await unit_.words.best(Level.MESSAGE, tea, 5)).scores) == 1
        with pytest.raises(NotFound):
            await unit_.jobs.get(attempt.job.id)
    async with built.storage.write(bob) as unit_:
        assert not await unit_.jobs.succeed(attempt, {}, utc_now())
        await unit_.commit()


async def test_every_table_of_memory_is_keyed_by_its_namespace() -> None:
    for table in namespaces.metadata.sorted_tables:
        if table not in WITHOUT_MEMORY:
            assert next(iter(table.primary_key.columns)).name == "namespace_id", table.name
