import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages import Draft, Image, Role
from app.evaluation.metrics import (
    auroc,
    bleu_1,
    collapse,
    density,
    mean,
    percentile,
    recall,
    rendered,
    strict_recall,
    word_f1,
)


def test_recall_is_the_share_of_the_evidence_that_was_found() -> None:
    assert recall(("m1", "m2", "m3", "m4"), {"m2", "m4", "m9"}) == 0.5
    assert recall(("m1",), ()) == 0.0
    assert recall(("m1",), ("m1", "m1")) == 1.0


def test_strict_recall_wants_the_words_themselves() -> None:
    context = "Monday, 8 May 2023\nAnn: I moved to\n  Porto.\nBob: Nice!"
    assert strict_recall(["Ann: I moved to Porto.", "Bob: Nice!", "Bob: Where to?"], context) == pytest.approx(2 / 3)


def test_strict_recall_is_not_fooled_by_parts_of_words() -> None:
    assert strict_recall(["Ann: Yes"], "Joann: Yes") == 0.0
    assert strict_recall(["Ann: Yes"], "Ann: Yesterday") == 0.0
    assert strict_recall(["Ann: Yes"], "Ann: Yes") == 1.0


def test_strict_recall_reads_pictures_and_signs_word_for_word() -> None:
    message = Draft(Role.USER, "Look (really)?", speaker="Ann", images=(Image("a  red\nbowl", "pottery"),))
    assert rendered(message) == "Ann: Look (really)? [image: a red bowl; pottery]"
    assert strict_recall([rendered(message)], f"a\n{rendered(message)}\nb") == 1.0


def test_a_message_without_a_speaker_is_rendered_by_its_role() -> None:
    assert rendered(Draft(Role.ASSISTANT, "Hello")) == "Assistant: Hello"


def test_density_is_the_share_of_the_context_that_is_evidence() -> None:
    assert density(["Ann: Hi"], "Ann: Hi\nBob: Bye") == pytest.approx(7 / 16)
    assert density(["Ann: Hi"], "") == 0.0


def test_word_f1_as_the_papers_count_it() -> None:
    # The two worked examples of the published protocol, and its weakness.
    assert word_f1("May 7, 2022", "May 8, 2022") == pytest.approx(2 / 3)
    assert word_f1("2023-05-07", "7 May 2023") == 0.0
    assert word_f1("two", "2") == 0.0
    assert word_f1("A red bowl.", "the RED bowl, red!") == pytest.approx(2 / 3)  # 2 of 3 and 2 of 3
    assert word_f1("", "") == 0.0


def test_percentiles_are_values_that_occurred() -> None:
    values = [50.0, 10.0, 40.0, 20.0, 30.0]
    assert percentile(values, 0.5) == 30.0
    assert percentile(values, 0.95) == 50.0
    assert percentile(values, 0.0) == 10.0
    assert percentile([float(n) for n in range(1, 101)], 0.07) == 7.0
    assert percentile([], 0.5) is None


def test_the_mean_of_nothing_is_nothing() -> None:
    assert mean([]) is None
    assert mean([1.0, 2.0]) == 1.5


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.lists(st.text()))
def test_recall_stays_within_its_range(evidence: list[str], found: list[str]) -> None:
    assert 0.0 <= recall(evidence, found) <= 1.0
    assert recall(evidence, evidence) == 1.0


@given(st.text(), st.text())
def test_word_f1_is_symmetric_and_within_its_range(left: str, right: str) -> None:
    assert word_f1(left, right) == word_f1(right, left)
    assert 0.0 <= word_f1(left, right) <= 1.0


@given(st.text())
def test_collapsing_twice_changes_nothing(text: str) -> None:
    assert collapse(collapse(text)) == collapse(text)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    assert percentile(values, share) in values


@pytest.mark.parametrize(
    ("expected", "given", "bleu"),
    [
        ("May 7, 2022", "May 8, 2022", 0.75),
        ("two", "2", 0.0),
        ("the old red car", "red car", math.exp(1 - 4 / 2)),
        ("car", "car car", 0.5),
        ("", "car", 0.0),
    ],
)
def test_bleu_of_single_words(expected: str, given: str, bleu: float) -> None:
    assert bleu_1(expected, given) == pytest.approx(bleu)


def test_auroc_by_hand() -> None:
    assert auroc([0.1, 0.4], [0.4, 0.9]) == (0.5 + 1 + 1 + 1) / 4
    assert auroc([], [0.4]) is None
