from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.bm25 import Bm25Policy, Postings, rarity, score

WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8)


def postings(question: str, documents: list[list[str]]) -> Postings:
    asked = list(dict.fromkeys(question))
    counts = [Counter(document) for document in documents]
    rows = [(i, t) for i, count in enumerate(counts) for t, term in enumerate(asked) if count[term]]
    item = np.array([i for i, _ in rows], dtype=np.intp)
    return Postings(
        items=len(documents),
        item=item,
        term=np.array([t for _, t in rows], dtype=np.intp),
        frequency=np.array([counts[i][asked[t]] for i, t in rows], dtype=np.float64),
        length=np.array([len(documents[i]) for i in item], dtype=np.float64),
        containing=np.array([sum(term in count for count in counts) for term in asked], dtype=np.float64),
        documents=len(documents),
        mean_length=float(np.mean([len(document) for document in documents])) if documents else 0.0,
    )


def test_a_value_computed_by_hand() -> None:
    # "a" is in 1 of 2 items: ln(1 + 1.5 / 1.5); 2 of it in 4 words, where 3 is the mean.
    found = score(postings("a", [list("aabc"), list("bc")]), Bm25Policy(k1=1.2, b=0.75))
    damping = 1.2 * (0.25 + 0.75 * 4 / 3)
    assert found == pytest.approx([2 * 2.2 / (2 + damping), 0.0])


def test_an_item_of_mean_length_that_says_the_question_once_scores_one() -> None:
    assert score(postings("ab", [list("abc"), list("def")]))[0] == pytest.approx(1.0)


def test_an_unknown_word_lowers_the_share() -> None:
    documents = [list("abc"), list("def")]
    assert score(postings("abz", documents))[0] < score(postings("ab", documents))[0]


def test_rare_words_weigh_more_and_none_weighs_nothing_or_less() -> None:
    weights = rarity(np.array([0.0, 1.0, 50.0, 100.0]), 100)
    assert np.all(np.diff(weights) < 0)
    assert weights[-1] > 0


def test_shorter_items_score_higher_unless_length_is_ignored() -> None:
    found = postings("a", [list("ab"), list("abcdef"), list("cd")])
    assert score(found)[0] > score(found)[1]
    flat = score(found, Bm25Policy(b=0.0))
    assert flat[0] == flat[1]


def test_no_terms_or_no_items_is_no_score() -> None:
    assert score(postings("", [list("ab")])).tolist() == [0.0]
    assert score(postings("a", [])).tolist() == []


@given(WORDS, st.lists(WORDS, min_size=1, max_size=12))
def test_scores_are_never_negative_and_positive_only_where_a_word_is(
    question: list[str], documents: list[list[str]]
) -> None:
    found = score(postings("".join(question), documents))
    assert np.all(found >= 0)
    assert [bool(value) for value in found] == [bool(set(question) & set(d)) for d in documents]
