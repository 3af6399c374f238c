"""The measures of an answer's words: by hand, and against the libraries of the field."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import modified_precision

from app.evaluation.wording import bleu_1, date_match, rouge_l, squad_f1, word_f1

ASKED_AT = datetime(2023, 9, 1, 12, tzinfo=UTC)  # a Friday
VOCABULARY = ("a", "the", "red", "car", "cars", "two", "2", "may", ",", ".", "7th", "2023-05-07", "Über")
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("expected", "given", "f1", "squad", "bleu", "rouge"),
    [
        # The published protocol's worked examples, and its weakness: nearly right is not, and wholly right is 0.
        ("May 7, 2022", "May 8, 2022", 2 / 3, 2 / 3, 0.75, 2 / 3),
        ("2023-05-07", "7 May 2023", 0.0, 0.0, 0.0, 1 / 3),
        ("two", "2", 0.0, 0.0, 0.0, 0.0),
        ("A red bowl.", "the RED bowl, red!", 2 / 3, 4 / 5, 2 / 6, 4 / 7),
        ("the old red car", "red car", 2 / 3, 4 / 5, 0.36788, 2 / 3),  # BLEU: e^(1 - 4/2), for being short
        ("car", "car car", 1.0, 2 / 3, 0.5, 2 / 3),  # as sets the same
        ("", "car", 0.0, 0.0, 0.0, 0.0),
        ("car", "", 0.0, 0.0, 0.0, 0.0),
        ("", "", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_by_hand(expected: str, given: str, f1: float, squad: float, bleu: float, rouge: float) -> None:
    assert word_f1(expected, given) == pytest.approx(f1)
    assert squad_f1(expected, given) == pytest.approx(squad)
    assert bleu_1(expected, given) == pytest.approx(bleu, abs=1e-5)
    assert rouge_l(expected, given) == pytest.approx(rouge)


@settings(max_examples=50)
@given(WORDS, WORDS)
def test_they_are_shares_and_symmetric_where_they_should_be(left: str, right: str) -> None:
    for measure in (word_f1, squad_f1, bleu_1, rouge_l):
        assert 0.0 <= measure(left, right) <= 1.0
    assert word_f1(left, right) == word_f1(right, left)
    assert squad_f1(left, right) == squad_f1(right, left)


def test_bleu_is_the_modified_precision_of_single_words_where_nothing_is_too_short() -> None:
    expected, given = "the red car stopped", "red cars and the red car"
    precision = modified_precision([expected.split()], given.split(), 1)
    assert bleu_1(expected, given) == pytest.approx(float(precision))


@pytest.mark.parametrize(
    ("expected", "given", "matched"),
    [
        ("2023-05-07", "7 May 2023", True),
        ("7 May 2023", "Sunday, 7 May 2023", True),
        ("May 7, 2022", "May 8, 2022", False),
        ("The week before 9 June 2023", "the week before June 9, 2023", True),
        ("June 2023", "9 June 2023", False),
        ("2022", "in 2022", True),
        ("2022", "2021", False),
        ("7 May 2023", "I do not know", False),
        ("7 May 2023", "7 May 2023 or 8 May 2023", False),
        ("last Monday", "28 August 2023", True),
        ("a red bowl", "7 May 2023", None),
    ],
)
def test_dates_match_in_whatever_form(expected: str, given: str, matched: bool | None) -> None:
    assert date_match(expected, given, ASKED_AT) is matched
