"""The backbone: of the candidate statements, those that stand for the others.

They are chosen by scores, vectors and themes, before any text is read.
"""

from collections.abc import Sequence

import numpy as np

from app.domain import paper_selection
from app.domain.fusion import Floats
from app.domain.ids import StatementId, ThemeId
from app.domain.levels import Level
from app.domain.selection import DEFAULT, SelectionPolicy, representatives
from app.domain.vectors import Vector
from app.domain.vectors import unit as unit_length
from app.services.ranking import Best
from app.storage.unit_of_work import ReadUnit

BACKBONE = 20  # statements kept as representatives: more take the place of messages' own words, at any budget to 2,000


async def represent(unit: ReadUnit, best: Best, count: int = BACKBONE, policy: SelectionPolicy = DEFAULT) -> Best:
    """Of the statements keep `count` representatives: relevant, not repeating one another, of many themes."""
    scores = best.get(Level.STATEMENT, {})
    if len(scores) <= count:
        return best
    stated = [StatementId(id_) for id_ in scores]
    homes = await unit.statements.homes_of(stated)
    chosen = representatives(
        np.array(list(scores.values())),
        await _similarities(unit, stated),
        count,
        [homes[id_] for id_ in stated],
        policy,
    ).chosen
    return _with(best, [stated[index] for index in chosen])


async def represent_by_paper(unit: ReadUnit, best: Best, question: Vector) -> Best:
    """The same by the published formula: a few themes, then a few of their statements."""
    policy, scores = paper_selection.DEFAULT, best.get(Level.STATEMENT, {})
    pool = [StatementId(id_) for id_ in scores][: policy.pool]
    if not pool:
        return best
    homes = await unit.statements.homes_of(pool)
    themes = await _paper_themes(unit, [homes[id_] for id_ in pool], question)
    members = [id_ for id_ in pool if homes[id_] in themes] if themes else pool
    weights = paper_selection.neighbourhoods(await _similarities(unit, members))
    chosen = paper_selection.pick([scores[id_] for id_ in members], weights, policy.statements)
    return _with(best, [members[index] for index in chosen])


async def _paper_themes(unit: ReadUnit, homes: Sequence[ThemeId | None], question: Vector) -> set[ThemeId]:
    """The themes chosen among those that own a statement of the pool."""
    sums = await unit.themes.sums(dict.fromkeys(home for home in homes if home is not None))
    if not sums:
        return set()
    ids = list(sums)
    centroids = unit_length(np.array([total for _, total in sums.values()]))
    weights = paper_selection.neighbourhoods((centroids @ centroids.T).astype(np.float64))
    chosen = paper_selection.pick((centroids @ question).tolist(), weights, paper_selection.DEFAULT.themes)
    return {ids[index] for index in chosen}


async def _similarities(unit: ReadUnit, stated: Sequence[StatementId]) -> Floats:
    """The cosines (n, n) between statements."""
    vectors = await unit.embeddings.vectors(Level.STATEMENT, stated)
    rows = np.array([vectors[id_] for id_ in stated])
    similarities: Floats = (rows @ rows.T).astype(np.float64)
    return similarities


def _with(best: Best, kept: Sequence[StatementId]) -> Best:
    """The same with no other statements than those that are kept."""
    return {**best, Level.STATEMENT: {id_: best[Level.STATEMENT][id_] for id_ in kept}}
