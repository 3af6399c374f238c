"""Moves: how the themes around one could be better. What each would gain is told from sums alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from app.domain.board import NO_HOME, Board, Members, Theme
from app.domain.ids import StatementId
from app.domain.objective import Floats, apart, tightness
from app.domain.splitting import ways_to_cut
from app.domain.vectors import TINY

MIN_GAIN = 0.01  # of the objective's sum; less is not worth a write, and far above the rounding of float32
TRIED = 4  # best moves of a theme that are looked at; nearly always the first will do
LEAST_CUT = 4  # statements; smaller themes come apart one by one

Near = Sequence[tuple[Theme, float]]


class Kind(IntEnum):
    """What a move does; where two rank the same, the lower goes first."""

    JOIN = 0
    MOVE = 1
    CUT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """One way to change themes. `rank` is what it gains, less the price of the statements that it moves.

    JOIN puts the statements of `themes[1]` into `themes[0]`; MOVE puts `statement` of `themes[0]` into `themes[1]`,
    or into a theme of its own; CUT exchanges `themes[0]` for `parts`. `similarity` and `threshold` as in `Step`.
    """

    kind: Kind
    rank: float
    price: float
    themes: tuple[Theme, ...]
    similarity: float
    threshold: float
    statement: StatementId | None = None
    parts: tuple[Members, ...] = ()

    @property
    def after(self) -> tuple[Members, ...]:
        """What the themes hold then."""
        if self.kind is Kind.JOIN:
            return (self.themes[0].members | self.themes[1].members,)
        if self.statement is None:
            return self.parts
        source = self.themes[0].members
        added = dict(self.themes[1].members) if len(self.themes) > 1 else {}
        left = {key: vector for key, vector in source.items() if key != self.statement}
        return left, added | {self.statement: source[self.statement]}

    def ranked(self, rank: float) -> "Move":
        """The same move with another rank."""
        return replace(self, rank=rank)


def best_moves(board: Board, theme: Theme) -> list[Move]:
    """The few moves around a theme that seem to gain most in the balanced form, best first."""
    near = board.nearest(theme)
    found = [*_joins(board, theme, near), *_moves(board, theme, near), *_cuts(board, theme)]
    return sorted(found, key=lambda move: (-round(move.rank, 6), move.kind))[:TRIED]


def gains(board: Board, move: Move) -> bool:
    """Whether a move gains also with what it does to themes that are redundantly near, which ranks leave out."""
    return board.total_gain(move.themes, move.after) - move.price > MIN_GAIN


def _joins(board: Board, theme: Theme, near: Near) -> Iterator[Move]:
    """The theme and a near one as one theme."""
    policy = board.policy
    fitting = [
        (other, similar)
        for other, similar in near
        if similar >= policy.attach_small and other.size + theme.size <= policy.cap
    ]
    if not fitting:
        return
    sums, sizes, squares, worth = _table([other for other, _ in fitting])
    dots = sums @ theme.stat.vector_sum
    gains = apart(sizes + theme.size, squares + theme.square + 2 * dots, policy.balance) - worth - theme.worth
    for (other, similar), gained in zip(fitting, gains.tolist(), strict=True):
        if gained > MIN_GAIN:
            stays, ends, price = _order(theme, other)
            yield Move(Kind.JOIN, gained - price, price, (stays, ends), similar, policy.attach_small)


def _order(one: Theme, other: Theme) -> tuple[Theme, Theme, float]:
    """Which of two themes stays, which ends, and the price of the statements that leave their home."""

    def price(stays: Theme, ends: Theme) -> float:
        return ends.from_home.get(ends.key, 0.0) - ends.from_home.get(stays.key, 0.0)

    def older(pair: tuple[Theme, Theme]) -> tuple[float, bool, int, int]:
        return round(price(*pair), 6), pair[0].id is None, -pair[0].size, pair[0].key

    stays, ends = min((one, other), (other, one), key=older)
    return stays, ends, price(stays, ends)


def _moves(board: Board, theme: Theme, near: Near) -> Iterator[Move]:
    """One statement into a near theme or out of one, or into a theme of its own."""
    others = [other for other, _ in near]
    if theme.size > 1:
        yield from _transfer(board, [theme], others)
        yield from _alone(board, theme)
    yield from _transfer(board, [other for other in others if other.size > 1], [theme])


def _transfer(board: Board, sources: Sequence[Theme], targets: Sequence[Theme]) -> Iterator[Move]:
    """The best move of one statement of `sources` to one of `targets`."""
    policy = board.policy
    targets = [target for target in targets if target.size < policy.cap]
    if not sources or not targets:
        return
    sums, sizes, squares, worth = _table(targets)
    dots = np.concatenate([source.rows for source in sources]) @ sums.T  # (statements, targets)
    similar = dots / np.sqrt(squares)
    prices = np.concatenate([_prices(source, targets) for source in sources])
    left = np.concatenate([source.leaving for source in sources])
    gains = left[:, None] + apart(sizes + 1, squares + 2 * dots + 1, policy.balance) - worth - prices
    gains[similar < policy.attach_small] = -np.inf
    at, to = divmod(int(gains.round(6).argmax()), len(targets))
    if gains[at, to] <= MIN_GAIN:
        return
    places = [(source, within) for source in sources for within in range(source.size)]
    source, within = places[at]
    price = float(prices[at, to])
    pair = source, targets[to]
    yield Move(
        Kind.MOVE, float(gains[at, to]), price, pair, float(similar[at, to]), _fit(source, within), source.ids[within]
    )


def _alone(board: Board, theme: Theme) -> Iterator[Move]:
    """The statement that fits least, by itself."""
    prices = np.where(theme.homes == theme.key, theme.prices, 0.0)
    single = apart(np.ones(1), np.ones(1), board.policy.balance)
    gains = theme.leaving + single - prices
    at = int(gains.round(6).argmax())
    if gains[at] > MIN_GAIN:
        price = float(prices[at])
        yield Move(Kind.MOVE, float(gains[at]), price, (theme,), 0.0, _fit(theme, at), theme.ids[at])


def _fit(theme: Theme, at: int) -> float:
    """The cosine of a statement to its own theme's centroid."""
    return float(theme.rows[at] @ theme.stat.vector_sum / max(theme.square, TINY) ** 0.5)


def _prices(source: Theme, targets: Sequence[Theme]) -> Floats:
    """What it costs to take each statement of `source` to each target, (n, targets); below 0 where that is its home."""
    keys = np.array([target.key for target in targets])
    leaves = (source.homes == source.key).astype(np.float64)
    prices: Floats = source.prices[:, None] * (leaves[:, None] - (source.homes[:, None] == keys))
    return prices


def _cuts(board: Board, theme: Theme) -> Iterator[Move]:
    """A loose theme in parts, if that gains."""
    if theme.size >= LEAST_CUT and _tight(theme) < board.policy.intra:
        yield from (move for move in ways(board, theme) if move.rank > MIN_GAIN)


def ways(board: Board, theme: Theme) -> Iterator[Move]:
    """Every way to cut a theme, whatever it gains."""
    policy = board.policy
    for way in ways_to_cut(theme.rows, edge=policy.edge, cap=policy.cap):
        parts = [{theme.ids[at]: theme.members[theme.ids[at]] for at in part} for part in way]
        parts.sort(key=lambda part: (-round(_at_home(board, theme, part), 6), -len(part), min(part)))
        price = sum(_at_home(board, theme, part) for part in parts[1:])
        sums = np.stack([theme.rows[list(part)].sum(axis=0, dtype=np.float64) for part in way])
        sizes = np.array([float(len(part)) for part in way])
        rank = float(apart(sizes, (sums**2).sum(axis=1), policy.balance).sum()) - theme.worth - price
        yield Move(Kind.CUT, rank, price, (theme,), _tight(theme), policy.intra, parts=tuple(parts))


def _at_home(board: Board, theme: Theme, part: Members) -> float:
    """What it would cost to take a part of a theme from there."""
    homes = (board.homes.get(id_, NO_HOME) for id_ in part)
    return sum(home.price for home in homes if home.key == theme.key)


def _tight(theme: Theme) -> float:
    return float(tightness([theme.stat], alone=1.0)[0])


def _table(themes: Sequence[Theme]) -> tuple[Floats, Floats, Floats, Floats]:
    """The themes' sums (K, dimension), and their sizes, squared lengths and worth, (K,) each."""
    numbers = np.array([(theme.size, theme.square, theme.worth) for theme in themes], dtype=np.float64)
    sums = np.stack([theme.stat.vector_sum for theme in themes]).astype(np.float64)
    return sums, numbers[:, 0], np.maximum(numbers[:, 1], TINY), numbers[:, 2]
