"""MiniLM itself: the vectors of texts are the model's, those of words stand where the words do."""

from collections.abc import Iterator

import numpy as np
import pytest

from app.domain.late import WIDTH, content_spans, matches
from app.providers.embeddings import LocalEmbedder, minilm

TEXTS = [
    "Ann: I've painted Bob's harbour, and the U.S.A. won 3.5 to 2!",
    "  Bob:   Two spaces   before\nand a line break  ",
    "日本語のテスト です。 Ünïcödé naïve café ﬁne",
    "the of and",
    "",
    "harbour " * 400,  # more than it reads
]


@pytest.fixture(scope="module")
def model() -> Iterator[LocalEmbedder]:
    made = minilm()
    yield made
    made.close()


async def test_every_content_word_that_is_read_has_a_vector(model: LocalEmbedder) -> None:
    made = await model.embed(TEXTS)
    assert made.words is not None
    counts = [len(content_spans(text.strip())) for text in TEXTS]
    assert [len(words) for words in made.words[:5]] == counts[:5]
    assert 200 < len(made.words[5]) < counts[5]
    assert {words.shape[1] for words in made.words} == {WIDTH}
    lengths = np.linalg.norm(np.concatenate(made.words).astype(np.float64), axis=1)
    assert np.all(np.abs(lengths - 127) < 4)


async def test_vectors_are_the_models_own(model: LocalEmbedder) -> None:
    made = await model.embed(TEXTS)
    own = model._model.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(made.vectors, own, atol=1e-5)
    asked = await model.embed_query(TEXTS[0])
    np.testing.assert_allclose(asked.vector, own[0], atol=1e-5)


async def test_a_word_is_met_by_what_means_the_same(model: LocalEmbedder) -> None:
    asked = await model.embed_query("When did Ann adopt a puppy?")
    made = await model.embed(["Bob: We got a dog from the shelter!", "Bob: The train to Leeds was late again."])
    assert asked.words is not None
    assert made.words is not None
    words = asked.words.without(["Ann"])
    assert words.words == ("adopt", "puppy")
    dog, train = matches(words, list(made.words))
    assert dog > train + 0.1
