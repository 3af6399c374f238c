"""Expansion: which items a context takes in, given what is in already.

Items come best first. Each is tested on its own text and given what is in; what fails is out for good. Two rules:

- a reader who is sure enough takes in nothing more, but for the little that everybody can read;
- an item has to pay: what it takes from the uncertainty, as a share of it, for the tokens that it costs.

The measure `evidence` tests with the first rule alone. Its uncertainty looks at the best item outside, and where many
are equally good, one more changes it little though they all are wanted: a price on the change would shut them all out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.domain.packing import Item
from app.domain.uncertainty import Reader


class Measure(StrEnum):
    """By what the uncertainty of a reader is measured."""

    OFF = "off"  # it is not: items are taken by score alone
    EVIDENCE = "evidence"  # by what the items say of the question (`uncertainty.Reader`), in 0–1
    MODEL = "model"  # by a language model's log-probabilities, in nats a token


class Verdict(StrEnum):
    """What became of a test, and why."""

    TAKEN = "taken"
    LATER = "later"  # it would pay, another paid more: it is tested again, given that one
    SURE = "sure"  # the reader is sure enough without it
    LITTLE = "little"  # it changes too little for its tokens


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """When a reader is sure, and what an item must bring. `enough` is in the measure's unit."""

    enough: float
    gain: float = 0.0  # least share of the uncertainty that 100 tokens must take from it
    free: int = 0  # tokens that come in also where the reader is sure: there is nothing to save on less


EVIDENCE = GatePolicy(enough=0.015, free=250)
"""Saves 13 % of 1,000 tokens and 23 % of 2,000 for .002 and .005 of the recall; 0.03 saves 21 % and 34 % for .005 and
.008 (docs/decisions/0018)."""

MODEL = GatePolicy(enough=0.05, gain=0.05)
"""A model whose answer has 0.05 nats a token has made up its mind; a line of 25 tokens that changes its uncertainty
by less than a hundredth is noise."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One item tested: the uncertainty without it, `before`, and with it, `after`; what it costs; the verdict."""

    item: Item
    measure: Measure
    before: float
    after: float
    tokens: int
    verdict: Verdict

    @property
    def gain(self) -> float:
        """The share of the uncertainty that the item takes from it; below 0 where it adds to it."""
        return (self.before - self.after) / self.before if self.before > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class Opened:
    """What the gate did. `failed` counts tests by a model that came to nothing and were made by `evidence`."""

    measure: Measure
    tests: tuple[Probe, ...] = ()
    failed: int = 0

    @property
    def taken(self) -> int:
        """How many items were let in."""
        return sum(test.verdict is Verdict.TAKEN for test in self.tests)

    @property
    def probes(self) -> int:
        """How many tests were made."""
        return len(self.tests)

    @property
    def uncertainty(self) -> float | None:
        """The reader's at the end, in the unit of the last test's measure; None where nothing was tested."""
        if not self.tests:
            return None
        last = self.tests[-1]
        return last.after if last.verdict is Verdict.TAKEN else last.before


def judge(before: float, after: float, tokens: int, policy: GatePolicy, used: int = 0) -> Verdict:
    """The verdict on an item by the two rules, where `used` tokens are in; the uncertainties are at least 0."""
    if before <= policy.enough and used + tokens > policy.free:
        return Verdict.SURE
    least = policy.gain * tokens / 100.0
    return Verdict.TAKEN if policy.gain == 0.0 or before - after >= least * before else Verdict.LITTLE


@dataclass(slots=True)
class EvidenceGate:
    """A `packing.Gate` by the measure `evidence`. `offered` are in the order in which they come, best first."""

    reader: Reader
    offered: Sequence[Item]
    policy: GatePolicy = EVIDENCE
    tests: list[Probe] = field(default_factory=list)
    used: int = 0
    _next: dict[int, Item] = field(init=False)

    def __post_init__(self) -> None:
        following = zip(self.offered, self.offered[1:], strict=False)
        self._next = {id(item): behind for item, behind in following}

    def __call__(self, item: Item, tokens: int) -> bool:
        """Test an item that costs so many tokens, and take it if it pays."""
        before = self.reader.uncertainty(item)
        after = self.reader.uncertainty(self._next.get(id(item)), with_also=item)
        verdict = judge(before, after, tokens, self.policy, self.used)
        self.tests.append(Probe(item, Measure.EVIDENCE, before, after, tokens, verdict))
        if verdict is Verdict.TAKEN:
            self.reader.take(item)
            self.used += tokens
        return verdict is Verdict.TAKEN
