"""Search: a question → the best evidence that fits into the budget."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from app.domain.brevity import ANY_LENGTH, BrevityPolicy
from app.domain.brevity import DEFAULT as BREVITY
from app.domain.errors import Conflict, Unavailable
from app.domain.expansion import Measure, Opened
from app.domain.filters import Filter
from app.domain.forms import Form
from app.domain.fusion import Floats, FusionPolicy
from app.domain.jobs import REMEMBERING
from app.domain.levels import Level
from app.domain.packing import Item, render_context
from app.domain.questions import Question, read
from app.domain.selection import DEFAULT as SELECTION
from app.domain.selection import SelectionPolicy
from app.domain.text import TOKENIZER, count_tokens
from app.providers.embedders import Embedders
from app.providers.protocols import Asked, Embedder
from app.services.backbone import BACKBONE, represent, represent_by_paper
from app.services.candidates import Candidates, WordByWord, gather, word_by_word
from app.services.evidence import Evidence, load
from app.services.expansion import Expanded, Expansion, Limits
from app.services.gating import GateLimits
from app.services.lanes import Lane, LanePolicy
from app.services.memory import MessageRef, refer
from app.services.namespaces import settled_sequence
from app.services.progress import Progress
from app.services.ranking import CALIBRATED, POLICIES, Best, Strategy, best, rank
from app.services.spending import spending
from app.services.tracing import Steps, trace
from app.storage.unit_of_work import Clock, ReadUnit, Storage
from app.telemetry import usage

__all__ = ["Ask", "Found", "Hit", "ReadPolicy", "Search", "Strategy"]

TOP_K = 100  # items handed out at most; the budget of tokens is usually met before
MOST_STARTS = 5  # of one read that erasures, or an exchange of all vectors, overtake; then the client tries again
DEFAULT_LEVELS = frozenset({Level.STATEMENT, Level.EPISODE, Level.MESSAGE})


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to memory. `top_k` bounds the items of all levels together, `per_level` those of one.

    `gate`, `probes` and `gate_seconds` say how items are opened; None: as the service is set. `form` is that in
    which an answer is wanted as data too.
    """

    text: str
    max_tokens: int
    strategy: Strategy = Strategy.ADAPTIVE
    levels: frozenset[Level] = DEFAULT_LEVELS
    top_k: int = TOP_K
    per_level: Mapping[Level, int] = field(default_factory=dict)
    limits: Filter = Filter()
    min_score: float = 0.0
    min_sequence: int | None = None
    explain: bool = False
    asked_at: datetime | None = None
    gate: Measure | None = None
    probes: int | None = None
    gate_seconds: float | None = None
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """An item of the result; `references` are the messages whose words its text carries."""

    item: Item
    evidence: Evidence
    references: tuple[MessageRef, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search hands out. `context` is all hits rendered once; `tokens` counts exactly that string.

    Memory is whole once `pending` (jobs) and `buffered` (messages that belong to no episode yet) are 0. Once the
    namespace counts more `erasures`, what was handed out may be gone.
    """

    ask: Ask
    erasures: int
    question: Question
    hits: tuple[Hit, ...]
    context: str
    tokens: int
    tokenizer: str
    sequence: int
    pending: int
    buffered: int
    speakers: tuple[str, ...]
    word_by_word: WordByWord
    opened: Opened
    trace: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How reads behave."""

    wait_seconds: float = 5.0  # for `min_sequence`; then 409
    gate: Measure = Measure.EVIDENCE
    bounds: GateLimits = GateLimits()  # of a gate by a model
    fusion: Mapping[Level, FusionPolicy] = field(default_factory=lambda: POLICIES)
    backbone: int = BACKBONE
    selection: SelectionPolicy = SELECTION
    brevity: BrevityPolicy = BREVITY


@dataclass(frozen=True, slots=True)
class Gathered:
    """All that a search reads of memory: what may be handed out, and what it says of memory as it was then."""

    erasures: int
    sequence: int
    pending: int
    buffered: int
    question: Question
    speakers: tuple[str, ...]
    pools: Sequence[Candidates]
    scores: Sequence[Floats]
    considered: Best
    evidence: Sequence[Evidence]
    word_by_word: WordByWord


@dataclass(frozen=True, slots=True)
class Search:
    """Reads memory for a question."""

    storage: Storage
    embedders: Embedders[Embedder]
    progress: Progress
    clock: Clock
    policy: ReadPolicy
    expansion: Expansion = Expansion()
    lane: Lane = field(default_factory=lambda: Lane(LanePolicy()))

    async def search(self, namespace: str, ask: Ask) -> Found:
        """The best evidence for a question.

        Raises NotFound; Conflict if memory is behind `min_sequence`; InvalidInput for a gate that there is not;
        Busy; Unavailable while memory is erased faster than it can be read.
        """
        if ask.min_sequence is not None:
            await self._catch_up(namespace, ask.min_sequence)
        if usage.running() is not None:  # whoever asks counts already
            return await self._search(namespace, ask)
        async with spending(self.storage, namespace):
            return await self._search(namespace, ask)

    async def _search(self, namespace: str, ask: Ask) -> Found:
        measure = await self._measure(ask)
        for _ in range(MOST_STARTS):
            gathered = await self.gather(namespace, ask)
            # No connection is held: a language model may be thinking now.
            items = [piece.item for piece in gathered.evidence]
            limits = Limits(ask.max_tokens, ask.top_k, ask.per_level, self.brevity(ask.strategy))
            expanded = await self.expansion.expand(gathered.question, items, limits, measure, self._bounds(ask))
            async with self.storage.read(namespace) as unit:
                if unit.namespace.erasures == gathered.erasures:  # else what was erased might be handed out
                    hits = await _hits(unit, gathered.evidence, expanded.items)
                    return _found(ask, gathered, expanded, hits)
        raise overtaken()

    def brevity(self, strategy: Strategy) -> BrevityPolicy:
        """How short statements have to be beside their messages. The others are there to compare: they hand out all."""
        return self.policy.brevity if strategy is Strategy.ADAPTIVE else ANY_LENGTH

    async def _measure(self, ask: Ask) -> Measure:
        """By which the items are opened. Scores of strategies that are not calibrated say nothing that it could use."""
        if ask.strategy not in CALIBRATED:
            return Measure.OFF
        return await self.expansion.measure(ask.gate or self.policy.gate, required=ask.gate is not None)

    def _bounds(self, ask: Ask) -> GateLimits:
        usual = self.policy.bounds
        return GateLimits(
            usual.probes if ask.probes is None else ask.probes,
            usual.seconds if ask.gate_seconds is None else ask.gate_seconds,
        )

    async def gather(self, namespace: str, ask: Ask) -> Gathered:
        """What may be handed out for a question, before anything is opened. Raises NotFound, Busy, Unavailable."""
        async with self.lane.place(namespace):
            return await self._gather(namespace, ask)

    async def _gather(self, namespace: str, ask: Ask) -> Gathered:
        profile = str(self.embedders.current.profile)
        if self.embedders.next is not None:
            async with self.storage.read(namespace) as unit:
                profile = unit.namespace.embedding_profile
        for _ in range(MOST_STARTS):
            embedder = None if ask.strategy is Strategy.BM25 else self.embedders.of(profile)
            asked = None if embedder is None else await embedder.embed_query(ask.text)
            async with self.storage.read(namespace) as unit:
                # Vectors of different profiles are never compared: all may have been exchanged meanwhile.
                if asked is None or unit.namespace.embedding_profile == profile:
                    return await self._read(unit, ask, asked)
                profile = unit.namespace.embedding_profile
        raise overtaken()

    async def _read(self, unit: ReadUnit, ask: Ask, asked: Asked | None) -> Gathered:
        speakers = tuple(await unit.messages.speakers())
        question = read(ask.text, speakers, ask.asked_at or self.clock())
        pools = [await gather(unit, level, question, asked, ask.limits) for level in sorted(ask.levels)]
        scores = await rank(unit, pools, ask.strategy, self.policy.fusion)
        considered = best(pools, scores, ask.min_score)
        return Gathered(
            erasures=unit.namespace.erasures,
            sequence=unit.namespace.sequence,
            pending=await unit.jobs.pending(REMEMBERING),
            buffered=await unit.messages.buffered(),
            question=question,
            speakers=speakers,
            pools=pools,
            scores=scores,
            considered=considered,
            evidence=await load(unit, await self._represented(unit, ask.strategy, considered, asked)),
            word_by_word=word_by_word(pools, question, asked),
        )

    async def _represented(self, unit: ReadUnit, strategy: Strategy, considered: Best, asked: Asked | None) -> Best:
        """No more statements than stand for the others, where the strategy chooses."""
        if strategy is Strategy.ADAPTIVE:
            return await represent(unit, considered, self.policy.backbone, self.policy.selection)
        if strategy is Strategy.PAPER and asked is not None:
            return await represent_by_paper(unit, considered, asked.vector)
        return considered

    async def _catch_up(self, name: str, wanted: int) -> None:
        async with self.storage.read(name) as unit:
            namespace = unit.namespace.id
        loop = asyncio.get_running_loop()
        end = loop.time() + self.policy.wait_seconds
        while True:
            notice = self.progress.expect(namespace)
            async with self.storage.read(namespace) as unit:
                settled = await settled_sequence(unit)
            left = end - loop.time()
            if settled >= wanted:
                return
            if left <= 0:
                message = f"memory is settled up to sequence {settled}, not yet to {wanted}"
                raise Conflict(message)
            await notice.wait(left)


def overtaken() -> Unavailable:
    """Why a read was given up."""
    return Unavailable("memory kept changing while it was read: messages are being erased, or all vectors exchanged")


async def _hits(unit: ReadUnit, evidence: Sequence[Evidence], items: Sequence[Item]) -> tuple[Hit, ...]:
    by_item = {(piece.item.level, piece.item.id): piece for piece in evidence}
    references = await refer(unit, {message for item in items for message in item.messages})
    return tuple(
        Hit(
            item,
            by_item[item.level, item.id],
            tuple(references[message] for message in item.messages),
            count_tokens(item.text),
        )
        for item in items
    )


def _found(ask: Ask, gathered: Gathered, expanded: Expanded, hits: tuple[Hit, ...]) -> Found:
    context = render_context(expanded.items)
    steps = Steps(
        gathered.pools,
        gathered.scores,
        gathered.considered.get(Level.STATEMENT, {}),
        [piece.item for piece in gathered.evidence],
        expanded,
    )
    return Found(
        ask=ask,
        erasures=gathered.erasures,
        question=gathered.question,
        hits=hits,
        context=context,
        tokens=count_tokens(context),
        tokenizer=TOKENIZER,
        sequence=gathered.sequence,
        pending=gathered.pending,
        buffered=gathered.buffered,
        speakers=gathered.speakers,
        word_by_word=gathered.word_by_word,
        opened=expanded.opened,
        trace=trace(gathered.question, steps) if ask.explain else None,
    )
