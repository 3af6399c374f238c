"""`xmemory eval run`: put conversations into a service, ask it every question, and measure what comes back.

A run lives in a folder. Whatever ends it, the same command goes on where it was: conversations that are in are not
posted again, requests that have a row are not made again; those that failed are.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.evaluation import journal, manifest, tables, tracing
from app.evaluation.client import Client, connect
from app.evaluation.datasets import Conversation, Dataset
from app.evaluation.errors import ToolError
from app.evaluation.ingesting import ingest
from app.evaluation.journal import Journal
from app.evaluation.judging import Judge, judging
from app.evaluation.manifest import Manifest
from app.evaluation.measuring import Measured, check, measure
from app.evaluation.plan import Case, Plan
from app.evaluation.run_folder import QUESTIONS, TRACES
from app.evaluation.server import embedded
from app.evaluation.terminal import err, out


@dataclass(frozen=True, slots=True)
class Reached:
    """Where the service and the judge are, and the keys to show them. `url` None starts a server for the run."""

    url: str | None = None
    key: str | None = None
    judge_url: str | None = None
    judge_key: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A run. `conversations` have the questions that are asked; `left_out` more are known to have wrong answers.

    `asked` are choices that are part of the run's configuration and not of its plan.
    """

    plan: Plan
    dataset: Dataset
    conversations: Sequence[Conversation]
    left_out: int
    asked: dict[str, Any]
    reached: Reached


async def run(order: Order, folder: Path | None) -> None:
    """Measure, print the tables, and leave all of it in the folder; without one, nothing stays.

    Raises ToolError: what `Client` raises while ingesting, another run in the folder, a service that goes away, or,
    after all is printed, failed requests.
    """
    with TemporaryDirectory(prefix="xmemory-eval-") as temporary:
        place = Path(temporary) if folder is None else folder
        with journal.keep(place) as kept:
            async with _service(order.reached, place) as base, connect(base, order.reached.key) as client:
                measured = await _run(order, place, kept, client)
    _print(order, measured)
    if folder is not None:
        out.print(f"Written to {folder}", markup=False, soft_wrap=True)
    if measured.failed:
        again = ": run it again to try them once more" if folder is not None else ""
        raise ToolError(f"{len(measured.failed)} requests failed; they are in no figure{again}")


async def _run(order: Order, folder: Path, kept: Journal, client: Client) -> Measured:
    begun = time.perf_counter()
    names = [conversation.name for conversation in order.conversations]
    configured = manifest.configuration(order.plan, order.dataset, names, order.asked)
    written = await manifest.begin(folder, configured, await client.version(), kept.worked_at)
    try:
        cases = [case for conversation in order.conversations for case in order.plan.cases(conversation)]
        await asyncio.to_thread(_write_questions, order, folder, written, cases)
        async with _judge(order) as judge:
            await check(client, order.plan, cases)
            await _ingest(client, order, written)
            measured = await measure(client, order.plan, cases, kept, judge)
        traces = await tracing.trace_worst(client, order.plan, cases, measured.rows)
        await asyncio.to_thread(journal.replace, folder / TRACES, journal.lines(traces))
    finally:
        written.spent(time.perf_counter() - begun)
        written.save()
    written.save(state=manifest.COMPLETE, failed=manifest.failures(measured.rows))
    return measured


@asynccontextmanager
async def _judge(order: Order) -> AsyncIterator[Judge | None]:
    reached, model = order.reached, order.plan.judge
    if model is None or reached.judge_url is None:
        yield None
        return
    async with judging(reached.judge_url, model, reached.judge_key) as judge:
        yield judge


@asynccontextmanager
async def _service(reached: Reached, folder: Path) -> AsyncIterator[str]:
    """The URL of the service: the one given, or that of a server of ours, whose database lies in the folder."""
    async with AsyncExitStack() as stack:
        url = reached.url
        if url is None:
            with err.status("Starting a server"):
                database = f"sqlite+aiosqlite:///{folder}/memory.db"
                url = await stack.enter_async_context(embedded(database))
        yield url


def _write_questions(order: Order, folder: Path, written: Manifest, cases: Sequence[Case]) -> None:
    answerable = [case for case in cases if case.question.answerable]
    counts = {
        "asked": sum(case.is_searched for case in cases),
        "without_evidence": sum(not case.is_searched for case in answerable),
        "unanswerable": len(cases) - len(answerable),
        "left_out": order.left_out,
    }
    journal.replace(folder / QUESTIONS, journal.lines(case.written() for case in cases))
    written.save(questions=counts, **manifest.faults(order.dataset))


async def _ingest(client: Client, order: Order, written: Manifest) -> None:
    """Put in what is not in yet; what each namespace then holds stands in the manifest."""
    done = dict(written.document.get("ingest", {}))
    stored = dict(written.document.get("stored", {}))
    for conversation in order.conversations:
        namespace = order.plan.namespace(conversation)
        if namespace not in done:
            ingested = await ingest(client, order.plan, conversation)
            done[namespace] = asdict(ingested)
        status = await client.status(namespace)
        if status.messages != done[namespace]["messages"]:
            raise ToolError(f"{namespace} has changed since it was put in: choose another --out and --namespace")
        stored[namespace] = status.model_dump()
        written.save(ingest=done, stored=stored)


def _print(order: Order, measured: Measured) -> None:
    tables.print_all(measured.rows, out)
    cases = measured.cases
    asked, faults = sum(case.is_searched for case in cases), order.dataset.faults
    without = sum(case.question.answerable for case in cases) - asked
    out.print(
        f"{asked} questions searched for; {without} more have no evidence; {len(cases) - asked - without} are "
        f"unanswerable; {order.left_out} were left out, for their answers are known to be wrong."
    )
    if faults:
        counts = Counter(fault.kind.value for fault in faults)
        named = ", ".join(f"{kind} {count}" for kind, count in counts.items())
        out.print(f"Faults of the data, each named in manifest.json: {named}.")
    tables.print_failures(measured.failed, out)
