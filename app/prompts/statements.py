"""Title, narrative and statements of an episode, in one call."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from app.domain.accounts import Account, Noted
from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.fencing import Block, fence
from app.domain.pieces import Piece
from app.domain.screening import Kind
from app.prompts import episode
from app.prompts.replies import Optional, Part, at_most, each, maybe, schema_of, several
from app.prompts.wording import DATA, DATED, LANGUAGE, known, messages

VERSION = "1"
MOST = 16  # statements of an episode of at most 25 messages
MOST_CITED = 6
STATEMENT_CHARACTERS = 240
MAX_TOKENS = 1800

SYSTEM = f"""\
You keep the long-term memory of an assistant. You see numbered messages of a part of a conversation and, between \
<known> tags, statements that are remembered already, each with its name.
{DATA}
{LANGUAGE} {DATED}
{episode.TELL}
statements: what is worth knowing months later about people, events, plans, likings and things. Each is one fact:
text: one sentence that is clear by itself: names instead of pronouns, with its date or number if it has one.
messages: the numbers of the messages that say it.
kind: fact, event, plan or preference.
date: when it happens or holds from, as YYYY-MM-DD, YYYY-MM or YYYY; empty if nothing tells.
updates: the name of the known statement that is true no more because of it; else empty.
State only what the messages say. Leave out greetings, praise and questions. A known statement that is said again: \
its text unchanged; no other known one. Nothing worth knowing: an empty list."""

PREDICTED = """\
Between <predicted> tags is what was expected of these messages. State only what they say that it misses or has \
wrong."""


class _Statement(Part):
    text: Annotated[str, Field(min_length=1, max_length=2 * STATEMENT_CHARACTERS)] = at_most(STATEMENT_CHARACTERS)
    messages: list[int] = several(MOST_CITED)
    kind: Annotated[Kind, BeforeValidator(lambda value: value if value in set(Kind) else Kind.FACT)] = Kind.FACT
    date: Optional = maybe(10)
    updates: Optional = maybe(4)


class _Reply(episode.Head):
    statements: list[_Statement] = several(MOST)


def render(pieces: Sequence[Piece], aliases: Mapping[str, str], predicted: str = "") -> Prompt:
    """Ask for all that an episode says; with `predicted`, only for the statements that it lacks.

    `aliases` maps the names of known statements to their texts.
    """
    blocks = [known(aliases)] if aliases else []
    if predicted:
        blocks.append(fence(Block.PREDICTED, [predicted]))
    return Prompt(
        Stage.STATEMENTS,
        VERSION,
        f"{SYSTEM}\n{PREDICTED}" if predicted else SYSTEM,
        "\n".join([*blocks, messages(pieces)]),
        schema_of(_Reply, Stage.STATEMENTS),
        MAX_TOKENS,
    )


def parse(data: object) -> Account:
    """The account in a reply; statements that are none are counted. Raises UnusableReply."""
    told = episode.parse(data)
    statements, malformed = each(_Statement, _list(data))
    noted = tuple(Noted(one.text, one.kind, tuple(one.messages), one.date, one.updates) for one in statements)
    return Account(told, noted, malformed)


def _list(data: object) -> Sequence[Any]:
    found = data.get("statements") if isinstance(data, Mapping) else None
    if not isinstance(found, list):
        raise UnusableReply("it has no list of statements")
    return found
