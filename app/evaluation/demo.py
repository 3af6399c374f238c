"""`xmemory demo`: a short conversation becomes memory before your eyes, and is asked five questions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from time import perf_counter

from pydantic import BaseModel, ConfigDict
from rich.text import Text

from app.domain.messages import Draft
from app.domain.packing import MONTHS
from app.evaluation import wire
from app.evaluation.client import Client, connect
from app.evaluation.server import service
from app.evaluation.terminal import err, out

SHOWN_STATEMENTS = 6
SHOWN_THEMES = 6
SHOWN_QUOTES = 3  # of one answer
MIN_WIDTH = 20  # characters for a text, on however narrow a terminal
REASONS = {
    "no_evidence": "nothing in memory speaks of it",
    "wrong_person": "memory has this of somebody else",
    "conflict": "what was said of it on one day disagrees",
    "outside_time": "memory has this of another time",
}
NEXT = """
Start the service; its API is described at http://127.0.0.1:8000/docs:

  xmemory serve

Tell it something, and ask:

  curl http://127.0.0.1:8000/v1/namespaces/ada/conversations/chat-1/messages \\
    -H 'Content-Type: application/json' \\
    -d '{"messages": [{"role": "user", "content": "I moved to Lisbon."}]}'

  curl 'http://127.0.0.1:8000/v1/namespaces/ada/answer?q=Where+did+I+move'"""


class Script(BaseModel):
    """The conversation and the questions, as in data/demo.json; messages are in the API's own form."""

    model_config = ConfigDict(frozen=True)

    namespace: str
    conversation: str
    messages: tuple[Draft, ...]
    questions: tuple[str, ...]


def load() -> Script:
    """The script that comes with the package."""
    text = files("app.evaluation").joinpath("data", "demo.json").read_text(encoding="utf-8")
    return Script.model_validate_json(text)


async def run() -> None:
    """Show the way of a message and the way of a question. Raises ToolError."""
    script = load()
    async with service(None) as url, connect(url) as client:
        await _remember(client, script)
        _show_episodes(await client.episodes(script.namespace))
        _show_statements(await client.statements(script.namespace))
        _show_themes(await client.themes(script.namespace))
        await _ask(client, script)
    _heading("What next")
    out.print(NEXT, markup=False)


async def _remember(client: Client, script: Script) -> None:
    begun = perf_counter()
    with err.status("Remembering"):
        await client.append(script.namespace, script.conversation, script.messages)
        status = await client.settle(script.namespace)
    seconds = perf_counter() - begun
    out.print(f"{status.messages} messages between two friends, remembered in {seconds:.1f} s.")


def _show_episodes(episodes: Sequence[wire.Episode]) -> None:
    _heading("Episodes", "runs of messages that belong together")
    for episode in episodes:
        when = _day(episode.started_at)
        _hanging(f"  {when:<15}{episode.message_count} messages  ", Text(episode.title))


def _show_statements(statements: Sequence[wire.Statement]) -> None:
    _heading("Statements", f"{SHOWN_STATEMENTS} of {len(statements)}, each with the messages it rests on")
    telling = sorted(statements, key=lambda statement: statement.kind == "fact")  # plans and events say more
    for statement in sorted(telling[:SHOWN_STATEMENTS], key=lambda statement: statement.occurred_at):
        cited = ", ".join(str(message.external_id) for message in statement.messages)
        _hanging("  • ", Text.assemble(statement.text, (f" [{cited}]", "cyan")))


def _show_themes(themes: Sequence[wire.Theme]) -> None:
    _heading("Themes", "statements about one thing, and how many")
    for theme in sorted(themes, key=lambda theme: -theme.size)[:SHOWN_THEMES]:
        _hanging(f"  {theme.size:>2}  ", Text(theme.label))
    if len(themes) > SHOWN_THEMES:
        _hanging("      ", Text(f"and {len(themes) - SHOWN_THEMES} smaller ones", "dim"))


async def _ask(client: Client, script: Script) -> None:
    messages = await client.messages(script.namespace, script.conversation)
    speakers = {message.external_id: message.speaker or message.role for message in messages}
    _heading("Questions", "no language model runs: answers are words of the messages")
    for question in script.questions:
        said = await client.answer(script.namespace, question)
        out.print()
        _hanging("  ", Text(question, "bold"))
        _show_answer(said, speakers)


def _show_answer(said: wire.Answer, speakers: Mapping[str | None, str]) -> None:
    if said.abstained:
        reason = REASONS.get(said.reason or "", said.reason)
        _hanging("  → ", Text(f"I don't know: {reason}.", "yellow"))
        return
    _hanging("  → ", Text.assemble((said.answer or "", "green"), (f" (confidence {said.confidence:.2f})", "dim")))
    for citation in said.citations[:SHOWN_QUOTES]:
        who = f"{speakers.get(citation.external_id, '?')}, {_day(citation.occurred_at)}: "
        _hanging("    ", Text.assemble((f"[{citation.external_id}] ", "cyan"), who, f'"{citation.quote}"'))


def _heading(title: str, note: str = "") -> None:
    out.print(Text.assemble("\n", (title, "bold magenta"), (f"  {note}" if note else "", "dim")))


def _hanging(start: str, text: Text) -> None:
    """Print `start` and `text`; what does not fit goes on below the text, not below the start."""
    for line in text.wrap(out, max(out.width - len(start), MIN_WIDTH)):
        line.rstrip()
        out.print(Text.assemble(start, line), soft_wrap=True)
        start = " " * len(start)


def _day(moment: datetime) -> str:
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"
