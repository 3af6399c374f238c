"""Moves in the published form: thresholds say what is tried, and the gain among the near themes decides.

A new statement goes to the nearest theme if that is near enough, whatever it gains; then loose themes are split and
near ones merged.
"""

from collections.abc import Iterator

from app.domain.board import Board, Theme
from app.domain.moves import Kind, Move, ways
from app.domain.objective import tightness

MIN_GAIN = 1e-6  # of the objective; less is rounding, and would let a split and a merge undo each other
FIRST = 3.0  # above every gain: attaching comes before all else


def published_moves(board: Board, theme: Theme) -> list[Move]:
    """The moves around a theme that gain among the themes near it, best first."""
    attached = _attached(board, theme)
    if attached is not None:
        return [attached]
    found = [*_merges(board, theme), *_cuts(board, theme)]
    return sorted(found, key=lambda move: (-round(move.rank, 9), move.kind))


def _attached(board: Board, theme: Theme) -> Move | None:
    if not board.is_new(theme):
        return None
    for home, similar in board.nearest(theme)[:1]:
        enough = board.policy.attach_small if home.size + 1 < board.policy.cap else board.policy.attach
        if similar >= enough and home.size < board.policy.cap:
            return Move(Kind.JOIN, FIRST + similar, 0.0, (home, theme), similar, enough)
    return None


def _merges(board: Board, theme: Theme) -> Iterator[Move]:
    for other, similar in board.nearest(theme):
        alone = min(theme.size, other.size) == 1
        enough = board.policy.attach if alone else board.policy.merge
        if similar < enough or theme.size + other.size > board.policy.cap:
            continue
        stays, ends = sorted((theme, other), key=lambda one: (one.id is None, -one.size, one.key))
        move = Move(Kind.JOIN, 0.0, 0.0, (stays, ends), similar, enough)
        yield from _gaining(board, move)


def _cuts(board: Board, theme: Theme) -> Iterator[Move]:
    if tightness([theme.stat], alone=1.0)[0] < board.policy.intra:
        for move in ways(board, theme):
            yield from _gaining(board, move)


def _gaining(board: Board, move: Move) -> Iterator[Move]:
    gained = board.mean_gain(move.themes, move.after)
    if gained > MIN_GAIN:
        yield move.ranked(gained)
