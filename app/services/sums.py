"""Sums of vectors: what a theme keeps of its members."""

from collections.abc import Mapping
from uuid import UUID

import numpy as np

from app.domain.ids import ThemeId
from app.domain.levels import Level
from app.domain.vectors import Vector
from app.storage.embeddings import EmbeddingRepository
from app.storage.unit_of_work import ReadUnit

THEMES_AT_ONCE = 100  # whose members' vectors are held in memory


async def sums_of_themes(unit: ReadUnit, source: EmbeddingRepository, dimension: int) -> Mapping[ThemeId, Vector]:
    """For each theme the sum of its members' vectors, as `source` has them."""
    sums: dict[ThemeId, Vector] = {}
    after: UUID | None = None
    while page := await unit.themes.page(after, THEMES_AT_ONCE):
        after = page[-1].id
        members = await unit.statements.of_themes([theme.id for theme in page])
        inside = {theme: [statement for statement, _ in group] for theme, group in members.items()}
        vectors = await source.vectors(Level.STATEMENT, (one for group in inside.values() for one in group))
        for theme in page:
            total = np.zeros(dimension, dtype=np.float64)
            for statement in inside.get(theme.id, ()):
                total += vectors.get(statement, 0)  # a statement without a vector is the doctor's business
            sums[theme.id] = total.astype(np.float32)
    return sums
