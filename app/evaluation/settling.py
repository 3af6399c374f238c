"""Waiting until a namespace is remembered, for a person at a terminal."""

from rich.progress import Progress, SpinnerColumn, TextColumn

from app.evaluation.client import Client
from app.evaluation.terminal import Log, err, out
from app.evaluation.wire import Status


async def watch(client: Client, namespace: str) -> Status:
    """Flush and wait for the background work, with a display on standard error."""
    log = Log()
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as display:
        task = display.add_task("Remembering", total=None)

        def show(status: Status) -> None:
            work = f"{status.buffered} messages in the buffer, {status.pending_jobs} jobs pending"
            said = f"Remembering: {work}, {status.statements} statements so far"
            display.update(task, description=said)
            log.tell(said)

        return await client.settle(namespace, show)


def summarise(namespace: str, status: Status) -> None:
    """Print what a namespace holds."""
    held = f"{status.messages} messages, {status.episodes} episodes, {status.statements} statements"
    out.print(f"{namespace} holds {held}, {status.themes} themes.", markup=False)


async def report_failures(client: Client, namespace: str) -> None:
    """Print the jobs that failed: what they were to do is missing from memory."""
    for job in await client.failed_jobs(namespace):
        out.print(f"Failed: {job.kind} {job.id}: {job.error}", style="red", markup=False)
