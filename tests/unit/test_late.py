"""Late interaction: words of a question against words of texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from app.domain.late import (
    WIDTH,
    WORDS_KEPT,
    AskedWords,
    asked_words,
    compress,
    content_spans,
    drawn_axes,
    from_bytes,
    matches,
    to_bytes,
)
from app.domain.text import content_words
from app.providers.scripted import ScriptedEmbedder

AXES = drawn_axes(32)
RNG = np.random.default_rng(3)
words_of = arrays.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(32)), elements=st.floats(-2, 2, width=32))


def vectors(count: int) -> np.ndarray:
    return RNG.standard_normal((count, 32)).astype(np.float32)


def asking(text: str, made: np.ndarray) -> AskedWords:
    return asked_words(text, made, AXES)


# Which words -----------------------------------------------------------------------------------------------


def test_stop_words_have_no_vectors() -> None:
    text = "Ann: I have been to the lake, and painted it!"
    assert [text[start:end] for start, end in content_spans(text)] == ["Ann", "lake", "painted"]


@given(st.text())
def test_spans_are_content_words_in_order(text: str) -> None:
    spans = content_spans(text)
    assert all(content_words(text[start:end]) for start, end in spans)
    assert spans == sorted(spans)
    assert len(spans) <= WORDS_KEPT


def test_a_long_text_has_its_first_words() -> None:
    assert len(content_spans("lake " * 1000)) == WORDS_KEPT


def test_names_are_left_out_unless_nothing_else_is_asked() -> None:
    asked = asking("Did Ann Lee paint Ann's lake?", vectors(5))
    assert asked.words == ("Ann", "Lee", "paint", "Ann", "lake")
    without = asked.without(["Ann Lee"])
    assert without.words == ("paint", "lake")
    np.testing.assert_array_equal(without.vectors, asked.vectors[[2, 4]])
    assert asked.without(["Ann Lee", "paint", "Lake"]) is asked


def test_a_model_that_reads_a_beginning_has_its_words() -> None:
    assert asking("lake boat harbour", vectors(2)).words == ("lake", "boat")


# How they are kept -----------------------------------------------------------------------------------------


@given(words_of)
def test_what_is_kept_comes_back(made: np.ndarray) -> None:
    kept = compress(made, AXES)
    assert kept.shape == (len(made), WIDTH)
    assert kept.dtype == np.int8
    np.testing.assert_array_equal(from_bytes(to_bytes(kept)), kept)


def test_half_a_word_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        from_bytes(b"\x00" * (WIDTH + 1))


def test_axes_keep_cosines_nearly() -> None:
    axes = drawn_axes(384)
    made = RNG.standard_normal((60, 384)).astype(np.float32)
    made[30:] = made[:30] + 0.5 * made[30:]  # alike in pairs
    exact = made / np.linalg.norm(made, axis=1, keepdims=True)
    kept = compress(made, axes).astype(np.float32) / 127
    assert np.abs(exact @ exact.T - kept @ kept.T).mean() < 0.11
    assert float((kept[:30] * kept[30:]).sum(axis=1).min()) > 0.75


def test_axes_are_the_same_everywhere() -> None:
    assert drawn_axes(64).directions[0, :8].tolist() == [1, -1, -1, 1, -1, 1, -1, 1]


# How well they match ---------------------------------------------------------------------------------------


def test_each_word_counts_by_its_nearest() -> None:
    made = vectors(3)
    asked = asking("boat harbour", made[:2])
    both, one = compress(made, AXES), compress(made[[0]], AXES)
    crossed = float(asked.vectors[0] @ asked.vectors[1])
    found = matches(asked, [both, one])
    assert found[0] == pytest.approx(1.0, abs=0.02)
    assert found[1] == pytest.approx((1.0 + crossed) / 2, abs=0.02)


@given(words_of, st.lists(words_of, max_size=5))
def test_matches_lie_in_range_and_no_text_changes_another(question: np.ndarray, texts: list[np.ndarray]) -> None:
    asked = asking("one two three four five six boats", question)
    kept = [compress(text, AXES) for text in texts]
    found = matches(asked, kept)
    assert found.shape == (len(texts),)
    assert np.all(np.abs(found) <= 1.0)
    alone = [matches(asked, [text])[0] for text in kept]
    np.testing.assert_allclose(found, alone, atol=1e-6)


@given(words_of, words_of, words_of)
def test_more_words_never_match_worse(question: np.ndarray, text: np.ndarray, more: np.ndarray) -> None:
    asked = asking("one two three four five six boats", question)
    first, longer = compress(text, AXES), compress(np.concatenate([text, more]), AXES)
    if len(first):
        assert matches(asked, [longer])[0] >= matches(asked, [first])[0] - 1e-6


def test_nothing_matches_nothing() -> None:
    empty = compress(np.zeros((0, 32), np.float32), AXES)
    some = compress(vectors(2), AXES)
    assert matches(asking("boats", vectors(1)), [empty, some, empty])[[0, 2]].tolist() == [0.0, 0.0]
    assert matches(asking("", vectors(0)), [some]).tolist() == [0.0]
    assert matches(asking("boats", vectors(1)), []).shape == (0,)


async def test_the_double_meets_the_words_that_it_shares() -> None:
    model = ScriptedEmbedder()
    texts = ["Ann: I painted the old harbour.", "Bob: The weather is fine.", "Ann: The harbour froze."]
    made = await model.embed(texts)
    asked = await model.embed_query("Who painted the harbour?")
    assert made.words is not None
    assert asked.words is not None
    found = matches(asked.words, list(made.words))
    assert found.argsort().tolist()[::-1] == [0, 2, 1]
