"""Where a window of messages turns to another matter."""

from collections.abc import Sequence
from dataclasses import replace

from app.domain.chat import Prompt, Stage
from app.domain.keyphrases import shorten
from app.domain.pieces import Piece
from app.prompts.replies import Part, read, schema_of, several
from app.prompts.wording import DATA, messages

VERSION = "1"
SHOWN_CHARACTERS = 240  # of a message: what it is about shows early
MOST = 5  # borders in a window
MAX_TOKENS = 64

SYSTEM = f"""\
You divide a conversation into episodes: stretches about one matter. You see numbered messages and when they were sent.
{DATA}
Give in `begins` the number of every message that begins a new episode: where the talk turns to another matter and \
stays with it, or starts anew after a pause or a farewell. An answer belongs to its question, a greeting to what \
follows it. Most stretches need one such number or none; never give the first message."""


class _Reply(Part):
    begins: list[int] = several(MOST)


def render(pieces: Sequence[Piece]) -> Prompt:
    """Ask for the borders inside a window."""
    short = [replace(piece, text=shorten(piece.text, SHOWN_CHARACTERS)) for piece in pieces]
    return Prompt(Stage.BOUNDARY, VERSION, SYSTEM, messages(short), schema_of(_Reply, Stage.BOUNDARY), MAX_TOKENS)


def parse(data: object) -> list[int]:
    """Numbers of messages, as the model gives them. Raises UnusableReply."""
    return read(_Reply, data).begins
