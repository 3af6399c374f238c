"""The command `xmemory demo`, and the options that all commands over HTTP share."""

from typing import Annotated

import typer

from app.evaluation import demo
from app.evaluation.terminal import run

DEFAULT_URL = "http://127.0.0.1:8000"


Url = Annotated[str, typer.Option("--url", help="The service to use.")]
Key = Annotated[
    str | None,
    typer.Option("--key", envvar="XMEMORY_KEY", help="The key to show, where the service asks for one.", metavar="KEY"),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.command("demo")(show_demo)


def show_demo() -> None:
    """See it work: a short conversation becomes memory, and five questions are asked about it.

    Starts a server of its own on a temporary database; nothing stays behind.
    """
    run(demo.run())
