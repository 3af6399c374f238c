"""`xmemory import`: a file into a namespace. Doing it again changes nothing."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from rich.progress import Progress, TaskID

from app.domain.messages import Draft
from app.evaluation import settling
from app.evaluation.client import BATCH, STALLED_SECONDS, Client, connect
from app.evaluation.errors import BadDataset, Refused, ToolError
from app.evaluation.terminal import err, out, progress
from app.evaluation.wire import Job
from app.transfer import formats
from app.transfer.chats import Chat, Log, Malformed
from app.transfer.formats import Format

PIECE = 256 * 1024  # bytes of a file that are sent together
POST_CHARACTERS = 1_000_000  # of the messages of one request: the service takes 8 MiB
LOOK_SECONDS = 0.5  # between two looks at a job
NAMED = 20  # malformed items that are named; all are counted
OPEN = ("queued", "running")
OF_ONE = (HTTPStatus.CONFLICT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)
"""Statuses of a refusal that concerns one conversation only."""


@dataclass(frozen=True, slots=True)
class Import:
    """What to import, and where to. `only` are conversations by their place in the file, from 1; none means all."""

    file: Path
    namespace: str
    format: Format
    url: str
    key: str | None
    conflict: str
    only: Sequence[int]
    wait: bool


async def run(order: Import) -> None:
    """Import the file, then wait and print what is there. Raises ToolError."""
    is_namespace = await asyncio.to_thread(formats.is_namespace, order.file)
    if order.format is Format.XMEMORY and not is_namespace:
        raise BadDataset(f"{order.file} is no exported namespace")
    whole = is_namespace and order.format in (Format.XMEMORY, Format.AUTO)
    log = None if whole else await asyncio.to_thread(formats.load, order.file, order.format)
    async with connect(order.url, order.key) as client:
        await client.version()  # says at once if nothing answers
        finished = await _send(client, order) if log is None else await _post(client, order, log)
        if order.wait and finished:
            settling.summarise(order.namespace, await settling.watch(client, order.namespace))
            await settling.report_failures(client, order.namespace)
        elif not order.wait:
            out.print(f"Accepted. What follows shows in the jobs of {order.namespace}.", markup=False)


async def _send(client: Client, order: Import) -> bool:
    """Send an exported namespace and wait for its job. Raises ToolError, also if the job fails."""
    key = f"import-{await asyncio.to_thread(_digest, order.file)}-{order.conflict}"
    with progress("kB") as bar:
        task = bar.add_task("Sending", total=None)
        taken = await client.import_file(order.namespace, _pieces(order.file, bar, task), order.conflict, key)
    if order.wait:
        job = await _watch(client, order.namespace, taken.job)
        if job.state != "succeeded":
            raise ToolError(f"the import {job.state}: {job.error}. Retry its job {job.id}, or delete the namespace")
    return True


async def _pieces(file: Path, bar: Progress, task: TaskID) -> AsyncIterator[bytes]:
    sent = 0
    with formats.opened(file) as content:
        while piece := await asyncio.to_thread(content.read, PIECE):
            yield piece
            sent += len(piece)
            bar.update(task, completed=sent // 1000)
        bar.update(task, total=sent // 1000)


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with formats.opened(file) as content:
        while piece := content.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


async def _watch(client: Client, namespace: str, id_: str) -> Job:
    """Wait for the job. Raises ToolError if it does not move for STALLED_SECONDS."""
    clock = asyncio.get_running_loop().time
    moved, before = clock(), None
    with progress("lines") as bar:
        task = bar.add_task("Importing", total=None)
        while (job := await client.job(namespace, id_)).state in OPEN:
            far = job.result or {}
            done, total = far.get("lines", 0), far.get("total")
            title = f"Embedding, {far.get('embedded')} texts so far" if total and done == total else "Importing"
            bar.update(task, description=title, completed=done, total=total)
            moved, before = (clock(), far) if far != before else (moved, before)
            if clock() - moved > STALLED_SECONDS:
                raise ToolError(f"the import has not moved for {STALLED_SECONDS:.0f} s. Does a worker run?")
            await asyncio.sleep(LOOK_SECONDS)
    return job


async def _post(client: Client, order: Import, log: Log) -> bool:
    """Post a chat log. Returns whether anything of it is there now."""
    chats = _picked(log, order.only)
    taken = _Taken()
    with progress("messages") as bar:
        task = bar.add_task("Posting", total=sum(len(chat.messages) for chat in chats))
        for chat in chats:
            bar.update(task, description=f"Posting {chat.name}")
            await _post_chat(client, order.namespace, chat, taken, bar, task)
    _tell(taken, log)
    return bool(taken.accepted or taken.duplicates)


@dataclass(slots=True)
class _Taken:
    """What became of messages; `refused` are conversations that the service did not take."""

    accepted: int = 0
    duplicates: int = 0
    refused: int = 0


async def _post_chat(client: Client, namespace: str, chat: Chat, taken: _Taken, bar: Progress, task: TaskID) -> None:
    for batch in _batches(chat.messages):
        try:
            appended = await _patiently(client, namespace, chat.name, batch)
        except Refused as refused:
            if refused.status not in OF_ONE:
                raise
            taken.refused += 1
            err.print(f"{chat.name}: {refused}", style="red", markup=False, soft_wrap=True)
            return
        taken.accepted += appended[0]
        taken.duplicates += appended[1]
        bar.advance(task, len(batch))


async def _patiently(client: Client, namespace: str, name: str, batch: Sequence[Draft]) -> tuple[int, int]:
    """Post messages; where the service asks for a rest, take it, for STALLED_SECONDS together. Raises Refused."""
    clock = asyncio.get_running_loop().time
    end = clock() + STALLED_SECONDS
    while True:
        try:
            appended = await client.append(namespace, name, batch)
        except Refused as refused:
            if refused.retry_after is None or clock() > end:
                raise
            await asyncio.sleep(refused.retry_after)
        else:
            return appended.accepted, appended.duplicates


def _batches(messages: Sequence[Draft]) -> list[list[Draft]]:
    batches: list[list[Draft]] = []
    room = 0
    for message in messages:
        if not batches or len(batches[-1]) == BATCH or len(message.content) > room:
            batches.append([])
            room = POST_CHARACTERS
        batches[-1].append(message)
        room -= len(message.content)
    return batches


def _picked(log: Log, only: Sequence[int]) -> Sequence[Chat]:
    """Raises BadDataset for a conversation that is not there, and if there is none at all."""
    if not log.chats:
        told = f". What there is cannot be read, such as {_said(log.malformed[0])}" if log.malformed else ""
        raise BadDataset(f"there is nothing to import{told}")
    missing = [number for number in only if not 1 <= number <= len(log.chats)]
    if missing:
        raise BadDataset(f"there is no conversation {missing[0]}: the file has 1 to {len(log.chats)}")
    return [log.chats[number - 1] for number in dict.fromkeys(only)] if only else log.chats


def _tell(taken: _Taken, log: Log) -> None:
    already = f", {taken.duplicates:,} were there already" if taken.duplicates else ""
    out.print(f"Messages accepted: {taken.accepted:,}{already}.")
    if log.silent:
        out.print(f"Left out because nobody said them (tools, hidden instructions, thoughts): {log.silent:,}.")
    if taken.refused:
        out.print(f"Conversations not taken, or not to their end, see above: {taken.refused:,}.", style="red")
    if log.malformed:
        out.print(f"Left out because they cannot be read: {len(log.malformed):,}.", style="yellow")
        for item in log.malformed[:NAMED]:
            out.print(f"  {_said(item)}", markup=False)


def _said(item: Malformed) -> str:
    return f"{item.place}: {item.reason}"
