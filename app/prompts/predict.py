"""What an episode probably says, from what is known before it is read."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.domain.chat import Prompt, Stage
from app.domain.fencing import Block, fence
from app.domain.keyphrases import shorten
from app.domain.packing import dated
from app.prompts.replies import Part, at_most, read, schema_of
from app.prompts.wording import DATA, known

VERSION = "1"
CHARACTERS = 800
MAX_TOKENS = 400

SYSTEM = f"""\
You remember people. Between <known> tags stand statements about them. A new conversation has a title, a day and \
speakers; say what you expect it to contain.
{DATA}
predicted: what the speakers probably say, as plain facts in a few sentences, from the statements alone. Write in \
their language."""


class _Reply(Part):
    predicted: str = at_most(CHARACTERS)


def render(aliases: Mapping[str, str], title: str, speakers: Sequence[str], said_at: datetime) -> Prompt:
    """Ask what an episode with this title probably says."""
    about = fence(Block.MESSAGES, [dated(said_at.date()), ", ".join(speakers), title])
    return Prompt(
        Stage.PREDICT,
        VERSION,
        SYSTEM,
        f"{known(aliases)}\n{about}",
        schema_of(_Reply, Stage.PREDICT),
        MAX_TOKENS,
    )


def parse(data: object) -> str:
    """The prediction, which may be empty. Raises UnusableReply."""
    return shorten(said, 2 * CHARACTERS) if (said := read(_Reply, data).predicted) else ""
