"""Title and narrative of an episode, alone."""

from collections.abc import Sequence

from app.domain.accounts import Told
from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.keyphrases import shorten
from app.domain.pieces import Piece
from app.prompts.replies import Part, at_most, read, schema_of
from app.prompts.wording import DATA, DATED, LANGUAGE, messages

VERSION = "1"
TITLE_CHARACTERS = 80
NARRATIVE_CHARACTERS = 600
MAX_TOKENS = 400

TELL = """\
title: what this part is about, in three to ten words.
narrative: who told, did or plans what, in two to four sentences, by name and in the third person."""

SYSTEM = f"""\
You keep a record of conversations. You see numbered messages of a part of one.
{DATA}
{LANGUAGE} {DATED}
{TELL}"""


class Head(Part):
    """Title and narrative in a reply."""

    title: str = at_most(TITLE_CHARACTERS)
    narrative: str = at_most(NARRATIVE_CHARACTERS)


def render(pieces: Sequence[Piece]) -> Prompt:
    """Ask for the title and the narrative of messages."""
    return Prompt(Stage.EPISODE, VERSION, SYSTEM, messages(pieces), schema_of(Head, Stage.EPISODE), MAX_TOKENS)


def parse(data: object) -> Told:
    """Title and narrative, neither blank nor much too long. Raises UnusableReply."""
    head = read(Head, data)
    if not head.title or not head.narrative:
        raise UnusableReply("the title or the narrative is blank")
    return Told(shorten(head.title, TITLE_CHARACTERS), shorten(head.narrative, 2 * NARRATIVE_CHARACTERS))
