"""What a theme is called, and when a language model is asked for a better name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.ids import StatementId
from app.domain.keyphrases import label
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.records import Theme
from app.domain.text import terms

NAMED_FROM = 3  # statements; of one or two the label in their own words says it all
RENAMED_AT = (NAMED_FROM, 6, 12)  # sizes that a theme outgrows its name at, each twice the one before


@dataclass(frozen=True, slots=True)
class Naming:
    """A theme's label and summary, and the statements that they were made from.

    `degraded`: they stand in until a model writes better ones.
    """

    label: str
    summary: str | None
    degraded: bool
    made_by: MadeBy
    made_from: tuple[StatementId, ...]


def name(label: str, members: Sequence[StatementId], before: Theme | None, *, joined: bool, with_model: bool) -> Naming:
    """The name of a theme whose members changed.

    A model's name stays until it tells of a statement that left, or the theme took in another or outgrew it.

    Args:
        label: in its statements' own words.
        members: its statements now.
        before: the theme as it was, if it is not new.
        joined: other themes have ended in it.
        with_model: there is a language model.
    """
    wanted = with_model and len(members) >= NAMED_FROM
    if before is None or before.made_by == EXTRACTIVE or joined or not wanted or _tells_of_others(before, members):
        return Naming(label, None, wanted, EXTRACTIVE, tuple(members))
    outgrown = _steps(len(members)) > _steps(before.size)
    return Naming(before.label, before.summary, before.degraded or outgrown, before.made_by, before.made_from)


def plain_label(texts: Sequence[str], spread: Mapping[str, int], speakers: Sequence[str]) -> str:
    """What a theme's statements are called in their own words.

    Args:
        texts: of all its statements.
        spread: how many statements of the namespace hold each of their terms, those of the theme among them.
        speakers: who speaks here: their names make no label.
    """
    inside = Counter(term for text in texts for term in set(terms(text)))
    background = {term: max(0, spread.get(term, 0) - count) for term, count in inside.items()}
    return label(texts, background, speakers=speakers)


def _tells_of_others(before: Theme, members: Sequence[StatementId]) -> bool:
    """Whether a statement left that the name was made from; one from before that was recorded tells of all."""
    return not set(before.made_from) <= set(members) or (not before.made_from and len(members) < before.size)


def _steps(size: int) -> int:
    return sum(size >= step for step in RENAMED_AT)
