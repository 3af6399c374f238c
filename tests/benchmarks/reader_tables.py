"""The tables of `tests.benchmarks.reader`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from app.evaluation.intervals import paired
from app.evaluation.reporting.parts import p_value, signed

out = Console(width=150)
Key = tuple[str, int, int, int]
"""Setup, conversation, question, budget."""
CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop")
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)  # of the uncertainty


@dataclass(frozen=True, slots=True)
class Row:
    """One question at one budget. `recall` and `strict` in 0–1; `until` as the benchmark's head says."""

    setup: str
    conversation: int
    question: int
    category: str
    budget: int
    recall: float
    strict: float
    tokens: int
    until: int
    probes: int
    measure: str
    uncertainty: float | None

    @property
    def key(self) -> Key:
        """What was measured."""
        return self.setup, self.conversation, self.question, self.budget


def print_recall(rows: Sequence[Row], setups: Sequence[str], budgets: Sequence[int]) -> None:
    """A line a setup; of each category at the last budget but one."""
    shown = budgets[-2]
    table = Table(title="Evidence recall, loose and strict")
    table.add_column("setup")
    for budget in budgets:
        table.add_column(str(budget), justify="right")
    for category in CATEGORIES:
        table.add_column(f"{category} at {shown}", justify="right")
    table.add_column(f"whole at {shown}", justify="right")
    table.add_column(f"tokens at {shown}, {budgets[-1]}", justify="right")
    table.add_column("until", justify="right")
    for setup in setups:
        own = [row for row in rows if row.setup == setup]
        if own:
            table.add_row(setup, *_line(own, budgets))
    out.print(table)


def print_differences(rows: Sequence[Row], setups: Sequence[str], budgets: Sequence[int]) -> None:
    """What each setup is worth: the first one's loose recall minus its own, over the same questions."""
    first, *others = [[row for row in rows if row.setup == setup] for setup in setups]
    table = Table(title=f"Recall lost against {setups[0]}, with 95 % intervals and p of a paired test")
    table.add_column("setup")
    for budget in budgets:
        table.add_column(str(budget), justify="right")
    for own in others:
        if own:
            table.add_row(own[0].setup, *(_lost(first, own, budget) for budget in budgets))
    out.print(table)


def _lost(first: Sequence[Row], second: Sequence[Row], budget: int) -> str:
    before, after = ({row.key[1:]: row.recall for row in rows if row.budget == budget} for rows in (first, second))
    both = sorted(before.keys() & after.keys())
    if not both:
        return "–"
    result = paired([before[key] for key in both], [after[key] for key in both])
    loss = result.difference
    return f"{signed(-loss.value)} ({signed(-loss.high)}, {signed(-loss.low)}) {p_value(result.p)}"


def _line(rows: Sequence[Row], budgets: Sequence[int]) -> list[str]:
    at = {budget: [row for row in rows if row.budget == budget] for budget in budgets}
    of = [[row for row in at[budgets[-2]] if row.category == category] for category in CATEGORIES]
    both = [f"{_mean(at[budget], _loose)} {_mean(at[budget], _strict)}" for budget in budgets]
    tokens = [f"{fmean(row.tokens for row in at[budget]):.0f}" for budget in budgets[-2:]]
    until = f"{fmean(row.until for row in at[budgets[-1]]):.0f}"
    whole = _mean(at[budgets[-2]], _whole)
    return [*both, *(_mean(some, _loose) for some in of), whole, ", ".join(tokens), until]


def print_calibration(rows: Sequence[Row]) -> None:
    """How often evidence is missing where the reader was so unsure, and how well that tells one from the other."""
    known = [row for row in rows if row.uncertainty is not None]
    if not known:
        return
    unsure = np.array([row.uncertainty for row in known])
    lacks = np.array([row.recall < 1.0 for row in known])
    table = Table(title=f"Uncertainty by {known[0].measure}: AUROC {_auroc(unsure, lacks):.3f}")
    for column in ("uncertainty", "contexts", "evidence missing", "its share"):
        table.add_column(column, justify="right")
    for low, high in pairwise((*BINS, np.inf)):
        inside = (unsure >= low) & (unsure < high)
        if inside.any():
            some = [row for row, chosen in zip(known, inside, strict=True) if chosen]
            missing = 1.0 - fmean(row.recall for row in some)
            table.add_row(f"{low:.2f} to {high:.2f}", str(len(some)), f"{lacks[inside].mean():.3f}", f"{missing:.3f}")
    out.print(table)


def _auroc(unsure: np.ndarray, lacks: np.ndarray) -> float:
    """The chance that a context that lacks evidence has the higher uncertainty; 0.5 where there is but one kind."""
    some, others = unsure[lacks], unsure[~lacks]
    if not len(some) or not len(others):
        return 0.5
    above = (some[:, None] > others[None]).mean() + 0.5 * (some[:, None] == others[None]).mean()
    return float(above)


def _loose(row: Row) -> float:
    return row.recall


def _whole(row: Row) -> float:
    return float(row.recall >= 1.0)


def _strict(row: Row) -> float:
    return row.strict


def _mean(rows: Sequence[Row], of: Callable[[Row], float]) -> str:
    return f"{fmean(map(of, rows)):.3f}" if rows else "–"
