"""Expansion: from what was found to what is handed out, past the gate and within the budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.brevity import ANY_LENGTH, BrevityPolicy, brief
from app.domain.errors import InvalidInput, ProviderFault, Unavailable
from app.domain.expansion import EvidenceGate, Measure, Opened
from app.domain.levels import Level
from app.domain.packing import LEVELS, Item, pack, render_context
from app.domain.questions import Question
from app.domain.text import count_tokens
from app.domain.uncertainty import Reader
from app.services.gating import GateLimits, ModelGate


@dataclass(frozen=True, slots=True)
class Limits:
    """What one question may be handed: tokens, items in all, items of a level, and how long a statement may be."""

    max_tokens: int
    top_k: int
    per_level: Mapping[Level, int]
    brevity: BrevityPolicy = ANY_LENGTH


@dataclass(frozen=True, slots=True)
class Expanded:
    """`items` are handed out, by falling score; `offered` had come as far as the gate.

    `spelled_out` are statements that stood back for the messages they rest on.
    """

    items: tuple[Item, ...]
    offered: tuple[Item, ...]
    spelled_out: tuple[Item, ...]
    opened: Opened


@dataclass(frozen=True, slots=True)
class Expansion:
    """Opens items one by one, by the measure that was asked for, or that the service can give."""

    model: ModelGate | None = None
    """Where there is a language model."""

    async def measure(self, wanted: Measure, *, required: bool) -> Measure:
        """`wanted`, or `evidence` where no model gives log-probabilities. Raises InvalidInput if it is `required`."""
        if wanted is not Measure.MODEL:
            return wanted
        if self.model is not None and await self._able(self.model):
            return Measure.MODEL
        if required:
            raise InvalidInput("gate=model needs a language model that returns log-probabilities; there is none")
        return Measure.EVIDENCE

    async def _able(self, model: ModelGate) -> bool:
        try:
            return await model.able()
        except (Unavailable, ProviderFault):
            return True  # as far as anybody knows; the probes will fail, and be told as such

    async def expand(
        self, question: Question, items: Sequence[Item], limits: Limits, measure: Measure, bounds: GateLimits
    ) -> Expanded:
        """What of the items is handed out. For another measure than `off` their scores are calibrated, in 0–1.

        A model opens items beside the statements, so it starts from all of them.
        """
        worth = items if measure is Measure.MODEL else brief(items, _fitting(items, limits), limits.brevity)
        offered = _offered(worth, limits)
        if measure is Measure.MODEL and self.model is not None and offered:
            chosen, opened = await self.model.open(question, offered, limits.max_tokens, bounds)
        elif measure is Measure.OFF:
            chosen, opened = pack(offered, limits.max_tokens), Opened(Measure.OFF)
        else:
            gate = EvidenceGate(Reader(question, offered), offered)
            chosen = pack(offered, limits.max_tokens, gate=gate)
            opened = Opened(Measure.EVIDENCE, tuple(gate.tests))
        left = {id(item) for item in worth}
        spelled_out = tuple(item for item in items if id(item) not in left)
        return Expanded(tuple(chosen[: limits.top_k]), tuple(offered), spelled_out, opened)


def _fitting(items: Sequence[Item], limits: Limits) -> Iterator[Item]:
    """The messages that are wanted, and have room where nothing else is in."""
    said = (item for item in _offered(items, limits) if item.level is Level.MESSAGE)
    return (item for item in said if count_tokens(render_context([item])) <= limits.max_tokens)


def _offered(items: Sequence[Item], limits: Limits) -> list[Item]:
    """The items in the order in which they are tested, as many of each level as are wanted."""
    if not limits.top_k:
        return []
    counts = dict.fromkeys(Level, 0)
    offered: list[Item] = []
    for item in sorted(items, key=lambda item: (-item.score, LEVELS.index(item.level), item.order, item.id)):
        if counts[item.level] < limits.per_level.get(item.level, limits.top_k):
            counts[item.level] += 1
            offered.append(item)
    return offered
