"""An answer that was given, once more in the form that the caller wants."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.chat import Prompt, Stage
from app.domain.fencing import Block, fence
from app.prompts.wording import DATA

VERSION = "1"
MAX_TOKENS = 1500

SYSTEM = f"""\
You are given a question, its answer, and the lines that the answer rests on. You write down the same answer as data.
{DATA}
Take every value from the answer and the lines. Where they do not tell a value, use what the schema allows for \
something unknown: null, an empty string or an empty list."""


def render(question: str, answer: str, quotes: Sequence[str], schema: Mapping[str, Any]) -> Prompt:
    """Ask for the object of `schema` that says what `answer` says; `quotes` are the cited words, dated."""
    blocks = (
        fence(Block.CONTEXT, quotes),
        fence(Block.QUESTION, [question]),
        fence(Block.ANSWER, [answer]),
    )
    titled = {**schema, "title": Stage.DATA.value}
    return Prompt(Stage.DATA, VERSION, SYSTEM, "\n".join(blocks), titled, MAX_TOKENS)
