"""The backbone: of the candidate statements, those that stand for the others."""

from collections.abc import Sequence

import numpy as np

from app.domain import paper_selection
from app.domain.fusion import Floats
from app.domain.ids import ThemeId
from app.domain.levels import Level
from app.domain.selection import DEFAULT, SelectionPolicy, representatives
from app.domain.vectors import Vector
from app.domain.vectors import unit as unit_length
from app.services.evidence import Evidence
from app.storage.unit_of_work import ReadUnit

BACKBONE = 20  # statements kept as representatives: more take the place of messages' own words, at any budget to 2,000


async def represent(
    unit: ReadUnit, evidence: Sequence[Evidence], count: int = BACKBONE, policy: SelectionPolicy = DEFAULT
) -> Sequence[Evidence]:
    """Of the statements keep `count` representatives: relevant, not repeating one another, of many themes."""
    stated = _statements(evidence)
    if len(stated) <= count:
        return evidence
    chosen = representatives(
        np.array([piece.item.score for piece in stated]),
        await _similarities(unit, stated),
        count,
        [piece.item.theme for piece in stated],
        policy,
    ).chosen
    return _with(evidence, [stated[index] for index in chosen])


async def represent_by_paper(unit: ReadUnit, evidence: Sequence[Evidence], question: Vector) -> Sequence[Evidence]:
    """The same by the published formula: a few themes, then a few of their statements."""
    policy = paper_selection.DEFAULT
    pool = _statements(evidence)[: policy.pool]
    if not pool:
        return evidence
    themes = await _paper_themes(unit, pool, question)
    members = [piece for piece in pool if piece.item.theme in themes] if themes else pool
    weights = paper_selection.neighbourhoods(await _similarities(unit, members))
    chosen = paper_selection.pick([piece.item.score for piece in members], weights, policy.statements)
    return _with(evidence, [members[index] for index in chosen])


async def _paper_themes(unit: ReadUnit, pool: Sequence[Evidence], question: Vector) -> set[ThemeId]:
    """The themes chosen among those that own a statement of the pool."""
    owning = dict.fromkeys(piece.item.theme for piece in pool if piece.item.theme is not None)
    sums = await unit.themes.sums(owning)
    if not sums:
        return set()
    ids = list(sums)
    centroids = unit_length(np.array([total for _, total in sums.values()]))
    weights = paper_selection.neighbourhoods((centroids @ centroids.T).astype(np.float64))
    chosen = paper_selection.pick((centroids @ question).tolist(), weights, paper_selection.DEFAULT.themes)
    return {ids[index] for index in chosen}


def _statements(evidence: Sequence[Evidence]) -> list[Evidence]:
    """The statements, best first."""
    stated = (piece for piece in evidence if piece.item.level is Level.STATEMENT)
    return sorted(stated, key=lambda piece: -piece.item.score)


async def _similarities(unit: ReadUnit, stated: Sequence[Evidence]) -> Floats:
    """The cosines (n, n) between statements."""
    vectors = await unit.embeddings.vectors(Level.STATEMENT, (piece.item.id for piece in stated))
    rows = np.array([vectors[piece.item.id] for piece in stated])
    similarities: Floats = (rows @ rows.T).astype(np.float64)
    return similarities


def _with(evidence: Sequence[Evidence], kept: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence without the statements that are not kept."""
    ids = {piece.item.id for piece in kept}
    return [piece for piece in evidence if piece.item.level is not Level.STATEMENT or piece.item.id in ids]
