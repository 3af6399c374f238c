"""What an exchange of some themes for others gains in the balanced objective, exactly, by looking at few themes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from app.domain.centroids import Centroids
from app.domain.objective import Balance, Floats, ThemeStat, worth
from app.domain.vectors import Matrix, unit

Places = NDArray[np.intp]
Cosines = NDArray[np.float32]


def gain(
    centroids: Centroids,
    stat: Callable[[int], ThemeStat],
    ended: Sequence[int],
    begun: Sequence[ThemeStat],
    balance: Balance,
) -> float:
    """By how much the sum of all themes' worth grows: the objective's gain times the number of statements.

    The only other themes whose worth can change are those that are redundantly near to one of the exchanged.

    Args:
        centroids: of all themes, before the exchange.
        stat: of each theme, by its key.
        ended: keys of the themes that go.
        begun: the themes that come, which hold the same statements.
        balance: the objective's constants.
    """
    rows, out = centroids.rows, centroids.places(ended)
    new = unit(np.stack([stat.vector_sum for stat in begun]))
    similar = np.concatenate([new, rows[out]]) @ rows.T  # (begun + ended, all)
    to_begun, to_ended = similar[: len(new)], similar[len(new) :]
    to_begun[:, out] = -np.inf
    to_ended[np.arange(len(out)), out] = -np.inf

    among = new @ new.T
    np.fill_diagonal(among, -np.inf)
    change = worth(begun, np.maximum(_most(to_begun), _most(among)), balance)
    change -= worth([stat(key) for key in ended], _most(to_ended), balance)

    close = similar.max(axis=0) > balance.redundant
    close[out] = False
    if close.any():
        third = np.flatnonzero(close)
        before, after = _nearest(rows, third, to_begun, out)
        others = [stat(int(key)) for key in centroids.keys[third]]
        change += worth(others, after, balance) - worth(others, before, balance)
    return change


def _nearest(rows: Matrix, third: Places, to_begun: Cosines, out: Sequence[int]) -> tuple[Floats, Floats]:
    """The cosine of each of the `third` to the nearest other theme, before and after the exchange."""
    similar = rows[third] @ rows.T
    similar[np.arange(len(third)), third] = -np.inf
    before = _most(similar)
    similar[:, out] = -np.inf
    return before, np.maximum(_most(similar), _most(to_begun[:, third].T))


def _most(similar: Cosines) -> Floats:
    """The highest of each row, minus infinity where there is none."""
    most: Floats = similar.max(axis=1, initial=-np.inf).astype(np.float64)
    return most
