"""Makes a run's requests, and scores what comes back."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TypeVar

from app.evaluation import metrics, wire, wording
from app.evaluation.client import Client
from app.evaluation.errors import Refused, ToolError, Unreachable
from app.evaluation.plan import FULL, Case, Request, Row, options
from app.evaluation.run_folder import Answered, Searched, Used

PLACES = 6  # of a score in results.jsonl
TRIES = 6  # of a request that a busy service puts off
LONGEST_REST = 30.0  # seconds between two of them, whatever the service wants

JobT = TypeVar("JobT")


async def side_by_side(jobs: Iterable[JobT], work: Callable[[JobT], Awaitable[None]], at_once: int) -> None:
    """Do all jobs, so many at a time. The first ToolError ends it; work that is under way then is left undone."""
    waiting = iter(jobs)

    async def take() -> None:
        for job in waiting:
            await work(job)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(take())
    except* ToolError as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def ask(client: Client, request: Request) -> Row:
    """Make a request, and score the reply. An error of the service becomes a row that says so.

    Raises Unreachable: without a service there is nothing to measure.
    """
    if request.strategy == FULL:
        return _full(request)
    try:
        found, milliseconds = await _timed(client, request)
    except Unreachable:
        raise
    except ToolError as error:
        kind = Answered if request.kind == "answer" else Searched
        return kind(**request.asked, error=str(error))
    if isinstance(found, wire.Answer):
        return answered(request, found, milliseconds)
    return searched(request, found, milliseconds)


async def _timed(client: Client, request: Request) -> tuple[wire.Found, float]:
    """The reply, and how many milliseconds it took; what was put off before is not in them."""
    tries = 0
    while True:
        tries, begun = tries + 1, time.perf_counter()
        try:
            found = await _send(client, request)
        except Refused as refused:
            if refused.retry_after is None or tries == TRIES:
                raise
            await asyncio.sleep(min(refused.retry_after, LONGEST_REST))
        else:
            return found, round((time.perf_counter() - begun) * 1000, 2)


async def _send(client: Client, request: Request) -> wire.Found:
    case = request.case
    chosen = {**options(request.strategy), "max_tokens": request.budget}
    if request.kind == "search":
        return await client.search(case.namespace, case.question.text, **chosen)
    asked_at = case.asked_at.isoformat()
    return await client.answer(case.namespace, case.question.text, question_date=asked_at, **chosen)


def searched(request: Request, found: wire.Found, milliseconds: float) -> Searched:
    """A search's row."""
    case, blocks = request.case, _blocks(found)
    ids = handed_out(found)
    covered = metrics.cover(case.question.answer or "", blocks)
    scores = {
        **_evidence_scores(case, ids, found.context),
        "precision": metrics.precision(case.evidence, ids),
        "density": metrics.density(list(case.evidence.values()), found.context),
        "covered": None if covered is None else covered.words,
        "two_hits": None if covered is None else covered.two,
        "many_hits": None if covered is None else covered.many,
    }
    return Searched(
        **request.asked,
        milliseconds=milliseconds,
        scores=_rounded(scores),
        tokens=found.tokens,
        items=len(blocks),
        tokens_to_evidence=metrics.tokens_to_evidence(case.evidence, blocks),
        blocks_to_cover=None if covered is None else covered.blocks,
        tokens_to_cover=None if covered is None else covered.tokens,
        measure=found.gate.measure,
        probes=found.gate.probes,
    )


def answered(request: Request, said: wire.Answer, milliseconds: float) -> Answered:
    """An answer's row. An abstention scores 0 wherever the data has an answer."""
    case = request.case
    scores = _wording_scores(case, said.answer or "")
    if case.is_searched:
        scores |= _evidence_scores(case, handed_out(said), said.context)
        cited = {citation.external_id for citation in said.citations}
        scores["cited_evidence"] = metrics.recall(case.evidence, [id for id in cited if id is not None])
    return Answered(
        **request.asked,
        milliseconds=milliseconds,
        scores=_rounded(scores),
        tokens=said.tokens,
        answer=said.answer,
        abstained=said.abstained,
        reason=said.reason,
        confidence=said.confidence,
        cited=len(said.citations),
        usage={stage: Used.model_validate(used.model_dump()) for stage, used in said.usage.stages.items()},
    )


def handed_out(found: wire.Found) -> list[str]:
    """External ids of the messages whose words were handed out, best first, each once."""
    ids = (message.external_id for item in found.items for message in item.messages)
    return [id for id in dict.fromkeys(ids) if id is not None]


def _full(request: Request) -> Searched:
    """The whole conversation as the context: all evidence is in it, wherever it stands."""
    case = request.case
    shares: dict[str, float | None] = {"recall": 1, "strict": 1, "precision": len(case.evidence) / case.messages}
    return Searched(**request.asked, scores=_rounded(shares), tokens=case.tokens, items=case.messages, measure="off")


def _evidence_scores(case: Case, ids: Collection[str], context: str) -> dict[str, float | None]:
    texts = list(case.evidence.values())
    return {"recall": metrics.recall(case.evidence, ids), "strict": metrics.strict_recall(texts, context)}


def _wording_scores(case: Case, given: str) -> dict[str, float | None]:
    expected = case.question.answer
    if expected is None:
        return {}
    matched = wording.date_match(expected, given, case.asked_at)
    return {
        "f1": wording.word_f1(expected, given),
        "squad_f1": wording.squad_f1(expected, given),
        "bleu": wording.bleu_1(expected, given),
        "rouge_l": wording.rouge_l(expected, given),
        "date_match": None if matched is None else float(matched),
    }


def _blocks(found: wire.Found) -> Sequence[metrics.Block]:
    return [
        metrics.Block(item.text, item.tokens, frozenset(one.external_id for one in item.messages if one.external_id))
        for item in found.items
    ]


def _rounded(scores: dict[str, float | None]) -> dict[str, float | None]:
    return {name: None if value is None else round(value, PLACES) for name, value in scores.items()}
