"""How fast a namespace moves from one database to the other, and how much memory that takes.

    python -m tests.benchmarks.moving [--source sqlite|postgres] [--statements 16000] [--vectors | --no-vectors]

Fills a namespace in bulk on the one database, exports it through a service in a process of its own, imports the file
into a service on the other, and exports it from there: apart from the header's revision, and the namespace's name, the
two files must be the same, or it ends with an error. Prints lines a second and the most memory that each process held.
Without vectors in the file they are made anew, by hash: no model's time is in the figures.
"""

import asyncio
import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import httpx
import typer

from app.container import build
from app.settings import Settings
from tests.benchmarks.filling import DIMENSION, fill
from tests.benchmarks.process import Served, served
from tests.servers import new_database

EMBEDDER = f"scripted:{DIMENSION}"
OTHER = {"sqlite": "postgres", "postgres": "sqlite"}
OPEN = ("queued", "running")
PIECE = 256 * 1024  # bytes of a file that are sent together
LOOK_SECONDS = 0.05  # between two looks at the job
WAIT_SECONDS = 1800.0
NOT_THE_SAME = ("namespace", "revision")  # fields of a header
NDJSON = {"content-type": "application/x-ndjson"}


async def _filled(url: str, size: int) -> None:
    settings = Settings(_env_file=None, database_url=url, embedder=EMBEDDER, log_level="error")
    async with build(settings) as built, built.storage.engines.write.connect() as connection:
        await fill(connection, "ada", str(built.embedders.newest.profile), size)


async def _exported(server: Served, file: Path, *, vectors: bool) -> None:
    """Write the export into a file, and print what it took."""
    before, begun, lines = _begin(server), time.perf_counter(), 0
    async with (
        httpx.AsyncClient(base_url=server.url, timeout=WAIT_SECONDS, trust_env=False) as http,
        http.stream("GET", "/v1/namespaces/ada/export", params={"vectors": vectors}) as reply,
    ):
        reply.raise_for_status()
        with file.open("wb") as out:
            async for piece in reply.aiter_raw():
                lines += piece.count(b"\n")
                out.write(piece)
            size = out.tell() / 2**20
    _tell("export", lines, time.perf_counter() - begun, server, before, f"; {size:.1f} MiB")


async def _imported(server: Served, file: Path, lines: int) -> None:
    """Import a file, wait for its job, and print what each took."""
    before, begun = _begin(server), time.perf_counter()
    async with httpx.AsyncClient(base_url=server.url, timeout=WAIT_SECONDS, trust_env=False) as http:
        with file.open("rb") as content:
            pieces = iter(lambda: content.read(PIECE), b"")
            reply = await http.post("/v1/namespaces/ada/import", content=_sent(pieces), headers=NDJSON)
        reply.raise_for_status()
        _tell("import, until its lines are durable", lines, time.perf_counter() - begun, server, before)
        before, begun = _begin(server), time.perf_counter()
        job = await _finished(http, reply.json()["job"])
    assert job["state"] == "succeeded", job["error"]
    _tell("import, its job", lines, time.perf_counter() - begun, server, before)


async def _sent(pieces: Any) -> Any:  # noqa: ANN401
    for piece in pieces:
        yield piece


async def _finished(http: httpx.AsyncClient, job: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = (await http.get(f"/v1/namespaces/ada/jobs/{job}")).raise_for_status().json()
        if found["state"] not in OPEN:
            return found
        await asyncio.sleep(LOOK_SECONDS)


def _begin(server: Served) -> float:
    server.forget_peak()
    return server.resident


def _tell(what: str, lines: int, seconds: float, server: Served, before: float, more: str = "") -> None:
    print(
        f"  {what}: {lines:,} lines in {seconds:.1f} s, {lines / seconds:,.0f} a second; "
        f"memory {before:.0f} MB before, {server.peak:.0f} MB at most{more}",
        flush=True,
    )


def _same(one: Path, other: Path) -> bool:
    """Whether two files hold the same namespace."""
    heads = []
    with one.open("rb") as first, other.open("rb") as second:
        for content in (first, second):
            head = json.loads(content.readline())
            heads.append({name: value for name, value in head.items() if name not in NOT_THE_SAME})
        return heads[0] == heads[1] and all(a == b for a, b in zip(first, second, strict=True))


async def run(source: str, size: int, *, vectors: bool) -> bool:
    """Move a namespace; whether it is the same afterwards."""
    with ExitStack() as stack:
        urls = [stack.enter_context(new_database(kind)) for kind in (source, OTHER[source])]
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="xm-moving-")))
        files = [folder / name for name in ("first.ndjson", "second.ndjson")]
        await _filled(urls[0], size)
        print(f"{source}, {size:,} statements, {'with' if vectors else 'without'} vectors", flush=True)
        async with served(urls[0], {"EMBEDDER": EMBEDDER}) as server:
            await _exported(server, files[0], vectors=vectors)
        with files[0].open("rb") as content:
            lines = sum(1 for _ in content)
        print(OTHER[source])
        async with served(urls[1], {"EMBEDDER": EMBEDDER}) as server:
            await _imported(server, files[0], lines)
            await _exported(server, files[1], vectors=vectors)
        return _same(*files)


def main(
    source: Annotated[Literal["sqlite", "postgres"], typer.Option(help="Moves to the other one.")] = "sqlite",
    statements: Annotated[int, typer.Option(help="A message, a theme or so for each five of them.")] = 16_000,
    vectors: Annotated[bool, typer.Option(help="In the file.")] = True,
) -> None:
    """Move."""
    same = asyncio.run(run(source, statements, vectors=vectors))
    print(f"the second file is {'the same' if same else 'ANOTHER'}")
    sys.exit(not same)


if __name__ == "__main__":
    typer.run(main)
