"""A server of our own for as long as a tool needs one: the same `xmemory serve`, as a process."""

import asyncio
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from app.evaluation.errors import ServerDied
from app.evaluation.terminal import err

LOOPBACK = "127.0.0.1"
START_SECONDS = 120.0  # loading torch and the model from a cold disk takes a good part of a minute
LOOK_SECONDS = 0.1  # between two looks whether it is ready
STOP_SECONDS = 15.0  # to end in order; then it is killed
LOG_LINES = 20  # of a server that died, shown with the error


@asynccontextmanager
async def embedded(database_url: str | None = None, settings: Mapping[str, str] | None = None) -> AsyncIterator[str]:
    """Run a server and yield its URL; it is stopped and its temporary files are removed afterwards.

    Args:
        database_url: the database; a temporary SQLite file if None.
        settings: further settings by name ("EMBEDDER": "scripted"). What the environment and `.env` set
            holds too, except for the database, the address, the worker, and keys: nobody else comes here.

    Raises ServerDied, with the last lines of its log, if it ends or is not ready within START_SECONDS.
    """
    with TemporaryDirectory(prefix="xmemory-") as folder:
        port = _free_port()
        url = f"http://{LOOPBACK}:{port}"
        log = Path(folder) / "server.log"
        given = {
            **(settings or {}),
            "DATABASE_URL": database_url or f"sqlite+aiosqlite:///{folder}/xmemory.db",
            "HOST": LOOPBACK,
            "PORT": str(port),
            "WORKER": "inline",
            "AUTH": "off",
            "ADMIN_KEY": "",
        }
        process = await _start(given, log)
        try:
            await _ready(process, url, log)
            yield url
        finally:
            await _stop(process)


@asynccontextmanager
async def service(url: str | None) -> AsyncIterator[str]:
    """The URL of the service to use: the one given, or that of an embedded server."""
    async with AsyncExitStack() as stack:
        if url is None:
            with err.status("Starting a server on a temporary database"):
                url = await stack.enter_async_context(embedded())
        yield url


async def _start(settings: Mapping[str, str], log: Path) -> asyncio.subprocess.Process:
    # env(1) adds to our environment without reading it: that is left to app/settings.py.
    assignments = [f"XMEMORY_{name}={value}" for name, value in settings.items()]
    command = [*_dying_with_us(), "/usr/bin/env", *assignments, sys.executable, "-m", "app.cli", "serve"]
    with log.open("wb") as output:
        return await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=asyncio.subprocess.STDOUT
        )


def _dying_with_us() -> list[str]:
    """The kernel kills the server when we are killed: it must not stay behind, and hold its database. Linux only."""
    setpriv = shutil.which("setpriv")
    return [] if setpriv is None else [setpriv, "--pdeathsig", "KILL"]


async def _ready(process: asyncio.subprocess.Process, url: str, log: Path) -> None:
    clock = asyncio.get_running_loop().time
    end = clock() + START_SECONDS
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        while clock() < end:
            if process.returncode is not None:
                raise ServerDied(f"the server ended with status {process.returncode}:\n{_tail(log)}")
            with suppress(httpx.TransportError):
                if (await http.get("/health/ready")).is_success:
                    return
            await asyncio.sleep(LOOK_SECONDS)
    raise ServerDied(f"the server was not ready within {START_SECONDS:.0f} s:\n{_tail(log)}")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-LOG_LINES:]) or "(its log is empty)"
