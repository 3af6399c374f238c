"""Which statement says which labelled fact."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from tests.dialogues.loading import Dialogue, Fact

_CJK = "\u3040-\u30ff\u4e00-\u9fff"
_JOINED = f"(?:(?![{_CJK}])\\w)"  # a letter or digit of a script that leaves spaces between words
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")


@dataclass(frozen=True, slots=True)
class Row:
    """A statement as the API gives it; `cites` are the numbers of its messages."""

    id: str
    text: str
    cites: frozenset[int]
    support: int
    kind: str
    occurred_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: str | None


def match(dialogue: Dialogue, rows: Sequence[Row]) -> Mapping[str, Row]:
    """The statement of each fact that has one, as many facts as possible.

    Facts that rest on a common message may share a statement; others need their own.
    """
    fitting = {name: options(dialogue, fact, rows) for name, fact in dialogue.facts.items()}
    owner: dict[str, str] = {}

    def place(name: str, tried: set[str]) -> bool:
        for row in fitting[name]:
            if row.id not in tried:
                tried.add(row.id)
                if row.id not in owner or place(owner[row.id], tried):
                    owner[row.id] = name
                    return True
        return False

    for name in sorted(fitting, key=lambda name: len(fitting[name])):
        place(name, set())
    by_id = {row.id: row for row in rows}
    found = {name: by_id[id_] for id_, name in owner.items()}
    for name in fitting.keys() - found.keys():
        mine = set(dialogue.facts[name].cites)
        shared = (row for row in fitting[name] if mine & set(dialogue.facts[owner[row.id]].cites))
        if row := next(shared, None):
            found[name] = row
    return found


def options(dialogue: Dialogue, fact: Fact, rows: Sequence[Row]) -> list[Row]:
    """The statements that say the fact, those that rest on its very messages first."""
    wanted = set(fact.cites)
    fitting = [row for row in rows if wanted & row.cites and says(dialogue, fact, row.text)]
    gone = fact.superseded_by is not None
    return sorted(fitting, key=lambda row: (len(row.cites ^ wanted), (row.superseded_by is not None) != gone, row.id))


def says(dialogue: Dialogue, fact: Fact, text: str) -> bool:
    """Whether a statement's text says the fact, and of the right person."""
    folded = _fold(text)
    return (
        _speaker_fits(dialogue, fact, text)
        and all(_phrase(phrase).search(folded) for phrase in fact.has)
        and not any(_phrase(phrase).search(folded) for phrase in fact.lacks)
    )


def _speaker_fits(dialogue: Dialogue, fact: Fact, text: str) -> bool:
    """Whether the text begins with the fact's speaker (or with whoever asked), or names the speaker at all."""
    speakers = {message.who for message in dialogue.messages.values()}
    prefix = text.partition(":")[0].strip()
    if prefix in speakers:
        return prefix in {fact.by} | {dialogue.messages[number].who for number in fact.beside}
    named = [name for name in sorted(speakers, key=len, reverse=True) if _phrase(name).search(_fold(text))]
    longer = [name for name in named if name != fact.by and fact.by in name]  # "Ann Lee" is not Ann
    return fact.by in named and not longer


@cache
def _phrase(label: str) -> re.Pattern[str]:
    return re.compile("|".join(_pattern(part) for part in _fold(label).split("|")))


def _pattern(part: str) -> str:
    """Whole words, except in Chinese and Japanese, where words have no ends."""
    words = r"\s+".join(re.escape(word).replace(r"\*", rf"{_JOINED}*") for word in part.split())
    before = rf"(?<!{_JOINED})" if re.match(_JOINED, part) else ""
    after = rf"(?!{_JOINED})" if re.search(rf"{_JOINED}$", part) else ""
    return f"{before}{words}{after}"


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHES)
