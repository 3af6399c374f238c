"""Whether a reply goes round in circles: small models say the same words, or the same items of a list, without end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

LONGEST_LOOP = 24  # tokens that come again and again
LOOPS, LOOPED = 4, 24  # a loop is what came so many times, and is so many tokens long in all

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def loops(tokens: Sequence[int]) -> bool:
    """Whether the same few tokens came again and again at the end."""
    for period in range(1, LONGEST_LOOP + 1):
        length = max(LOOPS * period, LOOPED)
        if len(tokens) >= length and tokens[-length + period :] == tokens[-length:-period]:
            return True
    return False


@dataclass(slots=True)
class _Open:
    """A bracket that is open, where it stands, and the words of the objects in it, if it is a list."""

    start: int
    is_list: bool
    said: set[tuple[bytes, ...]] = field(default_factory=set)


class JsonWatch:
    """Reads a JSON text as it is written."""

    def __init__(self) -> None:
        self.text = bytearray()
        self.string: list[int] = []
        """The tokens of the string that is being written; empty outside of one."""
        self.repeats_from: int | None = None
        """Where an object begins that says in the same words what one before it in its list says."""
        self._open: list[_Open] = []
        self._in_string = self._escaped = False

    def follow(self, token: int, piece: bytes) -> None:
        """Read on: a token and its bytes."""
        if self._in_string:
            self.string.append(token)
        for byte in piece:
            self.text.append(byte)
            if self._in_string:
                self._inside(byte)
            else:
                self._outside(chr(byte))

    def _inside(self, byte: int) -> None:
        if self._escaped or byte == ord("\\"):
            self._escaped = not self._escaped
        elif byte == ord('"'):
            self._in_string = False
            self.string = []

    def _outside(self, sign: str) -> None:
        if sign == '"':
            self._in_string = True
        elif sign in "[{":
            self._open.append(_Open(len(self.text) - 1, sign == "["))
        elif sign in "]}":
            self._compare(self._open.pop())

    def _compare(self, closed: _Open) -> None:
        """An object of a list: numbers apart, has it been said before?"""
        around = self._open[-1] if self._open else None
        if closed.is_list or around is None or not around.is_list:
            return
        words = tuple(_STRING.findall(self.text, closed.start))
        if words in around.said:
            self.repeats_from = closed.start
        around.said.add(words)
