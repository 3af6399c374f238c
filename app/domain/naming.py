"""What a theme is called, and when a language model is asked for a better name."""

from dataclasses import dataclass

from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.records import Theme

NAMED_FROM = 3  # statements; of one or two the label in their own words says it all
RENAMED_AT = (NAMED_FROM, 6, 12)  # sizes that a theme outgrows its name at, each twice the one before


@dataclass(frozen=True, slots=True)
class Naming:
    """A theme's label and summary. `degraded`: they stand in until a model writes better ones."""

    label: str
    summary: str | None
    degraded: bool
    made_by: MadeBy


def name(label: str, size: int, before: Theme | None, *, reshaped: bool, with_model: bool) -> Naming:
    """The name of a theme whose members changed.

    Args:
        label: in its statements' own words.
        size: its statements now.
        before: the theme as it was, if it is not new.
        reshaped: statements left it, or came from another theme.
        with_model: there is a language model.
    """
    wanted = with_model and size >= NAMED_FROM
    if before is None or before.made_by == EXTRACTIVE or reshaped or not wanted:
        return Naming(label, None, wanted, EXTRACTIVE)
    outgrown = _steps(size) > _steps(before.size)
    return Naming(before.label, before.summary, before.degraded or outgrown, before.made_by)


def _steps(size: int) -> int:
    return sum(size >= step for step in RENAMED_AT)
