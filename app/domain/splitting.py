"""Ways to cut a theme that is too large or too loose: where it comes apart by itself, and in two.

And a quick cut of very many rows, to look at them part by part.
"""

import numpy as np

from app.domain.vectors import Matrix, cosine

BISECTIONS = 8  # refinements of one cut in two; sets of a dozen settle in two or three

Way = tuple[tuple[int, ...], ...]
"""A partition of row numbers."""


def ways_to_cut(rows: Matrix, *, edge: float, cap: int) -> list[Way]:
    """Different partitions of the rows into two parts or more, none above `cap`; none if there is one row.

    Args:
        rows: shape (n, dimension), n >= 1.
        edge: cosine from which two rows hang together.
        cap: rows of a part, at least 1.
    """
    ways = {
        tuple(tuple(small) for part in way for small in _capped(rows, part, cap))
        for way in (_components(rows, edge), _bisected(rows, list(range(len(rows)))))
    }
    return [way for way in sorted(ways) if len(way) > 1]


def in_parts(rows: Matrix, most: int) -> list[list[int]]:
    """Row numbers in parts of at most `most`, each of rows that lie on one side of the others: halves of halves.

    For many rows; nothing is compared with everything. `rows` has shape (n, dimension), n >= 1.
    """
    parts, waiting = [], [list(range(len(rows)))]
    while waiting:
        part = waiting.pop()
        if len(part) <= most:
            parts.append(part)
            continue
        own = rows[part]
        left = own[int((own @ own.sum(axis=0)).argmin())]
        right = own[int((own @ left).argmin())]
        order = np.argsort(own @ (left - right), kind="stable")
        middle = len(part) // 2
        waiting += [sorted(part[at] for at in order[:middle]), sorted(part[at] for at in order[middle:])]
    return sorted(parts)


def _components(rows: Matrix, edge: float) -> list[list[int]]:
    """Connected parts of the graph whose edges are cosines of at least `edge`, in order of first member."""
    linked = cosine(rows, rows) >= edge
    left, parts = set(range(len(rows))), []
    while left:
        part: set[int] = set()
        border = {min(left)}
        while border:
            part |= border
            border = set(np.flatnonzero(linked[sorted(border)].any(axis=0)).tolist()) - part
        left -= part
        parts.append(sorted(part))
    return parts


def _capped(rows: Matrix, part: list[int], cap: int) -> list[list[int]]:
    if len(part) <= cap:
        return [part]
    return [small for half in _bisected(rows, part) for small in _capped(rows, half, cap)]


def _bisected(rows: Matrix, part: list[int]) -> list[list[int]]:
    """Two parts around the two least similar members; by halves where they do not tell members apart."""
    if len(part) < 2:
        return [part]
    own = rows[part]
    similar = cosine(own, own)
    centres = own[list(np.unravel_index(int(similar.argmin()), similar.shape))]
    right = np.zeros(len(part), dtype=bool)
    for _ in range(BISECTIONS):
        to_centre = cosine(own, centres)
        nearer = to_centre[:, 1] > to_centre[:, 0]
        if not nearer.any() or nearer.all():
            nearer = np.arange(len(part)) >= len(part) // 2
        if (nearer == right).all():
            break
        right = nearer
        centres = np.stack([own[~right].sum(axis=0), own[right].sum(axis=0)])
    return [[at for at, side in zip(part, right, strict=True) if side == wanted] for wanted in (False, True)]
