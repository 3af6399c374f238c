"""The questions that went worst, asked once more so that one can see why."""

from collections.abc import Sequence
from contextlib import suppress

from app.evaluation.asking import handed_out
from app.evaluation.client import Client
from app.evaluation.errors import Refused
from app.evaluation.plan import Case, Plan, Row, options
from app.evaluation.run_folder import Item, Searched, Traced

WORST = 10  # questions of each strategy: as many as a person looks through


async def trace_worst(client: Client, plan: Plan, cases: Sequence[Case], rows: Sequence[Row]) -> list[Traced]:
    """Each strategy's searches that found least at the middle budget, worst first, with what led to them.

    A search that the service refuses now is left out: traces explain figures, they are none.
    """
    by_key = {(case.conversation, case.question.number): case for case in cases}
    budget = plan.budgets[len(plan.budgets) // 2]
    traced = []
    for strategy in plan.strategies:
        for row in _worst(rows, strategy, budget):
            with suppress(Refused):
                traced.append(await _trace(client, by_key[row.key], strategy, budget))
    return traced


def _worst(rows: Sequence[Row], strategy: str, budget: int) -> list[Searched]:
    """Those that missed most; a baseline without a bound is not among them, for it has another budget."""
    searched = [row for row in rows if isinstance(row, Searched) and (row.strategy, row.budget) == (strategy, budget)]
    missed = [row for row in searched if row.error is None and (row.scores.get("recall") or 0) < 1]
    return sorted(missed, key=lambda row: row.scores.get("recall") or 0)[:WORST]


async def _trace(client: Client, case: Case, strategy: str, budget: int) -> Traced:
    question = case.question
    chosen = {**options(strategy), "max_tokens": budget, "explain": True}
    found = await client.search(case.namespace, question.text, **chosen)
    there = set(handed_out(found))
    return Traced(
        conversation=case.conversation,
        question=question.number,
        category=question.category,
        strategy=strategy,
        budget=budget,
        text=question.text,
        expected=question.answer,
        recall=len(there & case.evidence.keys()) / len(case.evidence),
        evidence=list(case.evidence),
        missing=[id for id in case.evidence if id not in there],
        items=[
            Item(
                level=item.level,
                score=item.score,
                tokens=item.tokens,
                text=item.text,
                messages=[message.external_id for message in item.messages if message.external_id],
            )
            for item in found.items
        ],
        trace=found.trace or {},
    )
