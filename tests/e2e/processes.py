"""The processes of the crash run: the service's, killed and started again, and the models that they ask."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

READY_SECONDS = 180.0  # longest start of a process on a busy machine
STOP_SECONDS = 60.0
HANG_SECONDS = 60.0  # of an answer: far longer than anybody waits
STEPS = ["segment", "admit", "maintain"]
ENVIRONMENT = {
    "EMBEDDER": "scripted",
    "LOG_LEVEL": "error",
    "JOBS__HEARTBEAT_SECONDS": "0.5",
    "JOBS__STALE_SECONDS": "2",
}


class Member:
    """One process of the service."""

    def __init__(
        self, command: str, database_url: str, log: Path, *, inline: bool, models: Mapping[str, str] | None = None
    ) -> None:
        self.command, self.log = command, log
        self.flying = 0  # requests that wait for an answer from it
        self.port = free_port()
        given = {
            **ENVIRONMENT,
            **(models or {}),
            "DATABASE_URL": database_url,
            "PORT": str(self.port),
            "WORKER": "inline" if inline else "off",
        }
        self.stages = (["ingest"] if command == "serve" else []) + (STEPS if inline or command == "worker" else [])
        self._environment = {**os.environ, **{f"XMEMORY_{name}": value for name, value in given.items()}}
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it listens, if it is a server."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        with self.log.open("ab") as log:
            begins = log.tell()
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "app.cli", self.command,
                env=self._environment, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        if self.command == "serve":
            async with asyncio.timeout(READY_SECONDS), httpx.AsyncClient(trust_env=False) as client:
                while not await self._ready(client):
                    await asyncio.sleep(0.05)
        else:
            async with asyncio.timeout(READY_SECONDS):
                while b"works" not in self.log.read_bytes()[begins:]:
                    self._alive()
                    await asyncio.sleep(0.05)

    async def _ready(self, client: httpx.AsyncClient) -> bool:
        self._alive()
        with suppress(httpx.TransportError):
            return (await client.get(f"{self.url}/health/ready")).is_success
        return False

    def strike(self) -> None:
        """SIGKILL, now."""
        self._alive().kill()

    def _alive(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        if self._process.returncode is not None:
            raise AssertionError(f"{self.command} ended by itself:\n{self.log.read_text()[-4000:]}")
        return self._process

    async def gone(self) -> None:
        """Wait for its end."""
        assert self._process is not None
        await self._process.wait()

    async def stop(self) -> None:
        """End it in order, or at once if that takes too long."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), STOP_SECONDS)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


class Models:
    """The scripted models behind an OpenAI-compatible endpoint, of which a share of the calls goes wrong."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"

    @property
    def settings(self) -> Mapping[str, str]:
        """Of a service that uses them, and does not wait long for what hangs."""
        return {
            "EMBEDDER": "openai:scripted@64",
            "CHAT": "openai",
            "CHAT_MODEL": "scripted",
            "CHAT_BASE_URL": f"{self._base}/v1",
            "MODELS__CHAT_SECONDS": "2",
            "MODELS__EMBED_SECONDS": "2",
            "MODELS__ATTEMPTS": "2",
        }

    async def hang(self) -> None:
        """What drips slowly never comes to an end."""
        await self._ask("POST", "faults", {"seconds": HANG_SECONDS})

    async def mend(self) -> None:
        """All is well from now on."""
        await self._ask("DELETE", "faults")

    async def calls(self) -> Mapping[str, int]:
        """How often each kind of model was called so far."""
        found = await self._ask("GET", "calls")
        return {kind: found.get(kind, 0) for kind in ("chat", "embeddings")}

    async def ready(self) -> bool:
        """Whether it answers."""
        with suppress(httpx.TransportError):
            await self._ask("GET", "faults")
            return True
        return False

    async def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        async with httpx.AsyncClient(trust_env=False) as client:
            reply = await client.request(method, f"{self._base}/{path}", json=body)
        found: dict[str, Any] = reply.raise_for_status().json()
        return found


@asynccontextmanager
async def unsteady_models(seed: int, share: float, log: Path) -> AsyncIterator[Models]:
    """The endpoint as a process of its own, for as long as the block lasts."""
    port = free_port()
    with log.open("ab") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.stub", "--port", str(port), "--unsteady", str(seed), str(share),
            stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=out,
        )  # fmt: skip
    models = Models(port)
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not await models.ready():
                assert process.returncode is None, f"see {log}"
                await asyncio.sleep(0.05)
        await models.hang()
        yield models
    finally:
        process.kill()
        await process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
