"""Labels and summaries of several themes at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.fencing import Block, fence, numbered
from app.domain.keyphrases import MAX_LABEL, shorten
from app.prompts.replies import Part, at_most, each, schema_of, several
from app.prompts.wording import DATA

VERSION = "1"
MOST = 12  # themes in one call
SUMMARY_CHARACTERS = 240
TOKENS_EACH = 110  # of a label, its summary and their JSON

SYSTEM = f"""\
Between <themes> tags are groups of remembered facts, each line with the number of its group.
{DATA}
Give every group a label of two to five words that tells it from the others, and a summary: one sentence with what \
its facts say together, by name. Write in the language of the facts; add nothing to them."""


@dataclass(frozen=True, slots=True)
class Named:
    """A label and a summary for the group of this number."""

    number: int
    label: str
    summary: str


class _Theme(Part):
    theme: int
    label: Annotated[str, Field(min_length=1)] = at_most(MAX_LABEL)
    summary: Annotated[str, Field(min_length=1)] = at_most(SUMMARY_CHARACTERS)


class _Reply(Part):
    themes: list[_Theme] = several(MOST)


def render(groups: Sequence[Sequence[str]]) -> Prompt:
    """Ask for the labels of groups of statements, numbered from 1."""
    lines = [numbered(number, text) for number, group in enumerate(groups, 1) for text in group]
    return Prompt(
        Stage.LABEL,
        VERSION,
        SYSTEM,
        fence(Block.THEMES, lines),
        schema_of(_Reply, Stage.LABEL),
        TOKENS_EACH * len(groups),
    )


def parse(data: object) -> list[Named]:
    """What is well-formed, the first for each number. Raises UnusableReply."""
    found = data.get("themes") if isinstance(data, dict) else None
    if not isinstance(found, list) or not found:
        raise UnusableReply("it has no list of themes")
    themes, _ = each(_Theme, found)
    first = {theme.theme: theme for theme in reversed(themes)}
    return [
        Named(number, shorten(theme.label, MAX_LABEL), shorten(theme.summary, 2 * SUMMARY_CHARACTERS))
        for number, theme in sorted(first.items())
    ]
