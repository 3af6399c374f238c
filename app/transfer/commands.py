"""The commands: `xmemory export | import`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from app.evaluation.commands import DEFAULT_URL, Key, Url
from app.evaluation.terminal import run
from app.transfer import exporting, importing
from app.transfer.formats import Format


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("export")(export_namespace)
    app.command("import")(import_file)


def export_namespace(
    namespace: Annotated[str, typer.Argument(help="The namespace to export.")],
    file: Annotated[Path, typer.Argument(help="The file to write; it is packed if it ends in .gz.", dir_okay=False)],
    *,
    vectors: Annotated[bool, typer.Option("--vectors", help="Also the vectors: importing then makes none.")] = False,
    url: Url = DEFAULT_URL,
    key: Key = None,
) -> None:
    """Write all that a namespace remembers into a file, which `xmemory import` takes.

    What broke off goes on where it was when the command is given again.
    """
    run(exporting.run(exporting.Export(namespace, file, url, key, vectors)))


def import_file(
    file: Annotated[Path, typer.Argument(help="The file to import.", exists=True, dir_okay=False)],
    *,
    namespace: Annotated[str, typer.Option(help="The namespace to import into.")],
    format: Annotated[Format, typer.Option(help="What the file is.")] = Format.AUTO,
    conversation: Annotated[
        list[int] | None,
        typer.Option(help="A conversation of a chat log by its place in the file, from 1; repeatable. Default: all."),
    ] = None,
    conflict: Annotated[
        Literal["refuse", "skip"],
        typer.Option(help="An exported namespace into one that has messages: refuse it, or add what is missing there."),
    ] = "refuse",
    url: Url = DEFAULT_URL,
    key: Key = None,
    wait: Annotated[bool, typer.Option(help="Wait until everything is remembered.")] = True,
) -> None:
    """Import an exported namespace, or a chat log, into a running service.

    Chat logs are data exports of ChatGPT and Claude (conversations.json or .zip),
    messages as OpenAI's chat API has them (a JSON object a line), and LoCoMo.
    Their conversations become the namespace's. Importing again changes nothing.
    """
    run(importing.run(importing.Import(file, namespace, format, url, key, conflict, conversation or (), wait)))
