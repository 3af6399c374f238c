"""A worker process whose steps take as long as a test likes: python -m tests.integration.working URL SECONDS POLICY.

Writes the key of each job that it starts, and what it does about signals, one a line. A line that it reads ends the
step at work.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from app.cli import _on_signals
from app.container import build, build_worker, utc_now
from app.domain.jobs import Attempt, Step
from app.jobs.registry import JobKind
from app.jobs.runner import Runner, RunnerPolicy
from app.services.progress import Progress
from app.settings import Settings


async def work(url: str, seconds: float, policy: Mapping[str, float]) -> None:
    told, loop = asyncio.Event(), asyncio.get_running_loop()

    def hear() -> None:
        loop.remove_reader(sys.stdin)
        told.set()

    loop.add_reader(sys.stdin, hear)

    async def run(attempt: Attempt) -> Mapping[str, Any]:
        print(attempt.job.key, flush=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), seconds)
        return {}

    settings = Settings(_env_file=None, database_url=url, embedder="scripted", worker="off")
    async with build(settings) as built:
        kinds = {step: JobKind(step, run) for step in Step}
        runner = Runner(built.storage, kinds, Progress(), utc_now, RunnerPolicy(**policy))
        worker = build_worker(runner, built.storage)
        _on_signals(_saying("stopping", worker.stop), _saying("hurrying", worker.hurry))
        print("ready", flush=True)
        await worker.run()


def _saying(what: str, act: Callable[[], None]) -> Callable[[], None]:
    def say_and_act() -> None:
        act()
        print(what, flush=True)

    return say_and_act


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])))
