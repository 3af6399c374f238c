"""Which measurements belong together: one way of reading in one run. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.evaluation.errors import ToolError
from app.evaluation.intervals import Interval, mean_interval
from app.evaluation.reporting.parts import UNBOUND
from app.evaluation.run_folder import Answered, Asked, Judged, Measured, RunFolder, Searched

USUAL_BUDGET = 1000  # tokens at which categories are shown, if it was measured: where others' figures stand too


AskedT = TypeVar("AskedT", bound=Asked)
Value = Callable[[AskedT], float | None]
"""What is measured at a request, None where it does not apply."""


@dataclass(frozen=True, slots=True)
class Series:
    """A strategy of a run. Requests that failed are in no figure, and in none of the three."""

    label: str
    run: RunFolder
    strategy: str
    searched: tuple[Searched, ...]
    answered: tuple[Answered, ...]
    judged: tuple[Judged, ...]

    @property
    def budgets(self) -> list[int]:
        """At which it was searched, ascending; UNBOUND comes last."""
        return sorted({row.budget for row in self.searched}, key=by_size)

    def at(self, budget: int) -> list[Searched]:
        """The searches at a budget."""
        return [row for row in self.searched if row.budget == budget]


def series_of(runs: Sequence[RunFolder]) -> list[Series]:
    """All series, in the order of the runs and of their strategies. Raises ToolError if nothing was measured."""
    names = _names(runs)
    found = [
        _series(f"{name}: {strategy}" if len(runs) > 1 else strategy, run, strategy)
        for name, run in zip(names, runs, strict=True)
        for strategy in _strategies(run)
    ]
    if not any(series.searched or series.answered for series in found):
        raise ToolError(f"nothing was measured in {', '.join(str(run.path) for run in runs)}")
    return found


def by_size(budget: int) -> tuple[bool, int]:
    """A key to sort budgets by; UNBOUND is the largest."""
    return budget == UNBOUND, budget


def common_budget(all_series: Sequence[Series]) -> int:
    """Where series are compared: USUAL_BUDGET, or the largest at which all were searched, or the largest of any."""
    measured = [set(series.budgets) - {UNBOUND} for series in all_series if series.searched]
    bounded = [budgets for budgets in measured if budgets]
    common = set.intersection(*bounded) if bounded else set()
    if USUAL_BUDGET in common:
        return USUAL_BUDGET
    return max(common or set().union(*bounded), default=UNBOUND)


def scores(rows: Iterable[Measured], name: str) -> list[float]:
    """The values of a metric where it applies."""
    return [value for row in rows if (value := row.scores.get(name)) is not None]


def score(rows: Iterable[Measured], name: str) -> Interval | None:
    """The mean of a metric over the rows to which it applies."""
    return mean_interval(scores(rows, name))


def pairs(first: Iterable[AskedT], second: Iterable[AskedT], value: Value[AskedT]) -> tuple[list[float], list[float]]:
    """A value at the questions for which both have it, in one order."""
    before = {row.key: one for row in first if (one := value(row)) is not None}
    after = {row.key: one for row in second if (one := value(row)) is not None}
    both = sorted(before.keys() & after.keys())
    return [before[key] for key in both], [after[key] for key in both]


def _names(runs: Sequence[RunFolder]) -> list[str]:
    """The runs' folders, or their whole paths where two folders are called the same."""
    names = [run.name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.path) for run in runs]


def _strategies(run: RunFolder) -> list[str]:
    configured = [str(name) for name in run.manifest.configuration.get("strategies", ())]
    measured = dict.fromkeys(row.strategy for row in (*run.searched, *run.answered))
    return [*(name for name in configured if name in measured), *(name for name in measured if name not in configured)]


def _series(label: str, run: RunFolder, strategy: str) -> Series:
    return Series(
        label=label,
        run=run,
        strategy=strategy,
        searched=tuple(row for row in run.searched if row.strategy == strategy and row.error is None),
        answered=tuple(row for row in run.answered if row.strategy == strategy and row.error is None),
        judged=tuple(row for row in run.judged if row.strategy == strategy and row.error is None),
    )
