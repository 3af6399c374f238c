"""`xmemory import`: post the conversations of a file to a service and wait until they are remembered."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.progress import Progress, SpinnerColumn, TextColumn

from app.evaluation.client import Client, connect
from app.evaluation.locomo import Conversation
from app.evaluation.terminal import err, out, progress
from app.evaluation.wire import Status


@dataclass(frozen=True, slots=True)
class Import:
    """What to import, and where to."""

    conversations: Sequence[Conversation]
    namespace: str
    url: str
    wait: bool


async def run(order: Import) -> None:
    """Post everything, then wait and print what is there. Repeating it changes nothing."""
    async with connect(order.url) as client:
        await client.version()  # says at once if nothing answers
        await _post(client, order)
        if order.wait:
            summarise(order.namespace, await watch(client, order.namespace))
            await report_failures(client, order.namespace)
        else:
            await client.flush(order.namespace)
            out.print(f"Accepted. Episodes, statements and themes follow in {order.namespace}.", markup=False)


async def _post(client: Client, order: Import) -> None:
    accepted = duplicates = 0
    with progress("messages") as bar:
        total = sum(len(conversation.messages) for conversation in order.conversations)
        task = bar.add_task("Posting", total=total)
        for conversation in order.conversations:
            bar.update(task, description=f"Posting {conversation.name}")
            appended = await client.append(
                order.namespace,
                conversation.name,
                conversation.messages,
                lambda count: bar.advance(task, count),
            )
            accepted += appended.accepted
            duplicates += appended.duplicates
    already = f", {duplicates} were there already" if duplicates else ""
    out.print(f"{accepted} messages accepted{already}.")


async def watch(client: Client, namespace: str) -> Status:
    """Flush and wait for the background work, with a display on standard error."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as display:
        task = display.add_task("Remembering", total=None)

        def show(status: Status) -> None:
            work = f"{status.buffered} messages in the buffer, {status.pending_jobs} jobs pending"
            display.update(task, description=f"Remembering: {work}, {status.statements} statements so far")

        return await client.settle(namespace, show)


def summarise(namespace: str, status: Status) -> None:
    """Print what a namespace holds."""
    held = f"{status.messages} messages, {status.episodes} episodes, {status.statements} statements"
    out.print(f"{namespace} holds {held}, {status.themes} themes.", markup=False)


async def report_failures(client: Client, namespace: str) -> None:
    """Print the jobs that failed: what they were to do is missing from memory."""
    for job in await client.failed_jobs(namespace):
        out.print(f"Failed: {job.kind} {job.id}: {job.error}", style="red", markup=False)
