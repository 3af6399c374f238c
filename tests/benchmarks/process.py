"""A service in a process of its own, whose memory can be watched. Linux only."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.e2e.processes import free_port

STARTS = 180.0  # seconds that it may take to start


@dataclass(frozen=True, slots=True)
class Served:
    """Where it answers, and which process it is."""

    url: str
    pid: int

    @property
    def resident(self) -> float:
        """MB of memory that it holds now."""
        return self._memory("VmRSS:")

    @property
    def peak(self) -> float:
        """Most MB that it held since it began, or since `forget_peak`."""
        return self._memory("VmHWM:")

    @property
    def busy(self) -> float:
        """Seconds of a processor that it has used, all threads together."""
        user, system = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def forget_peak(self) -> None:
        """Begin `peak` anew."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")

    def _memory(self, what: str) -> float:
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))


@asynccontextmanager
async def served(database_url: str, settings: Mapping[str, str]) -> AsyncIterator[Served]:
    """`xmemory serve` on a free port, with these settings by name; errors only are logged."""
    port = free_port()
    given = {"LOG_LEVEL": "error", **settings, "DATABASE_URL": database_url, "PORT": str(port)}
    environment = {**os.environ, **{f"XMEMORY_{name}": value for name, value in given.items()}}
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "app.cli", "serve", env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        async with asyncio.timeout(STARTS), httpx.AsyncClient(base_url=url, trust_env=False) as http:
            while not await _is_ready(http):
                await asyncio.sleep(0.1)
        yield Served(url, process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _is_ready(http: httpx.AsyncClient) -> bool:
    with suppress(httpx.TransportError):
        return (await http.get("/health/ready")).is_success
    return False
