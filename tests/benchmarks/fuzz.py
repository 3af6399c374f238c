"""schemathesis over the whole OpenAPI document, all checks, on both databases, for as many requests as are asked for.

    python -m tests.benchmarks.fuzz [--requests 10000] [--seed 1] [--database sqlite|postgres]

Prints what was generated and every failure; status 1 if there was one. Rounds with rising seeds are added until each
database has had its requests.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from tests.conftest import serving, settings_for
from tests.fuzzing import fuzz, fuzzed
from tests.servers import new_database

EXAMPLES = 30  # for each operation, of each kind, in a round
PHASES = ("examples", "coverage", "fuzzing", "stateful")
DATABASES = ("sqlite", "postgres")


async def rounds(kind: str, requests: int, seed: int) -> bool:
    """Fuzz one database; whether nothing was found."""
    generated, fine, begun = 0, True, time.monotonic()
    while generated < requests:
        with new_database(kind) as url, tempfile.TemporaryDirectory(prefix="xm-fuzz-") as folder:
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
