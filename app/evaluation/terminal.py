"""Where the tools write: results to standard output, progress and errors to standard error."""

import asyncio
import signal
import time
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as Bar
from rich.text import Text

from app.evaluation.errors import ToolError

TOLD_SECONDS = 30.0  # between two lines of a log: an hour's run fills some pages
SLOW = 10  # steps a second: of fewer, tenths are told

out = Console(highlight=False, soft_wrap=False)
err = Console(stderr=True, highlight=False)


class RateColumn(ProgressColumn):
    """Steps a second since the start."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Bar) -> Text:
        """The rate."""
        return Text(_rate(task, self._unit))


class Log:
    """Where no terminal shows a display: a line on standard error every TOLD_SECONDS."""

    def __init__(self) -> None:
        self._next = time.monotonic() + TOLD_SECONDS

    def tell(self, line: str) -> None:
        """Write it, unless one was written a moment ago."""
        if not err.is_terminal and time.monotonic() >= self._next:
            self._next = time.monotonic() + TOLD_SECONDS
            err.print(line, markup=False, soft_wrap=True)


class Logged(Progress):
    """A progress bar that is told of in lines where it cannot be seen."""

    def __init__(self, unit: str) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), RateColumn(unit))
        super().__init__(*columns, TimeRemainingColumn(), console=err)
        self._unit = unit
        self._log = Log()

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """As usual."""
        super().advance(task_id, advance)
        self._tell(task_id)

    def update(self, task_id: TaskID, **changes: Any) -> None:  # noqa: ANN401  (those of the library)
        """As usual."""
        super().update(task_id, **changes)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
        task = next(task for task in self.tasks if task.id == task_id)
        total = "" if task.total is None else f" of {task.total:,.0f}"
        left = "" if task.time_remaining is None else f"{timedelta(seconds=task.time_remaining)} left"
        parts = [f"{task.completed:,.0f}{total} {self._unit}", _rate(task, self._unit), left]
        self._log.tell(f"{task.description}: {', '.join(filter(None, parts))}")


def progress(unit: str) -> Progress:
    """A progress bar on standard error; without a terminal, lines now and then, and its last state."""
    return Logged(unit)


def _rate(task: Bar, unit: str) -> str:
    """`212 messages/s`, `0.3 requests/s`; nothing before the first step."""
    speed = task.finished_speed or task.speed
    return f"{speed:,.{0 if speed >= SLOW else 1}f} {unit}/s" if speed else ""


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
