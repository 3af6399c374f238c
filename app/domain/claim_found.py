"""What a frame finds, and the pieces of clauses that frames share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.domain import claim_words as words
from app.domain.canonical import MARK
from app.domain.clauses import Word
from app.domain.wording import WEEKDAY

BARE = "be:"  # begins the attribute of a clause that only says whether something holds
ANY = "*"  # the value of what was given up: it excludes every other
AGED = "aged"  # the attribute of a person of whom there may be several
PREPOSITIONS = frozenset(("of", "at", "in", "on", "for", "to", "from", "with", "over", "fur", "von", "bei", "im"))


@dataclass(frozen=True, slots=True)
class Found:
    """An attribute of a subject ("" is whoever speaks) and its value; see `claims.Claim` for the rest."""

    subject: str
    attribute: str
    value: str = ""
    denied: bool = False
    count: str = ""
    due: date | None = None
    since: date | None = None
    lasting: bool = True

    @property
    def is_bare(self) -> bool:
        """Whether the words only say that something holds."""
        return self.attribute.startswith(BARE)

    def for_ever(self) -> "Found":
        """The same, of a statement that stays true when this ends, since it says more."""
        return replace(self, lasting=False)


def residence(place: str, prep: str = "in") -> str:
    if prep in ("on", "under", "behind", "near"):
        return f"live {prep}"
    return "live in a country" if place in words.COUNTRIES else "live"


def capitals(rest: Sequence[Word]) -> str:
    """The name that `rest` begins with."""
    end = next((place for place, word in enumerate(rest) if not word.capital or word.text == MARK), len(rest))
    return " ".join(word.text for word in rest[:end])


def masked(texts: Sequence[str], *, weekdays: bool = False) -> tuple[list[str], list[str]]:
    """The words with a sign for each number (and weekday), and what stood there."""
    signs: list[str] = []
    values: list[str] = []
    for text in texts:
        if (has_digit(text) and "/" not in text) or (weekdays and WEEKDAY.fullmatch(text)):
            values.append(text)
            signs.append("#")
        elif text in ("am", "pm", "uhr", "o'clock") and signs[-1:] == ["#"]:
            values.append(text)
        else:
            signs.append(text)
    if signs[-2:] in (["years", "old"], ["jahre", "alt"]):
        del signs[-2:]
    return signs, values


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
