"""What it costs to look at themes: a page of the list, one theme, the graph; and to arrange them all anew.

    python -m tests.benchmarks.themes_read [--database sqlite|postgres] [--sizes 1000,10000] [--rebuild]

Fills a namespace of each size in bulk (`filling.py`). Times are medians of three, in ms; in brackets what this process
computed, which does not depend on what else the machine does. `memory` is what it took at most, in MB, beyond what it
held before. With `--rebuild` also one rebuild, which takes far longer.
"""

import argparse
import asyncio
import resource
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from rich.console import Console
from rich.table import Table

from app.container import Container, build, utc_now
from app.domain.errors import TooLarge
from app.domain.ids import NamespaceId
from app.domain.levels import Level
from app.services.rebuilding import Rebuilding
from app.settings import Settings
from tests.benchmarks.filling import DIMENSION, fill
from tests.benchmarks.themes_cost import _database as database

TIMES = 3
HIERARCHY = (Level.THEME, Level.STATEMENT, Level.EPISODE)


async def _timed(work: Callable[[], Awaitable[object]], times: int = TIMES) -> str:
    """Milliseconds by the clock, and in brackets those that this process computed."""
    found = []
    for _ in range(times):
        begun, computed = time.perf_counter(), time.process_time()
        try:
            await work()
        except TooLarge:
            return "too large"
        found.append((time.perf_counter() - begun, time.process_time() - computed))
    clock, own = (1000 * statistics.median(each) for each in zip(*found, strict=True))
    return f"{clock:.0f} ({own:.0f})"


async def _rebuild(built: Container, namespace: NamespaceId, name: str) -> None:
    await built.services.themes.order_rebuild(name)
    async with built.storage.write(namespace) as unit:
        now = utc_now()
        attempt = await unit.jobs.claim(now, now - timedelta(seconds=60), unit.namespace)
        await unit.commit(revises_memory=False)
    assert attempt is not None
    await Rebuilding(built.storage, utc_now).rebuild(attempt)


async def _row(built: Container, size: int, *, rebuild: bool) -> Sequence[str]:
    name, services = f"read-{size}", built.services
    async with built.storage.engines.write.connect() as connection:
        namespace, _, _ = await fill(connection, name, str(built.embedders.newest.profile), size)
    [first] = await services.themes.page(name, None, 1)
    held = _peak()
    return (
        str(size),
        str((await services.namespaces.status(name)).themes),
        await _timed(lambda: services.themes.page(name, None, 20)),
        await _timed(lambda: services.themes.page(name, None, 100)),
        await _timed(lambda: services.themes.get(name, first.theme.id)),
        await _timed(lambda: services.theme_graph.graphml(name, [Level.THEME])),
        await _timed(lambda: services.theme_graph.graphml(name, HIERARCHY)),
        await _timed(lambda: _rebuild(built, namespace, name), 1) if rebuild else "",
        f"{_peak() - held:.0f}",
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure(kind: str, url: str, sizes: Sequence[int], *, rebuild: bool) -> None:
    settings = Settings(
        _env_file=None,
        database_url=url.replace("postgresql://", "postgresql+psycopg://", 1),
        embedder=f"scripted:{DIMENSION}",
        log_level="warning",
    )
    table = Table(title=f"looking at themes, {kind}, in ms; memory in MB")
    for column in ("statements", "themes", "20", "100", "one", "graph of themes", "graph", "rebuild", "memory"):
        table.add_column(column, justify="right")
    async with build(settings) as built:
        for size in sizes:
            table.add_row(*await _row(built, size, rebuild=rebuild))
    Console(width=120).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--rebuild", action="store_true")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with database(given.database) as url:
        asyncio.run(measure(given.database, url, sizes, rebuild=given.rebuild))


if __name__ == "__main__":
    main()
