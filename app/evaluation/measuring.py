"""Asks all the questions of a run, and has the answers judged."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from app.evaluation import judging, wording
from app.evaluation.asking import ask, side_by_side
from app.evaluation.client import Client
from app.evaluation.errors import Refused, ToolError, Unreachable
from app.evaluation.journal import Journal
from app.evaluation.judging import Judge
from app.evaluation.plan import FULL, Case, Plan, Request, Row, options
from app.evaluation.terminal import progress

NOT_THERE = 404  # a namespace that nothing was posted to


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was asked, and what came of it."""

    cases: Sequence[Case]
    rows: Sequence[Row]

    @property
    def failed(self) -> list[Row]:
        """Those that are in no figure."""
        return [row for row in self.rows if row.error is not None]


async def check(client: Client, plan: Plan, cases: Sequence[Case]) -> None:
    """Ask once in every way, so that what the service will not take is known before anything is posted.

    Raises Refused: a strategy that does not exist, a key that opens nothing. That there is no memory yet is no matter.
    """
    for strategy in plan.strategies if cases else ():
        if strategy != FULL:
            try:
                await client.search(cases[0].namespace, cases[0].question.text, **options(strategy))
            except Refused as refused:
                if refused.status != NOT_THERE:
                    raise


async def measure(client: Client, plan: Plan, cases: Sequence[Case], kept: Journal, judge: Judge | None) -> Measured:
    """Make every request that has no row yet, and write the rows in the order of the plan.

    Raises ToolError where nothing can be measured, and Unreachable when the service goes away.
    """
    requests = plan.requests(cases)
    if plan.answers:
        await asyncio.to_thread(lambda: (wording.bleu_1("a", "a"), wording.rouge_l("a", "a")))  # slow to load

    async def make(request: Request) -> None:
        kept.add(await ask(client, request))

    await _all("Asking", requests, make, kept, plan.concurrency)
    if judge is not None:
        requests += await _judge(judge, plan, cases, [kept.rows[request.key] for request in requests], kept)
    return Measured(cases, await asyncio.to_thread(kept.finish, [request.key for request in requests]))


async def _judge(judge: Judge, plan: Plan, cases: Sequence[Case], rows: Sequence[Row], kept: Journal) -> list[Request]:
    told = judging.requests(cases, rows)
    answers = {request.key: answer for request, answer in told}

    async def make(request: Request) -> None:
        kept.add(await judge.judge(request, answers[request.key]))

    requests = [request for request, _ in told]
    await _all("Judging", requests, make, kept, plan.concurrency)
    return requests


async def _all(
    title: str,
    requests: Sequence[Request],
    make: Callable[[Request], Awaitable[None]],
    kept: Journal,
    at_once: int,
) -> None:
    """Make those that are not done; the bar counts all of them, the rate those that are made now."""
    left = [request for request in requests if not kept.has(request.key)]
    if not left:
        return
    with progress("requests") as bar:
        task = bar.add_task(title, total=len(requests), completed=len(requests) - len(left))

        async def one(request: Request) -> None:
            await make(request)
            bar.advance(task)

        try:
            await side_by_side(left, one, at_once)
        except Unreachable as error:
            raise ToolError(f"{error}\nWhat was asked is kept: run it again to go on.") from error
