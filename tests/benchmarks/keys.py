"""What it costs a request that the service asks for a key.

    python -m tests.benchmarks.keys [--database sqlite|postgres] [--requests 500]

Two services in one process, one that asks and one that does not, each on a database of its own. The same small read
goes to both in turns, so that what else the machine does falls on both.
"""

import argparse
import asyncio
import time
from contextlib import AsyncExitStack

from app.evaluation.metrics import percentile
from tests.conftest import Api, serving, settings_for
from tests.integration.keyed import ADMIN_KEY, asking_for_keys, make_key, showing
from tests.servers import new_database

WARM_UP = 50  # requests that are not counted


async def _ask(client: Api) -> float:
    begun = time.perf_counter()
    reply = await client.get("/v1/namespaces/ada")
    taken = time.perf_counter() - begun
    reply.raise_for_status()
    return taken


async def run(kind: str, requests: int) -> None:
    """Measure on one kind of database, and print."""
    async with AsyncExitStack() as stack:
        first, second = (stack.enter_context(new_database(kind)) for _ in range(2))
        free = await stack.enter_async_context(serving(settings_for(first)))
        asking = await stack.enter_async_context(serving(asking_for_keys(settings_for(second))))
        admin = await stack.enter_async_context(showing(asking, ADMIN_KEY))
        made = await make_key(admin, "ada")
        keyed = await stack.enter_async_context(showing(asking, made["key"]))
        taken: dict[str, list[float]] = {"without": [], "with a key": []}
        for client in (free, keyed):
            await client.say("ada", "I like tea.")
            await client.settle("ada")
        for _ in range(WARM_UP + requests):
            taken["without"].append(await _ask(free))
            taken["with a key"].append(await _ask(keyed))
    for name, seconds in taken.items():
        counted = seconds[WARM_UP:]
        p50, p95 = (1000 * (percentile(counted, share) or 0) for share in (0.5, 0.95))
        print(f"{kind}, {name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms over {len(counted)} requests")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--requests", type=int, default=500)
    given = parser.parse_args()
    asyncio.run(run(given.database, given.requests))
