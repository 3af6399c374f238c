"""Embeddings over real HTTP: each fault of the endpoint ends in the right vectors or in the right error."""

import asyncio

import numpy as np
import pytest

from app.domain.errors import (
    AppError,
    ConfigurationError,
    ContextOverflow,
    ProviderRefused,
    ProviderUnavailable,
    UnusableReply,
)
from app.domain.text import count_tokens
from app.providers.embeddings_openai import BATCH_TEXTS, BATCH_TOKENS, OpenAIEmbedder, batches
from app.providers.protocols import Profile
from app.providers.scripted import ScriptedEmbedder
from app.stub.faults import Fault
from tests.integration.stubbed import KEY, SECRET, Stub
from tests.integration.support import until

TEXTS = ["the bike is called Rosinante", SECRET, "tea in the morning"]


@pytest.fixture
def embedder(stub: Stub) -> OpenAIEmbedder:
    return stub.embedder()


async def test_vectors(stub: Stub, embedder: OpenAIEmbedder) -> None:
    expected = (await ScriptedEmbedder(16).embed(TEXTS)).vectors
    found = (await embedder.embed(TEXTS)).vectors
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose((await embedder.embed_query(TEXTS[1])).vector, expected[1], atol=1e-6)
    assert (await embedder.embed([])).vectors.shape == (0, 16)
    assert stub.asked == 2
    assert {key: value for key, value in stub.calls.requests[0].items() if key != "input"} == {
        "model": "tiny",
        "dimensions": 16,
        "encoding_format": "float",
    }


@pytest.mark.parametrize(
    ("name", "profile", "asked"),
    [
        ("openai", Profile("text-embedding-3-small", "api", 1536), False),
        ("openai:text-embedding-3-large", Profile("text-embedding-3-large", "api", 3072), False),
        ("openai:text-embedding-3-large@256", Profile("text-embedding-3-large", "api", 256), True),
        ("openai:nomic-embed-text:v1.5@768", Profile("nomic-embed-text:v1.5", "api", 768), True),
    ],
)
async def test_profile(stub: Stub, name: str, profile: Profile, *, asked: bool) -> None:
    embedder = stub.embedder(name)
    assert embedder.profile == profile
    assert (await embedder.embed(TEXTS)).vectors.shape == (3, profile.dimension)
    assert ("dimensions" in stub.calls.requests[0]) is asked


def test_an_unknown_model_needs_its_dimension(stub: Stub) -> None:
    with pytest.raises(ConfigurationError, match="openai:tiny@DIMENSION"):
        stub.embedder("openai:tiny")


async def test_an_endpoint_that_does_not_know_dimensions_is_asked_without_them_from_then_on(stub: Stub) -> None:
    stub.plan.always(Fault.REFUSE_DIMENSIONS)
    embedder = stub.embedder("openai:text-embedding-ada-002@1536")
    assert (await embedder.embed(TEXTS)).vectors.shape == (3, 1536)
    assert stub.asked == 2
    await embedder.embed(TEXTS)
    assert stub.asked == 3
    wrong = stub.embedder("openai:text-embedding-ada-002@1024")
    with pytest.raises(ProviderRefused, match="1536 numbers where 1024"):
        await wrong.embed(TEXTS)


async def test_order_is_that_of_the_texts(stub: Stub, embedder: OpenAIEmbedder) -> None:
    stub.plan.then(Fault.SHUFFLED)
    np.testing.assert_array_equal((await embedder.embed(TEXTS)).vectors, (await embedder.embed(TEXTS)).vectors)


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault.FEWER_VECTORS, UnusableReply, "2 vectors for 3 texts"),
        (Fault.NAN_VECTOR, UnusableReply, "NaN"),
        (Fault.NULL_VECTOR, UnusableReply, "NaN"),
        (Fault.ZERO_VECTOR, UnusableReply, "zero"),
        (Fault.WRONG_DIMENSION, ProviderRefused, "15 numbers where 16 are configured"),
        (Fault.BAD_REQUEST, ProviderRefused, "400 (invalid_value)"),
        (Fault.UNAUTHORIZED, ProviderRefused, "401 (invalid_api_key)"),
        (Fault.NOT_FOUND, ProviderRefused, "404 (model_not_found)"),
        (Fault.RATE_LIMITED, ProviderUnavailable, "429"),
        (Fault.SERVER_ERROR, ProviderUnavailable, "500"),
        (Fault.ERROR_WITH_200, ProviderUnavailable, "502"),
        (Fault.NOT_JSON, ProviderUnavailable, "no JSON"),
        (Fault.HANG, ProviderUnavailable, "in time"),
        (Fault.CUT, ProviderUnavailable, "cut"),
        (Fault.OVERFLOW_OPENAI, ContextOverflow, "too long"),
        (Fault.OVERFLOW_OLLAMA, ContextOverflow, "too long"),
    ],
)
async def test_what_fails_ends_in_the_right_error(
    stub: Stub, embedder: OpenAIEmbedder, fault: Fault, kind: type[AppError], said: str
) -> None:
    stub.plan.always(fault)
    with pytest.raises(kind) as failure:
        await embedder.embed(TEXTS)
    assert said in str(failure.value)
    assert not any(word in str(failure.value) for word in (KEY, SECRET, "otter"))
    assert failure.value.__cause__ is None
    stub.plan.mend()
    assert (await embedder.embed(TEXTS)).vectors.shape == (3, 16)


async def test_a_batch_that_is_too_much_is_halved(stub: Stub, embedder: OpenAIEmbedder) -> None:
    texts = [*TEXTS, "and a fourth"]
    stub.plan.then(Fault.TOO_LARGE, Fault.OVERFLOW_VLLM)
    expected = (await ScriptedEmbedder(16).embed(texts)).vectors
    np.testing.assert_allclose((await embedder.embed(texts)).vectors, expected, atol=1e-6)
    assert [len(body["input"]) for body in stub.calls.requests] == [4, 2, 1, 1, 2]


async def test_many_texts_go_in_batches(stub: Stub, embedder: OpenAIEmbedder) -> None:
    texts = [f"text number {number}" for number in range(2 * BATCH_TEXTS + 1)]
    assert (await embedder.embed(texts)).vectors.shape == (len(texts), 16)
    assert [len(body["input"]) for body in stub.calls.requests] == [BATCH_TEXTS, BATCH_TEXTS, 1]


def test_batches_are_bounded_by_tokens_too() -> None:
    texts = ["word " * 4000, "a", "word " * 14_000, "word " * 20_000, "b", "c"]
    found = list(batches(texts))
    assert [text for batch in found for text in batch] == texts
    assert all(sum(map(count_tokens, batch)) <= BATCH_TOKENS for batch in found if len(batch) > 1)
    assert len(found) == 4


async def test_a_question_does_not_wait_for_a_batch(stub: Stub, embedder: OpenAIEmbedder) -> None:
    stub.plan.then(Fault.SLOW_DRIP)
    stub.plan.seconds = 3600
    batch = asyncio.create_task(embedder.embed(TEXTS))
    await until(lambda: stub.asked)
    await embedder.embed_query("which bike?")
    assert not batch.done()
    batch.cancel()
    await asyncio.wait({batch})
