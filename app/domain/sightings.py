"""Looking for a text in whatever a database holds: where it stands, and never what stands beside it."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from app.domain.text import terms

ESCAPED = "\\u"  # how JSON may write what is not ASCII


@dataclass(frozen=True, slots=True)
class Sought:
    """A text to look for, whatever its case, its spaces and its form in Unicode. It must hold more than spaces."""

    text: str
    folded: str
    terms: frozenset[str]
    """Of which an index would hold it."""

    @classmethod
    def of(cls, text: str) -> "Sought":
        """Raises ValueError if there is nothing to look for."""
        folded = _folded(text)
        if not folded:
            raise ValueError("there is nothing to look for")
        return cls(text, folded, frozenset(terms(text)))

    def stands_in(self, value: Any) -> bool:  # noqa: ANN401
        """Whether a value of any column holds it: text, JSON, bytes (as UTF-8), or what prints as text."""
        if value is None:
            return False
        return any(self.folded in _folded(text) for text in _texts(value))

    def spellings(self) -> frozenset[bytes]:
        """The bytes that a file may hold it as, in the usual cases."""
        cases = {self.text, self.text.lower(), self.text.upper(), self.text.title(), self.text.capitalize()}
        escaped = {json.dumps(text)[1:-1] for text in cases}
        return frozenset(text.encode() for text in cases | escaped)


@dataclass(slots=True)
class Sighting:
    """Where a text was seen: `place` is a column (`table.column`) or a file, `ids` are some of the rows."""

    place: str
    count: int = 0
    ids: list[UUID] = field(default_factory=list)

    def add(self, id_: object, most: int) -> None:
        """Count one more; of the first few the id is kept."""
        self.count += 1
        if len(self.ids) < most and isinstance(id_, UUID):
            self.ids.append(id_)


def _texts(value: Any) -> Sequence[str]:  # noqa: ANN401
    if isinstance(value, bytes | bytearray | memoryview):
        return [bytes(value).decode(errors="ignore")]
    if isinstance(value, Mapping | list | tuple):
        return [json.dumps(value, ensure_ascii=False, default=str)]
    text = str(value)
    if ESCAPED not in text:
        return [text]
    try:
        return [text, json.dumps(json.loads(text), ensure_ascii=False)]
    except ValueError:
        return [text]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
