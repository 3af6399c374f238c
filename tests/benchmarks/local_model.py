"""SmolLM2-135M in this process: how fast it reads and writes, what reuse of a beginning saves, whether all is equal.

    python -m tests.benchmarks.local_model [--models FOLDER] [--dtype float32]

Fetches the model first if it is not there. Seconds are this process's CPU time, which on a busy machine says more
than the clock; the model runs in one thread.
"""

import argparse
import asyncio
import resource
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch

from app.domain.chat import Scored
from app.prompts import statements
from app.providers.causal.engine import Engine
from app.providers.causal.lane import Lane
from app.providers.causal.loading import Loaded, load_model
from app.providers.causal.rows import Row
from app.providers.chat_transformers import TransformersChat
from app.providers.model_files import SMOLLM2
from app.providers.model_pulling import pull
from app.providers.specs import MODELS_FOLDER, ChatSpec
from tests.integration.test_smollm2 import QUESTIONS, TALK
from tests.unit.tiny_model import direct_logprobs, prompt

T = TypeVar("T")

SYSTEM = "Answer briefly."
CONTEXT = TALK * 8  # about a thousand tokens, as the reader's gate reads
SCHEMA = statements.render((), {}).schema


@dataclass(frozen=True)
class Timed:
    """Seconds of a piece of work."""

    seconds: float

    def rate(self, tokens: int) -> str:
        return f"{tokens} tokens in {self.seconds:.2f} s, {tokens / self.seconds:.0f} a second"


async def _timed(work: Callable[[], Awaitable[T]]) -> tuple[T, Timed]:
    begun = time.process_time()
    result = await work()
    return result, Timed(time.process_time() - begun)


async def _speed(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    tokens = loaded.beginning(SYSTEM, CONTEXT)
    _, timed = await _timed(lambda: lane.read(tokens))
    print(f"reading: {timed.rate(len(tokens))}")
    for rows in (1, 4, 8):
        batch = [
            Row(loaded.prompt(SYSTEM, question, 40), 40, frozenset(), scored=True) for question in QUESTIONS[:rows]
        ]
        said, timed = await _timed(lambda batch=batch: lane.run(batch))
        print(f"writing, {rows} side by side: {timed.rate(sum(len(each.tokens) for each in said))}")
    lane.close()


async def _exactness(loaded: Loaded) -> None:
    lane = Lane(Engine(loaded.model, loaded.device), 1)
    rows = [Row(loaded.prompt(SYSTEM, TALK + question, 20), 20, loaded.ends, scored=True) for question in QUESTIONS]
    answers = await lane.run(rows)
    lane.close()
    direct = [direct_logprobs(loaded, row.prompt, said.tokens) for row, said in zip(rows, answers, strict=True)]
    print(
        f"log-probabilities of {sum(len(said.tokens) for said in answers)} tokens after {len(rows)} prompts: at most "
        f"{max(_apart(said.logprobs, each) for said, each in zip(answers, direct, strict=True)):.1e} "
        "from a plain forward pass"
    )


def _apart(some: Sequence[float], others: Sequence[float]) -> float:
    return max((abs(one - other) for one, other in zip(some, others, strict=True)), default=0.0)


async def _reuse(chat: TransformersChat) -> None:
    async def score(reuse: bool) -> list[Scored]:
        chat.reuse = reuse
        async with chat.scoring(SYSTEM, CONTEXT) as scoring:
            return list(await scoring.score(QUESTIONS[:8]))

    whole, slow = await _timed(lambda: score(reuse=False))
    reused, fast = await _timed(lambda: score(reuse=True))
    pairs = list(zip(whole, reused, strict=True))
    print(
        f"8 probes of one beginning: {sum(one.tokens.read for one, _ in pairs)} tokens read in {slow.seconds:.1f} s "
        f"without reuse, {sum(other.tokens.read for _, other in pairs)} in {fast.seconds:.1f} s with it "
        f"({slow.seconds / fast.seconds:.1f} times as fast); texts "
        f"{'equal' if all(one.text == other.text for one, other in pairs) else 'DIFFERENT'}, log-probabilities at "
        f"most {max(_apart(one.logprobs, other.logprobs) for one, other in pairs):.1e} apart"
    )


async def _writing(chat: TransformersChat) -> None:
    ask = prompt(f"{TALK}Write down what was said.", dict(SCHEMA or {}), 1800)
    working = asyncio.create_task(_timed(lambda: chat.reply(ask)))
    longest, last = 0.0, time.perf_counter()
    while not working.done():
        await asyncio.sleep(0.001)
        longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
    reply, timed = await working
    print(f"a reply held to the statements' schema ({reply.finish}): {timed.rate(reply.tokens.written)}")
    print(f"longest time that the event loop was held meanwhile: {1000 * longest:.0f} ms")


async def run(models: Path, dtype: str) -> None:
    """All figures."""
    torch.set_num_threads(1)
    pull(SMOLLM2, models, lambda *_: None)
    begun = time.process_time()
    loaded = load_model(ChatSpec("transformers", SMOLLM2, dtype=dtype, models_folder=str(models)))
    print(
        f"load: {time.process_time() - begun:.1f} s, {_most_memory()}; {loaded.window} tokens of window, on "
        f"{loaded.device}, {dtype}"
    )
    await _speed(loaded)
    await _exactness(loaded)
    chat = TransformersChat(loaded)
    await _reuse(chat)
    await _writing(chat)
    chat.close()
    print(f"in all: {_most_memory()}")


def _most_memory() -> str:
    return f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB of memory"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=Path(MODELS_FOLDER).expanduser())
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    given = parser.parse_args()
    asyncio.run(run(given.models, given.dtype))
