"""What the reading of a time is made of: rules, what may stand beside a time, and how patterns are written."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from app.domain.periods import Period

Value = TypeVar("Value")

FIGURE = "0"
"""Stands for any figure among the words of a text."""

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Said:
    """The day a text was said, and the language of most of its words (ISO 639-1)."""

    today: date
    language: str


Read = Callable[[re.Match[str], Said], Period | None]
Apply = Callable[[re.Match[str], Period, Said], Period | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """`read` gives the period that a match names, or None; so does ValueError, OverflowError or KeyError.

    A text that matches holds one of `cues` (words in lower case, or FIGURE), unless there are none; others need not be
    searched.
    """

    pattern: re.Pattern[str]
    read: Read
    cues: frozenset[str]

    @property
    def phrase(self) -> str | int:
        """The group that is the phrase."""
        return "phrase" if "phrase" in self.pattern.groupindex else 0


@dataclass(frozen=True, slots=True)
class Modifier:
    """Words just before or after a time that make another of it ("the week before", "since", "on Tuesday").

    `joins` says that the phrase then covers them. `apply` fails as a rule's `read` does.
    """

    pattern: re.Pattern[str]
    apply: Apply
    joins: bool = True


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one language names times.

    `before` is matched against what ends where a time begins, if its last word is one of `leading` (unless there are
    none), `after` against what begins where a time ends. Two times are the ends of one where `to` is all between
    them, or `and_` with `between` before the first.
    """

    language: str
    rules: tuple[Rule, ...]
    leading: frozenset[str]
    before: tuple[Modifier, ...]
    after: tuple[Modifier, ...]
    to: re.Pattern[str]
    between: re.Pattern[str]
    and_: re.Pattern[str]


def words_in(text: str) -> list[str]:
    """The words of a text, in lower case, without figures."""
    return _WORD.findall(text.casefold())


def any_of(words: Iterable[str]) -> str:
    """An alternative of words, longest first."""
    return "|".join(sorted(words, key=len, reverse=True))


def compiled(pattern: str) -> re.Pattern[str]:
    """Case ignored; a space stands for up to three white spaces, an apostrophe for either form of it."""
    spaced = pattern.replace(" ?", r"\s{0,3}").replace(" ", r"\s{1,3}")
    return re.compile(spaced.replace("'", "['’]"), re.IGNORECASE)


def looked_up(table: Mapping[str, Value], words: str) -> Value:
    """The entry for words as they stand in a text.

    Raises KeyError for a word that the pattern took for another: it holds ſ and s, İ and i to be the same.
    """
    return table[" ".join(words.casefold().replace("’", "'").split())]
