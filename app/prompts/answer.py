"""An answer from evidence, with the lines that carry it, or an abstention."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator

from app.domain.answers import CONFLICT, NO_EVIDENCE, OUTSIDE_TIME, WRONG_PERSON
from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.fencing import Block, fence
from app.domain.packing import dated
from app.domain.phrasing import phrasing
from app.prompts.replies import Optional, Part, maybe, read, schema_of, several
from app.prompts.wording import DATA

VERSION = "2"
ANSWER_CHARACTERS = 800
MOST_CITED = 10
MAX_TOKENS = 500
NONE = "none"  # endpoints refuse an empty string among the values of a field
ANSWER = "answer"  # the field of a reply that may be shown while it is written

SYSTEM = f"""\
You answer a question from the numbered lines between <context> tags, and from nothing else. The date above a line is \
the day it was said.
{DATA}
answer: short and complete, in the language of the question; dates instead of words such as yesterday. Where later \
lines correct earlier ones the latest hold; where it is open which hold, name both sides with their dates.
lines: the numbers of the lines that carry the answer.
If the lines do not tell, set abstained, leave answer empty, and give the reason:
- {WRONG_PERSON}: they say it of somebody else than the question asks about.
- {OUTSIDE_TIME}: they say it of another time than the question asks about.
- {CONFLICT}: lines of one day contradict each other; only then, lines are the numbers of both sides.
- {NO_EVIDENCE}: anything else.
The reason is {NONE} if you answer."""
LANGUAGES = {"de": "German", "zh": "Chinese", "ja": "Japanese"}


Reason = Literal["none", "no_evidence", "wrong_person", "outside_time", "conflict"]
REASONS = frozenset(get_args(Reason))


@dataclass(frozen=True, slots=True)
class Said:
    """A model's answer. `lines` are numbers as it gives them; `reason` is empty exactly if it answers.

    A conflict has the lines of its sides, other reasons have none.
    """

    answer: str
    lines: tuple[int, ...]
    reason: str


class _Reply(Part):
    answer: Optional = maybe(ANSWER_CHARACTERS)
    lines: list[int] = several(MOST_CITED)
    abstained: bool
    reason: Annotated[Reason, BeforeValidator(lambda value: value if value in REASONS else NONE)] = "none"


def render(question: str, context: Sequence[str], asked_at: datetime) -> Prompt:
    """Ask a question about context lines, which are numbered where they can be cited."""
    language = LANGUAGES.get(phrasing(question).language)
    ending = [f"Today is {dated(asked_at.date())}.", *([f"Answer in {language}."] if language else [])]
    return Prompt(
        Stage.ANSWER,
        VERSION,
        SYSTEM,
        "\n".join([fence(Block.CONTEXT, context), *ending, fence(Block.QUESTION, [question])]),
        schema_of(_Reply, Stage.ANSWER),
        MAX_TOKENS,
    )


def parse(data: object) -> Said:
    """The answer or the abstention. Raises UnusableReply, also for an answer that cites nothing."""
    found = read(_Reply, data)
    lines = tuple(dict.fromkeys(found.lines))
    if found.abstained:
        reason = NO_EVIDENCE if found.reason == NONE else found.reason
        return Said("", lines if reason == CONFLICT else (), reason)
    if not found.answer or not lines:
        raise UnusableReply("it neither abstains nor gives an answer with the lines that carry it")
    return Said(found.answer, lines, "")
