"""Search: a question → the best evidence that fits into the budget."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

import numpy as np

from app.domain.errors import Conflict
from app.domain.filters import Filter
from app.domain.fusion import DEFAULT, EPISODES, STATEMENTS, Floats, fuse, reciprocal_rank, vector_score, word_score
from app.domain.levels import Level
from app.domain.packing import Item, pack, render_context
from app.domain.questions import Question, read
from app.domain.selection import representatives
from app.domain.text import TOKENIZER, count_tokens
from app.domain.vectors import Vector
from app.providers.embedders import Embedders
from app.providers.protocols import Embedder
from app.services.candidates import Candidates, gather
from app.services.evidence import Evidence, load
from app.services.memory import MessageRef, refer
from app.services.namespaces import settled_sequence
from app.services.progress import Progress
from app.storage.unit_of_work import Clock, ReadUnit, Storage

TOP_K = 100  # items handed out at most; the budget of tokens is usually met before
POLICIES = {Level.MESSAGE: DEFAULT, Level.STATEMENT: STATEMENTS, Level.EPISODE: EPISODES, Level.THEME: EPISODES}
BACKBONE = 60  # statements kept as representatives; a context of 2,000 tokens takes about 30
LOADED = 150  # best candidates of a level whose texts are read: packing passes some over


class Strategy(StrEnum):
    """How candidates are ranked."""

    ADAPTIVE = "adaptive"  # all signals, calibrated
    HYBRID = "hybrid"  # reciprocal ranks of the two below
    BM25 = "bm25"
    VECTOR = "vector"


DEFAULT_LEVELS = frozenset({Level.STATEMENT, Level.EPISODE, Level.MESSAGE})


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to memory. `top_k` bounds the items of all levels together, `per_level` those of one."""

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


@dataclass(frozen=True, slots=True)
class Hit:
    """An item of the result; `references` are the messages whose words its text carries."""

    item: Item
    evidence: Evidence
    references: tuple[MessageRef, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search hands out. `context` is all hits rendered once; `tokens` counts exactly that string."""

    ask: Ask
    question: Question
    hits: tuple[Hit, ...]
    context: str
    tokens: int
    tokenizer: str
    sequence: int
    pending: int
    speakers: tuple[str, ...]
    trace: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """How reads behave."""

    wait_seconds: float = 5.0  # for `min_sequence`; then 409


@dataclass(frozen=True, slots=True)
class Search:
    """Reads memory for a question."""

    storage: Storage
    embedders: Embedders[Embedder]
    progress: Progress
    clock: Clock
    policy: ReadPolicy

    async def search(self, namespace: str, ask: Ask) -> Found:
        """The best evidence for a question. Raises NotFound; Conflict if memory is behind `min_sequence`."""
        if ask.min_sequence is not None:
            await self._catch_up(namespace, ask.min_sequence)
        profile = str(self.embedders.current.profile)
        if self.embedders.next is not None:
            async with self.storage.read(namespace) as unit:
                profile = unit.namespace.embedding_profile
        while True:
            embedder = None if ask.strategy is Strategy.BM25 else self.embedders.of(profile)
            vector = None if embedder is None else await embedder.embed_query(ask.text)
            async with self.storage.read(namespace) as unit:
                # Vectors of different profiles are never compared: all may have been exchanged meanwhile.
                if vector is None or unit.namespace.embedding_profile == profile:
                    return await self._find(unit, ask, vector)
                profile = unit.namespace.embedding_profile

    async def _find(self, unit: ReadUnit, ask: Ask, vector: Vector | None) -> Found:
        speakers = tuple(await unit.messages.speakers())
        question = read(ask.text, speakers, ask.asked_at or self.clock())
        pools = [await gather(unit, level, question, vector, ask.limits) for level in sorted(ask.levels)]
        scores = [_score(candidates, ask.strategy) for candidates in pools]
        evidence = await load(unit, _best(pools, scores, ask.min_score))
        if ask.strategy is Strategy.ADAPTIVE:
            evidence = await _represent(unit, evidence)
        packed = _choose(evidence, ask)
        context = render_context(item.item for item in packed)
        return Found(
            ask=ask,
            question=question,
            hits=await _hits(unit, packed),
            context=context,
            tokens=count_tokens(context),
            tokenizer=TOKENIZER,
            sequence=unit.namespace.sequence,
            pending=(await unit.jobs.counts()).pending,
            speakers=speakers,
            trace=_trace(pools, scores, packed) if ask.explain else None,
        )

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


def _score(candidates: Candidates, strategy: Strategy) -> Floats:
    """Each candidate's score in 0–1, (n,)."""
    pool = candidates.pool
    if strategy is Strategy.ADAPTIVE:
        return fuse(pool, POLICIES[candidates.level])
    if strategy is Strategy.HYBRID:
        return reciprocal_rank(pool.cosine.values, pool.words.values)
    return vector_score(pool.cosine.values) if strategy is Strategy.VECTOR else word_score(pool.words.values)


def _best(
    pools: Sequence[Candidates], scores: Sequence[Floats], min_score: float
) -> Mapping[Level, Mapping[UUID, float]]:
    """The ids and scores worth reading, by level, best first."""
    best: dict[Level, Mapping[UUID, float]] = {}
    for candidates, values in zip(pools, scores, strict=True):
        kept = np.flatnonzero(candidates.allowed & (values >= min_score) & (values > 0.0))
        order = kept[np.argsort(-values[kept], kind="stable")][:LOADED]
        best[candidates.level] = {candidates.ids[index]: float(values[index]) for index in order}
    return best


async def _represent(unit: ReadUnit, evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Of the statements keep representatives: relevant ones that do not repeat one another, of many themes."""
    stated = sorted(
        (piece for piece in evidence if piece.item.level is Level.STATEMENT), key=lambda piece: -piece.item.score
    )
    if len(stated) <= BACKBONE:
        return evidence
    vectors = await unit.embeddings.vectors(Level.STATEMENT, (piece.item.id for piece in stated))
    rows = np.array([vectors[piece.item.id] for piece in stated])
    chosen = representatives(
        np.array([piece.item.score for piece in stated]),
        (rows @ rows.T).astype(np.float64),
        BACKBONE,
        [piece.item.theme for piece in stated],
    ).chosen
    kept = {stated[index].item.id for index in chosen}
    return [piece for piece in evidence if piece.item.level is not Level.STATEMENT or piece.item.id in kept]


def _choose(evidence: Sequence[Evidence], ask: Ask) -> list[Evidence]:
    """What fits into the budget and the counts, by falling score."""
    if not ask.top_k:
        return []
    by_item = {(piece.item.level, piece.item.id): piece for piece in evidence}
    counts = dict.fromkeys(Level, 0)
    offered: list[Item] = []
    for item in sorted((piece.item for piece in evidence), key=lambda item: -item.score):
        if counts[item.level] < ask.per_level.get(item.level, ask.top_k):
            counts[item.level] += 1
            offered.append(item)
    return [by_item[item.level, item.id] for item in pack(offered, ask.max_tokens)[: ask.top_k]]


async def _hits(unit: ReadUnit, packed: Sequence[Evidence]) -> tuple[Hit, ...]:
    references = await refer(unit, {message for piece in packed for message in piece.item.messages})
    return tuple(
        Hit(
            piece.item,
            piece,
            tuple(references[message] for message in piece.item.messages),
            count_tokens(piece.item.text),
        )
        for piece in packed
    )


def _trace(pools: Sequence[Candidates], scores: Sequence[Floats], packed: Sequence[Evidence]) -> Mapping[str, Any]:
    """Everything that led to the choice: each candidate's signals, its score, and whether it is in."""
    chosen = {(piece.item.level, piece.item.id) for piece in packed}
    return {
        "candidates": [
            {
                "level": candidates.level,
                "id": str(candidates.ids[index]),
                "cosine": round(float(candidates.pool.cosine.values[index]), 4),
                "words": round(float(candidates.pool.words.values[index]), 4),
                "named": bool(candidates.pool.named[index]),
                "score": round(float(values[index]), 4),
                "packed": (candidates.level, candidates.ids[index]) in chosen,
            }
            for candidates, values in zip(pools, scores, strict=True)
            for index in np.argsort(-values, kind="stable")[:LOADED]
        ]
    }
