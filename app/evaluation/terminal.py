"""Where the tools write: results to standard output, progress and errors to standard error."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Task as Bar
from rich.text import Text

from app.evaluation.errors import ToolError

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)


class RateColumn(ProgressColumn):
    """Steps a second since the start."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Bar) -> Text:
        """`212 messages/s`; nothing before the first step."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} {self._unit}/s" if speed else "")


def progress(unit: str) -> Progress:
    """A progress bar on standard error; without a terminal, only its last state is written."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(unit))
    return Progress(*columns, TimeRemainingColumn(), console=err)


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a tool to its end. Errors meant for people are printed and end the process with status 1.

    A SIGTERM unwinds like an interrupt, so that a server of ours does not stay behind.
    """
    try:
        asyncio.run(_interruptible(work))
    except ToolError as error:
        err.print(str(error), style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1) from error
    except asyncio.CancelledError as error:
        raise typer.Exit(128 + signal.SIGTERM) from error


async def _interruptible(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task
