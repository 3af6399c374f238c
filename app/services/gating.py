"""The gate by a language model: how much each item lowers the uncertainty of its answer, given what is in."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.domain.errors import ProviderFault, Unavailable
from app.domain.expansion import MODEL, EvidenceGate, GatePolicy, Measure, Opened, Probe, Verdict, judge
from app.domain.levels import Level
from app.domain.packing import Item, context_lines, pack, render_context
from app.domain.questions import Question
from app.domain.text import count_tokens
from app.domain.uncertainty import Reader
from app.prompts import gate as prompt
from app.providers.protocols import ChatModel

BACKBONE_SHARE = 0.5  # of the budget, for the statements that are in before anything is tested
BATCH = 4  # probes side by side: one of them comes in, the others are tested again, given that one


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Bounds of one question: tests by the model, and seconds for all of them together."""

    probes: int = 16
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class ModelGate:
    """Takes in the backbone, then what a model's log-probabilities speak for."""

    chat: ChatModel
    policy: GatePolicy = MODEL

    async def able(self) -> bool:
        """Whether the model returns log-probabilities. Raises Unavailable, ProviderFault."""
        return (await self.chat.capabilities()).logprobs

    async def open(
        self, question: Question, offered: Sequence[Item], max_tokens: int, limits: GateLimits
    ) -> tuple[list[Item], Opened]:
        """What is in of `offered` (best first, scores calibrated), by falling score, and how that came about.

        Where a probe fails, the rest is left to the measure `evidence`; what had been refused stays out. Once the
        bounds are met, what was not tested stays out too.
        """
        opening = _Opening(question, offered, max_tokens)
        end = asyncio.get_running_loop().time() + limits.seconds
        while batch := opening.batch(min(BATCH, limits.probes - len(opening.tests))):
            try:
                async with asyncio.timeout_at(end):
                    before, after = await self._measure(question, opening.chosen, batch)
            except (Unavailable, ProviderFault, TimeoutError):
                opening.leave_to_evidence(batch)
                break
            if not opening.settle(batch, before, after, self.policy):
                break
        return pack(opening.chosen, max_tokens), opening.opened()

    async def _measure(
        self, question: Question, chosen: Sequence[Item], batch: Sequence[Item]
    ) -> tuple[float | None, list[float | None]]:
        """The uncertainty as it is, and with each item of the batch; None where the model said nothing."""
        prefix = prompt.beginning([line for line, _ in context_lines(chosen)])
        probes = [prompt.probe(question.text)]
        probes += [prompt.probe(question.text, [line for line, _ in context_lines([item])]) for item in batch]
        async with self.chat.scoring(prompt.SYSTEM, prefix) as scoring:
            scores = await scoring.score(probes, prompt.ANSWER_TOKENS)
        first, *others = [scored.uncertainty if scored.logprobs else None for scored in scores]
        return first, others


@dataclass(slots=True)
class _Opening:
    """What is in, what waits, best first, and the tests so far."""

    question: Question
    offered: Sequence[Item]
    max_tokens: int
    chosen: list[Item] = field(init=False)
    waiting: list[Item] = field(init=False)
    tests: list[Probe] = field(default_factory=list)
    failed: int = 0

    def __post_init__(self) -> None:
        stated = [item for item in self.offered if item.level is Level.STATEMENT]
        self.chosen = pack(stated, int(BACKBONE_SHARE * self.max_tokens))
        taken = {id(item) for item in self.chosen}
        self.waiting = [item for item in self.offered if id(item) not in taken]

    def batch(self, most: int) -> list[Item]:
        """The next items that fit and add something; those that do not are passed over for good."""
        found: list[Item] = []
        while self.waiting and len(found) < most:
            item = self.waiting.pop(0)
            if any(one is item for one in pack([*self.chosen, item], self.max_tokens)):
                found.append(item)
        return found

    def settle(
        self, batch: Sequence[Item], before: float | None, after: Sequence[float | None], policy: GatePolicy
    ) -> bool:
        """Take the item of the batch that pays best. False if nothing more is to be tested."""
        if before is None:
            self.leave_to_evidence(batch)
            return False
        probes = [self._probe(item, before, one, policy) for item, one in zip(batch, after, strict=True)]
        paying = [probe for probe in probes if probe.verdict is Verdict.TAKEN]
        best = max(paying, key=lambda probe: probe.gain / max(probe.tokens, 1), default=None)
        later = [probe.item for probe in paying if probe is not best]
        others = [probe for probe in probes if probe is not best]
        self.tests += [replace(one, verdict=Verdict.LATER) if one.item in later else one for one in others]
        if best is not None:
            self.tests.append(best)  # last of its batch: what it leaves is the uncertainty from now on
            self.chosen.append(best.item)
        self.waiting = [*later, *self.waiting]
        return before > policy.enough

    def leave_to_evidence(self, batch: Sequence[Item]) -> None:
        """Test the items of a batch that failed, and all that wait, by the measure `evidence`."""
        self.failed += len(batch)
        inside = {id(item) for item in self.chosen}
        waiting = [*batch, *self.waiting]
        gate = EvidenceGate(self._reader(), waiting, used=self._used())
        self.chosen = pack(
            [*self.chosen, *waiting],
            self.max_tokens,
            gate=lambda item, tokens: id(item) in inside or gate(item, tokens),
        )
        self.tests += gate.tests
        self.waiting = []

    def opened(self) -> Opened:
        """What was done."""
        by_model = any(probe.measure is Measure.MODEL for probe in self.tests)
        measure = Measure.MODEL if by_model or not self.failed else Measure.EVIDENCE
        return Opened(measure, tuple(self.tests), self.failed)

    def _probe(self, item: Item, before: float, after: float | None, policy: GatePolicy) -> Probe:
        """The item tested by the model, or by `evidence` where the model said nothing to it."""
        tokens = count_tokens(render_context([*self.chosen, item])) - self._used()
        if after is None:
            self.failed += 1
            gate = EvidenceGate(self._reader(), [item], used=self._used())
            gate(item, tokens)
            return gate.tests[0]
        return Probe(item, Measure.MODEL, before, after, tokens, judge(before, after, tokens, policy))

    def _used(self) -> int:
        """Tokens of what is in."""
        return count_tokens(render_context(self.chosen))

    def _reader(self) -> Reader:
        reader = Reader(self.question, self.offered)
        for item in self.chosen:
            reader.take(item)
        return reader
