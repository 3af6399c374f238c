"""`xmemory eval run`: put conversations into a service, ask it every question, and measure what comes back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from app.evaluation import metrics, report
from app.evaluation.client import Client, connect
from app.evaluation.errors import ToolError
from app.evaluation.importing import report_failures, watch
from app.evaluation.locomo import CATEGORIES, UNANSWERABLE, Conversation, Question
from app.evaluation.outcomes import Answered, Asked, Searched, answer_figures, search_figures
from app.evaluation.server import service
from app.evaluation.terminal import out, progress
from app.evaluation.wire import Version

CONCURRENCY = 4  # questions under way at once
SEARCHED = {number: name for number, name in CATEGORIES.items() if number != UNANSWERABLE}

JobT = TypeVar("JobT")
OutcomeT = TypeVar("OutcomeT")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. `budgets` in tokens, ascending; the first `limit` questions of each conversation."""

    strategies: tuple[str, ...]
    budgets: tuple[int, ...]
    limit: int | None
    answers: bool
    prefix: str

    def namespace(self, conversation: Conversation) -> str:
        """Where a conversation lives."""
        return f"{self.prefix}-{conversation.name}"

    def cases(self, conversation: Conversation) -> list["Case"]:
        """The questions that are asked about a conversation."""
        texts = {message.external_id: metrics.rendered(message) for message in conversation.messages}
        asked_at = max(message.occurred_at for message in conversation.messages if message.occurred_at is not None)
        return [
            Case(
                Asked(conversation.name, question.number, question.category),
                self.namespace(conversation),
                question,
                tuple(texts[id] for id in question.evidence),
                asked_at,
            )
            for question in conversation.questions[: self.limit]
        ]


@dataclass(frozen=True, slots=True)
class Case:
    """A question, where to ask it, its evidence messages as they stand in a context, and when it is asked.

    The data does not say when: at the end of the conversation.
    """

    asked: Asked
    namespace: str
    question: Question
    evidence: tuple[str, ...]
    asked_at: datetime

    @property
    def is_searched(self) -> bool:
        """Whether it has an answer, and evidence that exists."""
        return self.asked.category in SEARCHED and bool(self.evidence)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was asked, and what came of it. `stored` are counts by namespace."""

    version: Version
    stored: dict[str, dict[str, int]]
    cases: Sequence[Case]
    searched: Sequence[Searched]
    answered: Sequence[Answered]

    @property
    def outcomes(self) -> list[Searched | Answered]:
        """All of them."""
        return [*self.searched, *self.answered]

    @property
    def failed(self) -> list[Searched | Answered]:
        """Those that are in no figure."""
        return [outcome for outcome in self.outcomes if outcome.error is not None]


async def run(
    plan: Plan, conversations: Sequence[Conversation], sha256: str, url: str | None, folder: Path | None
) -> None:
    """Ingest, ask, print the tables, write the files; `url` None starts a server for it.

    Raises ToolError: what `Client` raises while ingesting, or, after all is printed, if a question failed.
    """
    async with service(url) as base, connect(base) as client:
        measured = await measure(client, plan, conversations)
    _print(measured)
    if folder is not None:
        manifest = _manifest(plan, measured, sha256)
        await asyncio.to_thread(report.write, folder, measured.outcomes, manifest)
        out.print(f"Written to {folder}: results.jsonl, manifest.json", markup=False, soft_wrap=True)
    if measured.failed:
        raise ToolError(f"{len(measured.failed)} requests failed; they are in no figure")


# Asking ------------------------------------------------------------------------------------------------


async def measure(client: Client, plan: Plan, conversations: Sequence[Conversation]) -> Measured:
    """Put the conversations in and ask everything. Raises ToolError where nothing can be measured."""
    version = await client.version()
    stored = {}
    for conversation in conversations:
        stored[plan.namespace(conversation)] = await _ingest(client, plan.namespace(conversation), conversation)
    cases = [case for conversation in conversations for case in plan.cases(conversation)]
    searches = [case for case in cases if case.is_searched]
    for strategy in plan.strategies if searches else ():
        # Warms up, and a strategy that does not exist ends it here rather than in a thousand failures.
        await client.search(searches[0].namespace, searches[0].question.text, **_options(strategy))
    searched = await _side_by_side(
        "Searching",
        [(case, strategy, budget) for strategy in plan.strategies for budget in plan.budgets for case in searches],
        lambda job: _search(client, *job),
    )
    answered = await _side_by_side(
        "Answering",
        [(case, strategy, plan.budgets[-1]) for strategy in plan.strategies for case in cases if plan.answers],
        lambda job: _answer(client, *job),
    )
    return Measured(version, stored, cases, searched, answered)


async def _ingest(client: Client, namespace: str, conversation: Conversation) -> dict[str, int]:
    """Post a conversation unless it is there, wait until it is remembered, and check that nothing else is."""
    with progress("messages") as bar:
        task = bar.add_task(f"Posting {conversation.name}", total=len(conversation.messages))
        await client.append(namespace, conversation.name, conversation.messages, lambda count: bar.advance(task, count))
    status = await watch(client, namespace)
    await report_failures(client, namespace)
    if status.messages != len(conversation.messages):
        raise ToolError(
            f"{namespace} holds {status.messages} messages, and the conversation has {len(conversation.messages)}: "
            "delete the namespace, or choose others with --namespace"
        )
    return status.model_dump()


async def _side_by_side(
    title: str, jobs: Sequence[JobT], work: Callable[[JobT], Awaitable[OutcomeT]]
) -> list[OutcomeT]:
    """The outcomes of all jobs in their order, CONCURRENCY at a time."""
    slots = asyncio.Semaphore(CONCURRENCY)

    async def one(job: JobT) -> OutcomeT:
        async with slots:
            outcome = await work(job)
        bar.advance(task)
        return outcome

    if not jobs:
        return []
    with progress("questions") as bar:
        task = bar.add_task(title, total=len(jobs))
        return await asyncio.gather(*map(one, jobs))


def _options(strategy: str) -> dict[str, object]:
    """`bm25:message+statement` as options of a search: the strategy, and the levels it may hand out."""
    name, _, levels = strategy.partition(":")
    return {"strategy": name, "levels": levels.split("+")} if levels else {"strategy": name}


async def _search(client: Client, case: Case, strategy: str, budget: int) -> Searched:
    begun = time.perf_counter()
    try:
        found = await client.search(case.namespace, case.question.text, **_options(strategy), max_tokens=budget)
    except ToolError as error:
        return Searched(case.asked, strategy, budget, error=str(error))
    milliseconds = _since(begun)
    ids = {message.external_id for item in found.items for message in item.messages if message.external_id}
    return Searched(
        asked=case.asked,
        strategy=strategy,
        budget=budget,
        recall=metrics.recall(case.question.evidence, ids),
        strict=metrics.strict_recall(case.evidence, found.context),
        density=metrics.density(case.evidence, found.context),
        tokens=found.tokens,
        milliseconds=milliseconds,
        measure=found.gate.measure,
    )


async def _answer(client: Client, case: Case, strategy: str, budget: int) -> Answered:
    begun = time.perf_counter()
    try:
        said = await client.answer(
            case.namespace,
            case.question.text,
            **_options(strategy),
            max_tokens=budget,
            question_date=case.asked_at.isoformat(),
        )
    except ToolError as error:
        return Answered(case.asked, strategy, budget, error=str(error))
    milliseconds = _since(begun)
    expected = case.question.answer if case.asked.category in SEARCHED else None
    return Answered(
        asked=case.asked,
        strategy=strategy,
        budget=budget,
        abstained=said.abstained,
        confidence=said.confidence,
        f1=None if expected is None else metrics.word_f1(expected, said.answer or ""),
        bleu=None if expected is None else metrics.bleu_1(expected, said.answer or ""),
        milliseconds=milliseconds,
    )


def _since(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 2)


# Reporting ---------------------------------------------------------------------------------------------


def _print(measured: Measured) -> None:
    figures = search_figures(measured.searched, list(SEARCHED))
    out.print(report.search_table(figures, SEARCHED))
    over = sum(row.over_budget for row in figures)
    out.print(f"{over} of {len(measured.searched)} contexts were over their budget.", style="red" if over else "")
    if measured.answered:
        answered = answer_figures(measured.answered)
        out.print(report.answer_table(answered))
        out.print(report.category_table(answered, SEARCHED))
    counts = _questions(measured.cases)
    out.print(
        f"{counts['asked']} questions; {counts['without evidence']} more name no evidence that exists. "
        f"Evidence ids that do not exist: {', '.join(_dropped(measured.cases)) or 'none'}.",
        markup=False,
    )
    report.print_failures(measured.failed, out)


def _manifest(plan: Plan, measured: Measured, sha256: str) -> dict[str, object]:
    return {
        "service": measured.version.model_dump(),
        "dataset": {"format": "locomo", "sha256": sha256},
        "plan": {**asdict(plan), "concurrency": CONCURRENCY},
        "stored": measured.stored,
        "questions": _questions(measured.cases),
        "dropped_evidence": _dropped(measured.cases),
        "failed": len(measured.failed),
        "search": [asdict(row) for row in search_figures(measured.searched, list(SEARCHED))],
        "answers": [asdict(row) for row in answer_figures(measured.answered)],
    }


def _questions(cases: Sequence[Case]) -> dict[str, int]:
    answerable = [case for case in cases if case.asked.category in SEARCHED]
    return {
        "asked": sum(case.is_searched for case in cases),
        "without evidence": sum(not case.is_searched for case in answerable),
        "unanswerable": len(cases) - len(answerable),
    }


def _dropped(cases: Sequence[Case]) -> list[str]:
    """`conv-30 question 4: D` for each evidence id that the data names but does not have."""
    return [
        f"{case.asked.conversation} question {case.asked.question}: {id}"
        for case in cases
        if case.asked.category in SEARCHED
        for id in case.question.dropped
    ]
