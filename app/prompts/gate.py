"""How sure a model is of its answer, given a context and one more piece of evidence."""

from collections.abc import Sequence

from app.domain.fencing import Block, fence
from app.prompts.wording import DATA

VERSION = "1"
ANSWER_TOKENS = 20  # of which the uncertainty is taken; an answer in a few words has fewer

# It must not be offered to say that it does not know: that is what it is surest of where there is no evidence.
SYSTEM = f"""\
You answer a question from the lines between <context> tags. The date above a line is the day it was said.
{DATA}
Reply with the answer alone, in as few words as possible."""


def beginning(lines: Sequence[str]) -> str:
    """What all probes of one context have in common: the lines that are in."""
    return fence(Block.CONTEXT, lines).removesuffix(f"\n</{Block.CONTEXT}>")


def probe(question: str, lines: Sequence[str] = ()) -> str:
    """What follows: lines that may come in, and the question."""
    rest = fence(Block.CONTEXT, lines).removeprefix(f"<{Block.CONTEXT}>")
    return f"{rest}\n{fence(Block.QUESTION, [question])}"
