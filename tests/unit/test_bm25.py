import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bm25 import Bm25Policy, formula, rarity

WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8)


def scores(question: str, documents: list[list[str]], policy: Bm25Policy | None = None) -> list[float]:
    counts = [Counter(document) for document in documents]
    containing = {term: sum(term in count for count in counts) for term in question}
    mean = sum(map(len, documents)) / len(documents) if documents else 0.0
    asked = formula(containing, len(documents), mean, policy or Bm25Policy())
    return [asked.score(count, len(document)) for count, document in zip(counts, documents, strict=True)]


def test_a_value_computed_by_hand() -> None:
    # "a" is in 1 of 2 items: ln(1 + 1.5 / 1.5); 2 of it in 4 words, where 3 is the mean.
    found = scores("a", [list("aabc"), list("bc")], Bm25Policy(k1=1.2, b=0.75))
    damping = 1.2 * (0.25 + 0.75 * 4 / 3)
    assert found == pytest.approx([2 * 2.2 / (2 + damping), 0.0])


def test_an_item_of_mean_length_that_says_the_question_once_scores_one() -> None:
    assert scores("ab", [list("abc"), list("def")])[0] == pytest.approx(1.0)


def test_an_unknown_word_lowers_the_share() -> None:
    documents = [list("abc"), list("def")]
    assert scores("abz", documents)[0] < scores("ab", documents)[0]


def test_rare_words_weigh_more_and_none_weighs_nothing_or_less() -> None:
    weights = [rarity(containing, 100) for containing in (0, 1, 50, 100)]
    assert all(rarer > more for rarer, more in itertools.pairwise(weights))
    assert weights[-1] > 0


def test_shorter_items_score_higher_unless_length_is_ignored() -> None:
    documents = [list("ab"), list("abcdef"), list("cd")]
    short, long, _ = scores("a", documents)
    assert short > long
    short, long, _ = scores("a", documents, Bm25Policy(b=0.0))
    assert short == long


def test_no_terms_or_no_items_is_no_score() -> None:
    assert scores("", [list("ab")]) == [0.0]
    assert scores("a", []) == []


@given(WORDS, st.lists(WORDS, min_size=1, max_size=12))
def test_scores_are_never_negative_and_positive_only_where_a_word_is(
    question: list[str], documents: list[list[str]]
) -> None:
    found = scores("".join(question), documents)
    assert all(value >= 0 for value in found)
    assert [bool(value) for value in found] == [bool(set(question) & set(d)) for d in documents]
