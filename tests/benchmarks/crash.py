"""Hundreds of kills at random moments of ingest, segmentation, admission and maintenance.

    python -m tests.benchmarks.crash [--database sqlite|postgres] [--kills 200] [--messages 20000] [--seed 1]
                                     [--unsteady 0.1]

On Postgres two servers and two workers run; on SQLite one server does all. With `--unsteady` they use a language
and an embedding model over HTTP, and that share of the calls fails, hangs or is answered with rubbish. Prints a
summary; status 1 if anything was lost, doubled, out of order or left over.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.storage import migrate
from tests.e2e.crash import Plan, crash
from tests.servers import database_of, postgres_server

SHOWN = 100  # faults


@contextmanager
def _database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        url = f"sqlite+aiosqlite:///{folder}/memory.db"
        migrate.upgrade(url)
        yield url
        return
    with postgres_server() as server:
        url = database_of(server, "postgres").replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


def main() -> int:
    """Run one plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inline", action="store_true", help="Postgres: let the servers do the work")
    parser.add_argument("--unsteady", type=float, default=0.0, metavar="SHARE", help="of model calls go wrong")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="xm-crash-"))
    with _database(given.database, folder) as url:
        plan = Plan(url, given.messages, given.kills, given.seed, namespaces=4, conversations=3, settle_seconds=600)
        plan = replace(plan, unsteady=given.unsteady)
        if given.database == "postgres":
            plan = replace(plan, servers=2, workers=0 if given.inline else 2)
        report = asyncio.run(crash(plan, folder))
    print(report)
    for kind, fault in [*report.judgement.wrong(), *(("unsettled", one) for one in report.unsettled)][:SHOWN]:
        print(f"{kind}: {fault}")
    print(f"logs: {folder}")
    return 0 if report.sound else 1


if __name__ == "__main__":
    sys.exit(main())
