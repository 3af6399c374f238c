from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.expansion import EvidenceGate, GatePolicy, Measure, Verdict, judge
from app.domain.ids import ConversationId, MessageId
from app.domain.levels import Level
from app.domain.packing import Item, pack
from app.domain.questions import Asks, Question
from app.domain.uncertainty import Reader

NOW = datetime(2026, 3, 2, 10, tzinfo=UTC)
TALK = ConversationId(UUID(int=1))
STRICT = GatePolicy(enough=0.1)


def item(number: int, text: str, score: float, level: Level = Level.MESSAGE) -> Item:
    id_ = UUID(int=number)
    return Item(level, id_, text, score, NOW + timedelta(minutes=number), TALK, number, (MessageId(id_),))


def question(*words: str, asks: Asks = Asks.WHAT) -> Question:
    return Question(" ".join(words), asks, (), (), words)


TEA = item(1, "Ada: I drink green tea.", 0.8)
CUP = item(2, "Ada: My cup is blue.", 0.6)
RAIN = item(3, "Ada: It rains.", 0.001)


def test_uncertainty_falls_with_the_best_item_outside_and_with_what_is_said() -> None:
    reader = Reader(question("green", "tea", "cup"), [TEA, CUP, RAIN])
    at_first = reader.uncertainty(TEA)
    assert reader.uncertainty(RAIN) < reader.uncertainty(CUP) < at_first
    assert reader.uncertainty(TEA, with_also=TEA) < at_first
    reader.take(TEA)
    assert reader.uncertainty(TEA) < at_first
    assert reader.uncertainty(None) == reader.uncertainty(item(4, "Ada: Hm.", 0.0))


def test_a_question_for_several_things_is_satisfied_later_than_one_for_a_time() -> None:
    of = {asks: Reader(question("tea", asks=asks), [TEA, CUP]).uncertainty(CUP) for asks in Asks}
    assert of[Asks.WHEN] < of[Asks.WHAT] < of[Asks.LIST] == of[Asks.HOW_MANY]


@given(st.lists(st.floats(0.0, 1.0), max_size=6), st.floats(0.0, 1.0))
def test_uncertainty_is_a_share(scores: list[float], outside: float) -> None:
    offered = [item(number, "Ada: tea", score) for number, score in enumerate(scores)]
    reader = Reader(question("tea"), offered)
    assert 0.0 < reader.uncertainty(item(99, "Ada: cup", outside)) < 1.0


def test_who_is_sure_takes_in_nothing_more() -> None:
    offered = [TEA, CUP, RAIN]
    gate = EvidenceGate(Reader(question("green", "tea"), offered), offered, STRICT)
    assert pack(offered, 1000, gate=gate) == [TEA, CUP]
    assert [probe.verdict for probe in gate.tests] == [Verdict.TAKEN, Verdict.TAKEN, Verdict.SURE]
    assert all(probe.measure is Measure.EVIDENCE for probe in gate.tests)
    assert gate.tests[2].before <= STRICT.enough < gate.tests[1].before
    assert [probe.gain > 0.0 for probe in gate.tests] == [True, True, True]


def test_a_little_comes_in_also_where_the_reader_is_sure() -> None:
    offered = [TEA, CUP, RAIN]
    generous = GatePolicy(enough=0.1, free=100)
    gate = EvidenceGate(Reader(question("green", "tea"), offered), offered, generous)
    assert pack(offered, 1000, gate=gate) == offered


def test_only_what_fits_and_adds_something_is_tested() -> None:
    long, same = item(4, "Ada: " + "tea " * 500, 0.7), item(5, TEA.text, 0.5)
    offered = [TEA, long, same, CUP]
    gate = EvidenceGate(Reader(question("cup"), offered), offered, STRICT)
    assert pack(offered, 60, gate=gate) == [TEA, CUP]
    assert [probe.item for probe in gate.tests] == [TEA, CUP]


@pytest.mark.parametrize(
    ("before", "after", "tokens", "verdict"),
    [
        (2.0, 1.5, 100, Verdict.TAKEN),
        (2.0, 1.9, 100, Verdict.TAKEN),
        (2.0, 1.95, 100, Verdict.LITTLE),
        (2.0, 1.95, 25, Verdict.TAKEN),
        (0.2, 0.15, 100, Verdict.TAKEN),  # the same drop counts more to who was nearly sure
        (2.0, 2.3, 10, Verdict.LITTLE),
        (0.05, 0.0, 10, Verdict.SURE),
    ],
)
def test_an_item_has_to_pay_for_its_tokens(before: float, after: float, tokens: int, verdict: Verdict) -> None:
    assert judge(before, after, tokens, GatePolicy(enough=0.1, gain=0.05)) is verdict


@given(st.lists(st.floats(0.0, 1.0), max_size=12), st.integers(64, 400))
def test_what_failed_is_never_in(scores: Sequence[float], budget: int) -> None:
    offered = [item(n, f"Ada: word{n} tea", score) for n, score in enumerate(sorted(scores, reverse=True))]
    gate = EvidenceGate(Reader(question("tea"), offered), offered, STRICT)
    packed = pack(offered, budget, gate=gate)
    refused = [probe.item for probe in gate.tests if probe.verdict is not Verdict.TAKEN]
    assert not any(one in packed for one in refused)
