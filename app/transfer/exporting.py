"""`xmemory export`: a namespace into a file. What broke off goes on where it was."""

import asyncio
import gzip
import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from app.evaluation.client import Client, connect
from app.evaluation.errors import Refused, ToolError, Unreachable
from app.evaluation.terminal import err, out, progress

TRIES = 5  # at a connection that breaks off, without a new line in between
REST_SECONDS = 2.0
PART = ".part"  # ends the name of a file that is not whole


@dataclass(frozen=True, slots=True)
class Export:
    """What to export, where from, and where to; `file` may end in .gz."""

    namespace: str
    file: Path
    url: str
    key: str | None
    vectors: bool

    @property
    def part(self) -> Path:
        """The file while it is not whole."""
        return self.file.with_name(self.file.name + PART)


async def run(order: Export) -> None:
    """Write the file, or go on with what is there of it. Raises ToolError."""
    if order.file.exists():
        raise ToolError(f"{order.file} is there already")
    try:
        async with connect(order.url, order.key) as client:
            lines = await _download(client, order)
        await asyncio.to_thread(_finish, order)
    except ToolError:
        await asyncio.to_thread(_drop_empty, order.part)
        raise
    except OSError as error:
        raise ToolError(f"{error.filename or order.file} cannot be written: {error.strerror}") from error
    out.print(f"{order.namespace} is in {order.file}: {lines:,} lines.", markup=False)


async def _download(client: Client, order: Export) -> int:
    """Read until the file is whole. Returns how many lines it has."""
    tries, lines = 0, await asyncio.to_thread(_keep_whole_lines, order.part)
    with progress("lines") as bar:
        task = bar.add_task("Exporting", completed=lines, total=None)
        while not await asyncio.to_thread(_is_whole, order.part):
            before, cause = lines, ToolError("the service cut the file off")
            try:
                await _read(client, order, lines, bar, task)
            except Unreachable as error:
                cause = error
            except Refused as refused:
                if refused.status != HTTPStatus.CONFLICT or not lines:
                    raise
                err.print("The namespace has changed since: beginning anew.")
                await asyncio.to_thread(order.part.unlink)
            lines = await asyncio.to_thread(_keep_whole_lines, order.part)
            tries = 0 if lines > before else tries + 1
            if tries == TRIES:
                raise cause
            if tries:
                await asyncio.sleep(REST_SECONDS)
    return lines


async def _read(client: Client, order: Export, lines: int, bar: Progress, task: TaskID) -> None:
    query = {"vectors": str(order.vectors).lower()}
    head = await asyncio.to_thread(_head, order.part)
    if head is not None:
        if (head["namespace"], head["vectors"]) != (order.namespace, order.vectors):
            raise ToolError(f"{order.part} is of another export: remove it, or name another file")
        query |= {"after": str(lines), "revision": str(head["revision"])}
    total = None if head is None else _total(head)
    with order.part.open("ab", buffering=0) as file:
        async for piece in client.export(order.namespace, **query):
            await asyncio.to_thread(file.write, piece)
            lines += piece.count(b"\n")
            if total is None and (head := await asyncio.to_thread(_head, order.part)) is not None:
                total = _total(head)
            bar.update(task, completed=lines, total=total)


def _keep_whole_lines(part: Path) -> int:
    """Cut off a last line that is not whole. Returns how many lines are left."""
    part.touch()
    lines = end = 0
    with part.open("r+b") as file:
        for line in file:
            if not line.endswith(b"\n"):
                break
            lines, end = lines + 1, end + len(line)
        file.truncate(end)
    return lines


def _head(part: Path) -> Mapping[str, Any] | None:
    """The header, if it is there. Raises ToolError for a file of something else."""
    with part.open("rb") as file:
        line = file.readline()
    if not line.endswith(b"\n"):
        return None
    try:
        head: dict[str, Any] = json.loads(line)
        return {name: head[name] for name in ("namespace", "vectors", "revision", "counts")}
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{part} is no part of an export: remove it, or name another file") from error


def _total(head: Mapping[str, Any]) -> int:
    return int(sum(head["counts"].values())) + 2  # the header and the end


def _is_whole(part: Path) -> bool:
    """Whether the end is there. Raises ToolError if it says that something was lost on the way."""
    checksum, last = hashlib.sha256(), b""
    with part.open("rb") as file:
        file.readline()
        for line in file:
            checksum.update(last)
            last = line
    end = json.loads(last) if last else {}
    if end.get("line") != "end":
        return False
    if end.get("sha256") != checksum.hexdigest():
        raise ToolError(f"{part} is damaged: remove it, and export again")
    return True


def _drop_empty(part: Path) -> None:
    if part.exists() and not part.stat().st_size:
        part.unlink()


def _finish(order: Export) -> None:
    if order.file.suffix != ".gz":
        order.part.rename(order.file)
        return
    with order.part.open("rb") as plain, gzip.open(order.file, "wb") as packed:
        shutil.copyfileobj(plain, packed)
    order.part.unlink()
