"""Settling: moves around what has changed, the best one first, until none gains."""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from app.domain.board import Board, Theme
from app.domain.moves import Kind, Move, best_moves, gains, ways
from app.domain.published import published_moves

MOVES_PER_STATEMENT = 8  # a bound; two or three for each statement of an unsettled theme are usual


def settle(board: Board) -> None:
    """Make the best moves around the board's unsettled themes, and around those that they change.

    In the balanced form every move gains more than the price of the statements that it moves, so this ends by itself;
    in the published one, whose gains are told among the themes near by only, the bound may end it.
    """
    _cut_to_size(board)
    waiting = _Waiting(board, best_moves if board.policy.form == "balanced" else published_moves)
    left = MOVES_PER_STATEMENT * sum(board.themes[key].size for key in board.unsettled)
    waiting.look()
    while left and (move := waiting.best()):
        make(board, move)
        waiting.look()
        left -= 1
    board.unsettled.clear()


@dataclass(frozen=True, slots=True)
class _Found:
    """A move, and the versions of its themes when it was found."""

    move: Move
    versions: tuple[int, ...]

    @property
    def stale(self) -> bool:
        return any(theme.version != seen for theme, seen in zip(self.move.themes, self.versions, strict=True))


class _Waiting:
    """The best moves of each theme, to be made in the order of what they gain."""

    def __init__(self, board: Board, moves: Callable[[Board, Theme], list[Move]]) -> None:
        self._board, self._moves = board, moves
        self._heap: list[tuple[float, int, list[_Found]]] = []
        self._number = count()  # ties go to what was found first

    def look(self) -> None:
        """Find moves for the themes that changed; a move has been found with both its sides."""
        for key in sorted(self._board.unsettled):
            self._find(key)
        self._board.unsettled.clear()

    def best(self) -> Move | None:
        """The best move that is still as it was found, and gains."""
        while self._heap:
            _, _, (found, *others) = heappop(self._heap)
            if found.stale:
                for theme, seen in zip(found.move.themes, found.versions, strict=True):
                    if theme.version == seen:  # the other side changed: this one may have another move
                        self._find(theme.key)
            elif self._board.policy.form == "paper" or gains(self._board, found.move):
                return found.move
            else:
                self._put(others)
        return None

    def _find(self, key: int) -> None:
        if key in self._board.themes:
            moves = self._moves(self._board, self._board.themes[key])
            self._put([_Found(move, tuple(theme.version for theme in move.themes)) for move in moves])

    def _put(self, found: list[_Found]) -> None:
        if found:
            heappush(self._heap, (-round(found[0].move.rank, 6), next(self._number), found))


def make(board: Board, move: Move) -> None:
    """Make a move."""
    if move.kind is Kind.JOIN:
        stays, ends = move.themes
        board.join(stays, ends, move.similarity, move.threshold)
    elif move.statement is None:
        board.cut(move.themes[0], move.parts, move.similarity)
    else:
        source, *target = move.themes
        board.move(move.statement, source, target[0] if target else None, move.similarity, move.threshold)


def _cut_to_size(board: Board) -> None:
    """A theme above the cap, which may have been higher once, is cut whatever that costs."""
    for key, theme in sorted(board.themes.items()):
        if theme.size > board.policy.cap:
            make(board, max(ways(board, theme), key=lambda move: move.rank))
            board.unsettled.add(key)
