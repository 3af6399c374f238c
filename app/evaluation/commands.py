"""The commands: `xmemory demo | import | eval run`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.evaluation import demo, importing, locomo, running
from app.evaluation.errors import ToolError
from app.evaluation.terminal import run

DEFAULT_URL = "http://127.0.0.1:8000"
MIN_TOKENS, MAX_TOKENS = 64, 32_000  # budgets that the service takes


class Format(StrEnum):
    """Formats of conversations."""

    LOCOMO = "locomo"


DataFile = Annotated[Path, typer.Option("--data", help="A file in the LoCoMo format.", exists=True, dir_okay=False)]
Url = Annotated[str, typer.Option("--url", help="The service to use.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("demo")(show_demo)
    app.command("import")(import_conversations)
    evaluation = typer.Typer(help="Measure how well the service remembers.", no_args_is_help=True)
    evaluation.command("run")(run_evaluation)
    app.add_typer(evaluation, name="eval")


def show_demo() -> None:
    """See it work: a short conversation becomes memory, and five questions are asked about it.

    Starts a server of its own on a temporary database; nothing stays behind.
    """
    run(demo.run())


def import_conversations(
    file: Annotated[Path, typer.Argument(help="The file to import.", exists=True, dir_okay=False)],
    *,
    namespace: Annotated[str, typer.Option(help="The namespace to import into.")],
    format: Annotated[Format, typer.Option(help="The file's format.")] = Format.LOCOMO,
    conversation: Annotated[
        list[int] | None,
        typer.Option(help="A conversation by its place in the file, from 1; repeatable. Default: all."),
    ] = None,
    url: Url = DEFAULT_URL,
    wait: Annotated[bool, typer.Option(help="Wait until everything is remembered.")] = True,
) -> None:
    """Post the conversations of a file to a running service.

    Each becomes a conversation of the namespace. Importing again changes nothing.
    """
    del format  # there is only one so far

    async def work() -> None:
        conversations = locomo.load(file).pick(conversation or ())
        await importing.run(importing.Import(conversations, namespace, url, wait))

    run(work())


def run_evaluation(
    *,
    data: DataFile,
    dataset: Annotated[Format, typer.Option(help="The data's format.")] = Format.LOCOMO,
    conversations: Annotated[
        str, typer.Option(help="Conversations by their place in the file: 1,2. Default: all.")
    ] = "",
    url: Annotated[str | None, typer.Option(help=f"A running service, such as {DEFAULT_URL}.")] = None,
    embedded: Annotated[bool, typer.Option("--embedded", help="Start a server on a temporary database.")] = False,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            help="A search strategy, with levels if not the usual ones: bm25:message. Repeatable. Default: adaptive."
        ),
    ] = None,
    budgets: Annotated[str, typer.Option(help="Context budgets in tokens.")] = "500,1000,2000",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first questions of each conversation.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="Also ask for answers, at the largest budget.")] = False,
    namespace: Annotated[str, typer.Option(help="Namespaces are this and the conversation's name.")] = "locomo",
    out: Annotated[Path | None, typer.Option(help="A folder for results.jsonl and manifest.json.")] = None,
) -> None:
    """Measure how much of the evidence for each question the service finds.

    Each conversation goes into a namespace of its own; its questions of categories 1 to 4 are searched.
    """
    del dataset  # there is only one format so far
    if embedded == (url is not None):
        raise typer.BadParameter("give either --url or --embedded")

    async def work() -> None:
        plan = running.Plan(
            strategies=tuple(dict.fromkeys(strategy or ["adaptive"])),
            budgets=tuple(sorted(_numbers("--budgets", budgets, MIN_TOKENS, MAX_TOKENS))),
            limit=limit,
            answers=answers,
            prefix=namespace,
        )
        loaded = locomo.load(data)
        picked = loaded.pick(_numbers("--conversations", conversations, 1, len(loaded.conversations)))
        await running.run(plan, picked, loaded.sha256, url, out)

    run(work())


def _numbers(option: str, text: str, least: int, most: int) -> list[int]:
    """`"1,2"` as numbers, each once. Raises ToolError."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise ToolError(f'{option} "{text}" must be numbers with commas between, such as 500,1000') from error
    outside = [number for number in numbers if not least <= number <= most]
    if outside:
        raise ToolError(f"{option}: {outside[0]} is not between {least} and {most}")
    return list(dict.fromkeys(numbers))
