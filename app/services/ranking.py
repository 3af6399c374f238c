"""Ranking: from the candidates of all levels to a score in 0–1 for each, by the strategy that was asked for."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias
from uuid import UUID

import numpy as np

from app.domain import norlift
from app.domain.fusion import (
    DEFAULT,
    EPISODES,
    STATEMENTS,
    Floats,
    FusionPolicy,
    fuse,
    reciprocal_rank,
    vector_score,
    word_score,
)
from app.domain.ids import MessageId, StatementId
from app.domain.levels import Level
from app.services.candidates import Candidates
from app.storage.unit_of_work import ReadUnit

POLICIES: Mapping[Level, FusionPolicy] = MappingProxyType(
    {Level.MESSAGE: DEFAULT, Level.STATEMENT: STATEMENTS, Level.EPISODE: EPISODES, Level.THEME: EPISODES}
)
LOADED = 150  # best candidates of a level whose texts are read: packing passes some over


Best: TypeAlias = Mapping[Level, Mapping[UUID, float]]
"""Ids with their scores in 0–1, by level, best first."""


class Strategy(StrEnum):
    """How candidates are ranked."""

    ADAPTIVE = "adaptive"  # all signals, calibrated
    PAPER = "paper"  # the same, with statements and themes chosen by the published formula: for comparison
    NORLIFT = "norlift"  # noisy-OR over what was drawn from an item, as a lift
    HYBRID = "hybrid"  # reciprocal ranks of the two below
    BM25 = "bm25"
    VECTOR = "vector"


CALIBRATED = frozenset({Strategy.ADAPTIVE, Strategy.PAPER})
"""Their scores say how likely it is that an item is evidence: representatives and the gate build on that."""


async def rank(
    unit: ReadUnit, pools: Sequence[Candidates], strategy: Strategy, fusion: Mapping[Level, FusionPolicy] = POLICIES
) -> Sequence[Floats]:
    """Each candidate's score in 0–1, an array (n,) for each of the pools."""
    if strategy is Strategy.NORLIFT:
        return await _lifted(unit, pools)
    return [_score(candidates, strategy, fusion) for candidates in pools]


def best(pools: Sequence[Candidates], scores: Sequence[Floats], min_score: float) -> Best:
    """What is worth reading."""
    found: dict[Level, Mapping[UUID, float]] = {}
    for candidates, values in zip(pools, scores, strict=True):
        kept = np.flatnonzero(candidates.allowed & (values >= min_score) & (values > 0.0))
        order = kept[np.argsort(-values[kept], kind="stable")][:LOADED]
        found[candidates.level] = {candidates.ids[index]: float(values[index]) for index in order}
    return found


def _score(candidates: Candidates, strategy: Strategy, fusion: Mapping[Level, FusionPolicy]) -> Floats:
    pool = candidates.pool
    if strategy in CALIBRATED:
        return fuse(pool, fusion[candidates.level])
    if strategy is Strategy.HYBRID:
        return reciprocal_rank(pool.cosine.values, pool.words.values)
    return vector_score(pool.cosine.values) if strategy is Strategy.VECTOR else word_score(pool.words.values)


async def _lifted(unit: ReadUnit, pools: Sequence[Candidates]) -> Sequence[Floats]:
    """Noisy-OR lifts: statements show the messages they cite, messages the episodes they lie in."""
    by_level = {candidates.level: candidates for candidates in pools}
    chances = {level: norlift.fired(candidates.pool) for level, candidates in by_level.items()}
    stated, said = by_level.get(Level.STATEMENT), by_level.get(Level.MESSAGE)
    if stated is not None and said is not None:
        cited = await unit.statements.cited(StatementId(id_) for id_ in stated.ids)
        shown = [(id_, message) for id_ in stated.ids for message in cited[StatementId(id_)]]
        chances[said.level] = _joined(stated, said, shown, chances)
    told = by_level.get(Level.EPISODE)
    if said is not None and told is not None:
        lying = await unit.messages.episodes(MessageId(id_) for id_ in said.ids)
        chances[told.level] = _joined(said, told, list(lying.items()), chances)
    return [norlift.lifted(chances[candidates.level], candidates.pool) for candidates in pools]


def _joined(
    causes: Candidates, of: Candidates, pairs: Sequence[tuple[UUID, UUID]], chances: Mapping[Level, Floats]
) -> Floats:
    """The chances of `of` with what their causes show; `pairs` name a cause and what it shows."""
    cause_at = {id_: index for index, id_ in enumerate(causes.ids)}
    place_of = {id_: index for index, id_ in enumerate(of.ids)}
    there = [(cause_at[cause], place_of[shown]) for cause, shown in pairs if shown in place_of]
    at = np.array([cause for cause, _ in there], dtype=np.intp)
    places = np.array([place for _, place in there], dtype=np.intp)
    return norlift.joined(chances[of.level], chances[causes.level][at], places)
