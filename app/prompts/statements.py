"""Title, narrative and statements of an episode, in one call."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from app.domain.accounts import Account, Noted
from app.domain.chat import Prompt, Stage
from app.domain.errors import UnusableReply
from app.domain.fencing import Block, fence
from app.domain.pieces import Piece
from app.domain.screening import Kind
from app.domain.text import normalise
from app.prompts import episode
from app.prompts.replies import Optional, Part, at_most, each, maybe, schema_of, several
from app.prompts.wording import DATA, DATED, LANGUAGE, known, messages

VERSION = "2"
MOST = 16  # statements of an episode of at most 25 messages
MOST_CITED = 6
STATEMENT_CHARACTERS = 240
LEAKED = 5  # words in a row that a statement and the instructions have in common by no chance
LOOPED = 6  # words in a row that a sentence does not say twice
MAX_TOKENS = 1800

NO_UPDATE = "none"  # in place of an alias; some endpoints refuse an enum with an empty string in it

SYSTEM = f"""\
You keep the long-term memory of an assistant. You see numbered messages of a part of a conversation.
{DATA}
{LANGUAGE} {DATED}
{episode.TELL}
statements: what is worth knowing months later about people, events, plans, likings and things. Each is one fact:
text: one sentence that is clear by itself: names instead of pronouns, with its date or number if it has one.
messages: the numbers of the messages that say it.
kind: fact, event, plan or preference.
date: when it happens or holds from, as YYYY-MM-DD, YYYY-MM or YYYY; empty if nothing tells.
State only what the messages say. Leave out greetings, praise and questions. Nothing worth knowing: an empty list."""

UPDATING = f"""\
Between <known> tags are statements that are remembered already, each with its name.
updates: the name of the known statement that is true no more because of it; else {NO_UPDATE}.
A known statement that is said again: its text unchanged; no other known one."""

PREDICTED = """\
Between <predicted> tags is what was expected of these messages. State only what they say that it misses or has \
wrong."""


class _Statement(Part):
    text: Annotated[str, Field(min_length=1, max_length=2 * STATEMENT_CHARACTERS)] = at_most(STATEMENT_CHARACTERS)
    messages: list[int] = several(MOST_CITED, least=1)
    kind: Annotated[Kind, BeforeValidator(lambda value: value if value in set(Kind) else Kind.FACT)] = Kind.FACT
    date: Optional = maybe(10)
    updates: Annotated[Optional, AfterValidator(lambda value: "" if value == NO_UPDATE else value)] = ""


class _Reply(episode.Head):
    statements: list[_Statement] = several(MOST)


def render(pieces: Sequence[Piece], aliases: Mapping[str, str], predicted: str = "") -> Prompt:
    """Ask for all that an episode says; with `predicted`, only for the statements that it lacks.

    `aliases` maps the names of known statements to their texts.
    """
    asked, shown = [SYSTEM], []
    if aliases:
        asked.append(UPDATING)
        shown.append(known(aliases))
    if predicted:
        asked.append(PREDICTED)
        shown.append(fence(Block.PREDICTED, [predicted]))
    return Prompt(
        Stage.STATEMENTS,
        VERSION,
        "\n".join(asked),
        "\n".join([*shown, messages(pieces)]),
        _schema([piece.number for piece in pieces], list(aliases)),
        MAX_TOKENS,
    )


def _schema(numbers: Sequence[int], aliases: Sequence[str]) -> dict[str, Any]:
    """The schema of a reply that cites these numbers, one after the other, and updates what bears these aliases.

    Bounds instead of a list of numbers: not every endpoint takes an enum of integers.
    """
    made = schema_of(_Reply, Stage.STATEMENTS)
    statement = made["properties"]["statements"]["items"]
    fields = statement["properties"]
    if numbers:
        fields["messages"]["items"] |= {"minimum": min(numbers), "maximum": max(numbers)}
    if aliases:
        fields["updates"]["enum"] = [NO_UPDATE, *aliases]
    else:
        del fields["updates"]
        statement["required"].remove("updates")
    return made


def parse(data: object) -> Account:
    """The account in a reply; statements that are none are counted. Raises UnusableReply."""
    told = episode.parse(data)
    statements, malformed = each(_Statement, _list(data))
    said = [one for one in statements if not _only_repeats(one.text)]
    noted = tuple(Noted(one.text, one.kind, tuple(one.messages), one.date, one.updates) for one in said)
    return Account(told, noted, malformed + len(statements) - len(noted))


def _only_repeats(text: str) -> bool:
    """Whether a statement repeats the instructions, or goes round in circles: small models do both."""
    runs = list(_runs(text, LOOPED))
    return len(set(runs)) < len(runs) or not _INSTRUCTIONS.isdisjoint(_runs(text, LEAKED))


def _runs(text: str, length: int) -> Iterator[tuple[str, ...]]:
    words = normalise(text.replace(":", " ")).split()
    return zip(*(words[start:] for start in range(length)), strict=False)


_INSTRUCTIONS = frozenset(run for text in (SYSTEM, UPDATING, PREDICTED) for run in _runs(text, LEAKED))


def _list(data: object) -> Sequence[Any]:
    found = data.get("statements") if isinstance(data, Mapping) else None
    if not isinstance(found, list):
        raise UnusableReply("it has no list of statements")
    return found
