"""An answer from evidence, with the lines that carry it, or an abstention."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator

from app.domain.answers import NO_EVIDENCE
from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.fencing import Block, fence
from app.domain.packing import dated
from app.prompts.replies import Optional, Part, maybe, read, schema_of, several
from app.prompts.wording import DATA

VERSION = "1"
ANSWER_CHARACTERS = 800
MOST_CITED = 10
MAX_TOKENS = 500

SYSTEM = f"""\
You answer a question from the numbered lines between <context> tags, and from nothing else. The date above a line is \
the day it was said.
{DATA}
answer: short and complete, in the language of the question; dates instead of words such as yesterday.
lines: the numbers of the lines that carry the answer.
If the lines do not tell, set abstained, leave answer and lines empty, and give the reason: wrong_person if they say \
it of somebody else than the question asks about, otherwise no_evidence."""

Reason = Literal["", "no_evidence", "wrong_person"]
REASONS = frozenset(("no_evidence", "wrong_person"))


@dataclass(frozen=True, slots=True)
class Said:
    """A model's answer. `lines` are numbers as it gives them; `reason` is empty exactly if it answers."""

    answer: str
    lines: tuple[int, ...]
    reason: str


class _Reply(Part):
    answer: Optional = maybe(ANSWER_CHARACTERS)
    lines: list[int] = several(MOST_CITED)
    abstained: bool
    reason: Annotated[Reason, BeforeValidator(lambda value: value if value in REASONS else "")] = ""


def render(question: str, context: Sequence[str], asked_at: datetime) -> Prompt:
    """Ask a question about context lines, which are numbered where they can be cited."""
    asked = fence(Block.QUESTION, [question])
    return Prompt(
        Stage.ANSWER,
        VERSION,
        SYSTEM,
        f"{fence(Block.CONTEXT, context)}\nToday is {dated(asked_at.date())}.\n{asked}",
        schema_of(_Reply, Stage.ANSWER),
        MAX_TOKENS,
    )


def parse(data: object) -> Said:
    """The answer or the abstention. Raises UnusableReply, also for an answer that cites nothing."""
    found = read(_Reply, data)
    if found.abstained:
        return Said("", (), found.reason or NO_EVIDENCE)
    if not found.answer or not found.lines:
        raise UnusableReply("it neither abstains nor gives an answer with the lines that carry it")
    return Said(found.answer, tuple(dict.fromkeys(found.lines)), "")
