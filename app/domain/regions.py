"""Dividing a region of themes that holds too many, into parts of themes that are near to one another."""

from collections.abc import Sequence

import numpy as np

from app.domain.vectors import Matrix, Vector, unit

CROWDED = 128  # themes of a region, above which it is divided
ROOM = 96  # themes of a part when it is cut off: it can grow before it is divided again
ROUNDS = 6  # of putting rows to the nearest centre; three give most of what eight give


def divided(rows: Matrix) -> list[list[int]]:
    """Parts of the row numbers, none above `CROWDED`; rows have shape (n, dimension), n >= 1."""
    parts = _cut(rows, list(range(len(rows))))
    if len(parts) > 1:
        for _ in range(ROUNDS):
            parts = _gathered(rows, parts)
    return sorted(part for found in parts for part in (_cut(rows, found) if len(found) > CROWDED else [found]))


def sums(rows: Matrix, parts: Sequence[Sequence[int]]) -> list[Vector]:
    """The sum of each part's rows."""
    return [rows[list(part)].sum(axis=0) for part in parts]


def _cut(rows: Matrix, part: list[int]) -> list[list[int]]:
    """Halves, and halves of those, at the median of the axis between two rows that are far apart."""
    waiting, parts = [part], []
    while waiting:
        part = waiting.pop()
        if len(part) <= ROOM:
            parts.append(part)
            continue
        own = rows[part]
        first = own[int((own @ own.sum(axis=0)).argmin())]
        axis = first - own[int((own @ first).argmin())]
        order = np.argsort(own @ axis, kind="stable")
        half = len(part) // 2
        waiting += [sorted(part[at] for at in order[:half]), sorted(part[at] for at in order[half:])]
    return sorted(parts)


def _gathered(rows: Matrix, parts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Each row in the part whose centre is nearest, as who looks for it will guess; parts without any end."""
    nearest = (rows @ unit(np.stack(sums(rows, parts))).T).argmax(axis=1)
    found = (np.flatnonzero(nearest == part).tolist() for part in range(len(parts)))
    return [part for part in found if part]
