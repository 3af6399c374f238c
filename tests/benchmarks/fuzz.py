"""schemathesis over the whole OpenAPI document, all checks, on both databases, for as many requests as are asked for.

    python -m tests.benchmarks.fuzz [--requests 10000] [--seed 1] [--database sqlite|postgres]

Prints what was generated and every failure; status 1 if there was one. Rounds with rising seeds are added until each
database has had its requests.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import psycopg
import typer

from app.storage import migrate
from tests.conftest import serving, settings_for
from tests.fuzzing import fuzz, fuzzed
from tests.servers import database_of, postgres_server

EXAMPLES = 30  # for each operation, of each kind, in a round
PHASES = ("examples", "coverage", "fuzzing", "stateful")
DATABASES = ("sqlite", "postgres")


@contextmanager
def database(kind: str) -> Iterator[str]:
    """URL of a fresh, migrated database."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="xm-fuzz-") as folder:
            url = f"sqlite+aiosqlite:///{folder}/memory.db"
            migrate.upgrade(url)
            yield url
        return
    with postgres_server() as server:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE fuzz")
        url = database_of(server, "fuzz").replace("postgresql://", "postgresql+psycopg://", 1)
        migrate.upgrade(url)
        yield url


async def rounds(kind: str, requests: int, seed: int) -> bool:
    """Fuzz one database; whether nothing was found."""
    generated, fine, begun = 0, True, time.monotonic()
    while generated < requests:
        with database(kind) as url, tempfile.TemporaryDirectory(prefix="xm-fuzz-") as folder:
            async with serving(fuzzed(settings_for(url))) as api:
                outcome = await fuzz(api, Path(folder), *PHASES, examples=EXAMPLES, seed=seed)
        generated += outcome.generated
        fine = fine and outcome.ok
        if not outcome.ok:
            print(outcome.printed)
        found = "nothing found" if outcome.ok else "FAILURES"
        print(
            f"{kind}, seed {seed}: {outcome.generated} requests, {found}, {time.monotonic() - begun:.0f} s", flush=True
        )
        if not outcome.generated:
            return False
        seed += 1
    return fine


def main(
    requests: Annotated[int, typer.Option(help="Of each database.")] = 10_000,
    seed: int = 1,
    database: Annotated[Literal["sqlite", "postgres"] | None, typer.Option(help="Only this one.")] = None,
) -> None:
    """Fuzz."""
    fine = [asyncio.run(rounds(kind, requests, seed)) for kind in DATABASES if database in (kind, None)]
    sys.exit(not all(fine))


if __name__ == "__main__":
    typer.run(main)
