"""The gate by a language model, with the double that ships with the service."""

import pytest

from app.domain.brevity import DEFAULT as BREVITY
from app.domain.errors import InvalidInput, ProviderUnavailable
from app.domain.expansion import GatePolicy, Measure, Opened, Verdict
from app.domain.levels import Level
from app.domain.packing import Item, render_context
from app.domain.text import count_tokens
from app.providers.scripted_chat import ScriptedChat
from app.services.expansion import Expansion, Limits
from app.services.gating import GateLimits, ModelGate
from tests.unit.models import ActingChat
from tests.unit.test_expansion import item, question
from tests.unit.test_packing import message, statement

ASKED = question("cat", "sleep", "piano")
STATED = [item(n, f"Ada said thing {n} of the garden.", 0.9 - n / 100, Level.STATEMENT) for n in range(1, 4)]
SAID = [item(n, f"Ada: The cat and the piano, part {n}, sleep well.", 0.6 - n / 100) for n in range(10, 30)]
OFFERED = [*STATED, *SAID]
EAGER = GatePolicy(enough=0.0, gain=-100.0)  # everything pays
STERN = GatePolicy(enough=0.0, gain=100.0)  # nothing does
USUAL = GateLimits()
LIMITS = Limits(max_tokens=500, top_k=100, per_level={})


async def opened(gate: ModelGate, bounds: GateLimits = USUAL) -> tuple[list[Item], Opened]:
    """What is in, and what was done."""
    items, done = await gate.open(ASKED, OFFERED, LIMITS.max_tokens, bounds)
    return items, done


async def test_the_backbone_is_in_and_each_item_is_tested_by_itself() -> None:
    items, done = await opened(ModelGate(ScriptedChat(), EAGER))
    assert done.measure is Measure.MODEL
    assert done.failed == 0
    assert all(one in items for one in STATED)
    assert {probe.item.level for probe in done.tests} == {Level.MESSAGE}
    taken = [probe.item for probe in done.tests if probe.verdict is Verdict.TAKEN]
    assert sorted(one.order for one in items) == sorted(one.order for one in [*STATED, *taken])
    assert 0 < done.taken < done.probes == 16
    assert count_tokens(render_context(items)) <= LIMITS.max_tokens


async def test_of_those_tested_together_one_comes_in_and_the_others_are_tested_again() -> None:
    _, done = await opened(ModelGate(ScriptedChat(), EAGER), GateLimits(probes=8))
    verdicts = [probe.verdict for probe in done.tests]
    assert verdicts.count(Verdict.TAKEN) == 2
    assert verdicts.count(Verdict.LATER) == 6
    first, second = done.tests[:4], done.tests[4:]
    best = max(first, key=lambda probe: probe.gain / probe.tokens)
    assert best.verdict is Verdict.TAKEN
    assert {id(probe.item) for probe in first if probe is not best} < {id(probe.item) for probe in second}
    assert {probe.before for probe in first} != {probe.before for probe in second}, "given what is in by then"


async def test_the_uncertainty_at_the_end_is_that_of_what_is_in() -> None:
    _, done = await opened(ModelGate(ScriptedChat(), EAGER), GateLimits(probes=4))
    assert [done.uncertainty] == [probe.after for probe in done.tests if probe.verdict is Verdict.TAKEN]
    assert done.uncertainty != done.tests[0].before


async def test_what_failed_its_test_is_not_let_in() -> None:
    items, done = await opened(ModelGate(ScriptedChat(), STERN))
    assert items == STATED
    assert {probe.verdict for probe in done.tests} == {Verdict.LITTLE}
    assert len({id(probe.item) for probe in done.tests}) == done.probes == 16, "none is tested twice"


@pytest.mark.parametrize("probes", [0, 1, 5])
async def test_tests_are_bounded(probes: int) -> None:
    _, done = await opened(ModelGate(ScriptedChat(), EAGER), GateLimits(probes=probes))
    assert done.probes == probes
    assert done.measure is Measure.MODEL


async def test_a_model_that_is_down_leaves_it_to_evidence_and_says_so() -> None:
    chat = ScriptedChat()
    chat.faults.fail(ProviderUnavailable("down"))
    items, done = await opened(ModelGate(chat, EAGER))
    assert done.measure is Measure.EVIDENCE
    assert done.failed == 4
    assert {probe.measure for probe in done.tests} == {Measure.EVIDENCE}
    assert len(items) > len(STATED)
    assert count_tokens(render_context(items)) <= LIMITS.max_tokens


async def test_a_model_that_breaks_down_midway_keeps_what_it_decided() -> None:
    chat = ActingChat("begins", "answers", ProviderUnavailable("down"))
    gate = ModelGate(chat, STERN)
    items, done = await opened(gate)
    assert done.measure is Measure.MODEL
    assert done.failed == 4
    assert {probe.measure for probe in done.tests} == {Measure.MODEL, Measure.EVIDENCE}
    refused = [probe.item for probe in done.tests if probe.measure is Measure.MODEL]
    assert len(refused) == 4
    assert not any(one in items for one in refused)


async def test_a_model_that_hangs_is_given_up_at_the_deadline() -> None:
    chat = ScriptedChat()
    chat.faults.hang()
    items, done = await opened(ModelGate(chat, EAGER), GateLimits(seconds=0.05))
    assert (done.measure, done.failed) == (Measure.EVIDENCE, 4)
    assert len(items) > len(STATED)


async def test_a_gate_by_a_model_that_there_is_not_is_refused_only_if_asked_for() -> None:
    without = Expansion()
    assert await without.measure(Measure.MODEL, required=False) is Measure.EVIDENCE
    with pytest.raises(InvalidInput, match="log-probabilities"):
        await without.measure(Measure.MODEL, required=True)
    assert await Expansion(ModelGate(ScriptedChat())).measure(Measure.MODEL, required=True) is Measure.MODEL


async def test_off_takes_all_that_fits() -> None:
    expanded = await Expansion().expand(ASKED, OFFERED, LIMITS, Measure.OFF, GateLimits())
    assert expanded.opened.probes == 0
    assert len(expanded.items) == len(OFFERED)
    few = Limits(500, 3, {Level.STATEMENT: 1})
    assert [one.level for one in (await Expansion().expand(ASKED, OFFERED, few, Measure.OFF, GateLimits())).items] == [
        Level.STATEMENT,
        Level.MESSAGE,
        Level.MESSAGE,
    ]


@pytest.mark.parametrize(
    ("limits", "handed"),
    [
        (Limits(500, 100, {}, BREVITY), [Level.MESSAGE]),
        (Limits(500, 100, {}), [Level.MESSAGE]),  # the message takes the statement's place all the same
        (Limits(500, 100, {Level.MESSAGE: 0}, BREVITY), [Level.STATEMENT]),
        (Limits(25, 100, {}, BREVITY), [Level.STATEMENT]),
    ],
    ids=["both have room", "any length", "no messages are wanted", "the message has no room"],
)
async def test_a_statement_stands_back_only_for_what_can_be_handed_out(limits: Limits, handed: list[Level]) -> None:
    said = message(
        1, "Ann: I went to the shelter with my sister on Friday and we came home with a small grey cat.", 0.4
    )
    told = statement(2, "Ann went to the shelter and has a small grey cat since Friday.", 0.5, 1)
    expanded = await Expansion().expand(ASKED, [told, said], limits, Measure.OFF, GateLimits())
    assert [one.level for one in expanded.items] == handed
