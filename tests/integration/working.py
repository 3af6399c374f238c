"""A worker process whose steps take as long as a test likes: python -m tests.integration.working URL SECONDS POLICY.

Writes the key of each job that it starts, one a line.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from app.cli import _on_signals
from app.container import build, build_worker, utc_now
from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.jobs.runner import Runner, RunnerPolicy
from app.services.progress import Progress
from app.settings import Settings


async def work(url: str, seconds: float, policy: Mapping[str, float]) -> None:
    async def run(attempt: Attempt) -> Mapping[str, Any]:
        print(attempt.job.key, flush=True)
        await asyncio.sleep(seconds)
        return {}

    settings = Settings(_env_file=None, database_url=url, embedder="scripted", worker="off")
    async with build(settings) as built:
        kinds = {step: JobKind(step, run) for step in Step}
        runner = Runner(built.storage, kinds, Progress(), utc_now, RunnerPolicy(**policy))
        worker = build_worker(runner, built.storage)
        _on_signals(worker.stop, worker.hurry)
        print("ready", flush=True)
        await worker.run()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])))
