import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.messages import Draft, Image, Role
from app.evaluation.metrics import (
    Block,
    Cover,
    auroc,
    collapse,
    cover,
    density,
    mean,
    percentile,
    precision,
    recall,
    rendered,
    strict_recall,
    tokens_to_evidence,
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


@given(st.text())
def test_collapsing_twice_changes_nothing(text: str) -> None:
    assert collapse(collapse(text)) == collapse(text)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    assert percentile(values, share) in values


BLOCKS = [
    Block("Ann painted a lake", 10, frozenset({"m1"})),
    Block("They walked", 5, frozenset({"m2"})),
    Block("the red boat on the lake", 20, frozenset({"m2", "m3"})),
]


def test_precision_is_the_share_of_what_was_handed_out() -> None:
    assert precision(("m1", "m2"), ("m1", "m3", "m4", "m3")) == pytest.approx(1 / 3)
    assert precision(("m1",), ()) == 0.0


def test_tokens_until_all_the_evidence_is_in() -> None:
    assert tokens_to_evidence(("m1",), BLOCKS) == 10
    assert tokens_to_evidence(("m1", "m2"), BLOCKS) == 15
    assert tokens_to_evidence(("m3",), BLOCKS) == 35
    assert tokens_to_evidence(("m9",), BLOCKS) is None


def test_blocks_and_tokens_until_the_words_of_the_answer_stood() -> None:
    # boat, lake and (stemmed) paint: block 1 has two of them, block 3 two, block 2 none.
    covered = cover("The painting of a boat on a lake", BLOCKS)
    assert covered == Cover(words=1.0, blocks=3, tokens=35, two=pytest.approx(2 / 3), many=0.0)
    assert cover("lakes", BLOCKS) == Cover(words=1.0, blocks=1, tokens=10, two=0.0, many=0.0)
    assert cover("a lake and a dog", BLOCKS) == Cover(words=0.5, blocks=None, tokens=None, two=0.0, many=0.0)
    assert cover("red boat lake", BLOCKS[2:]) == Cover(words=1.0, blocks=1, tokens=20, two=0.0, many=1.0)
    assert cover("the", BLOCKS) is None
    assert cover("lake", []) == Cover(words=0.0, blocks=None, tokens=None, two=0.0, many=0.0)


def test_auroc_by_hand() -> None:
    assert auroc([0.1, 0.4], [0.4, 0.9]) == (0.5 + 1 + 1 + 1) / 4
    assert auroc([], [0.4]) is None
