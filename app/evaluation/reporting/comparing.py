"""Two runs, question by question: what changed, how surely, and whether they may be compared at all. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.evaluation.errors import ToolError
from app.evaluation.intervals import Paired, holm, paired, paired_auroc
from app.evaluation.metrics import auroc
from app.evaluation.reporting.parts import NOTHING, Cell, Table, change, number, p_value, share, words
from app.evaluation.reporting.runs import identity
from app.evaluation.reporting.series import Series, pairs, series_of
from app.evaluation.run_folder import Answered, Asked, Key, Measured, RunFolder

ALL = "all"
SHOWN = 5  # questions that are named where runs differ


@dataclass(frozen=True, slots=True)
class Measure:
    """What is compared: which requests, and what of each; `shown` writes a mean of it."""

    title: str
    rows: Callable[[Series], Sequence[Asked]]
    value: Callable[[Any], float | None]
    shown: Callable[[float], str] = share


def _score(name: str) -> Callable[[Measured], float | None]:
    return lambda row: row.scores.get(name)


SEARCHED = {"recall": "recall", "strict": "strict", "precision": "precision"}  # as called, and in `scores`
ANSWERED = {"F1": "f1", "SQuAD F1": "squad_f1", "BLEU-1": "bleu", "ROUGE-L": "rouge_l"}
ANSWERED |= {"dates": "date_match", "cited": "cited_evidence"}
MEASURES = (
    *(Measure(title, lambda series: series.searched, _score(name)) for title, name in SEARCHED.items()),
    Measure("all evidence", lambda series: series.searched, lambda row: float(row.scores.get("recall") == 1)),
    Measure("tokens to evidence", lambda series: series.searched, lambda row: row.tokens_needed, number),
    *(Measure(title, lambda series: series.answered, _score(name)) for title, name in ANSWERED.items()),
    Measure("no answer", lambda series: series.answered, lambda row: float(row.abstained)),
    Measure("judge", lambda series: series.judged, lambda row: None if row.correct is None else float(row.correct)),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure at one budget, over the questions of a category or ALL of them; means of both over the same ones."""

    budget: int
    metric: str
    category: str
    first: float
    second: float
    result: Paired
    shown: Callable[[float], str] = share


def check(first: RunFolder, second: RunFolder) -> None:
    """Raises ToolError, which says what differs, unless both asked the same questions about the same data.

    What only one of them did at all, searching or answering, is not compared and does not count.
    """
    if identity(first) != identity(second):
        raise ToolError(
            f"{first.name} and {second.name} measured different data and cannot be compared:\n"
            f"  {first.name}: {' '.join(identity(first))}\n  {second.name}: {' '.join(identity(second))}"
        )
    kinds = [(first.searched, second.searched), (first.answered, second.answered)]
    asked = [({row.key for row in left}, {row.key for row in right}) for left, right in kinds if left and right]
    lines = [
        f"  only {run.name}: {len(keys)} ({_named(keys)})"
        for left, right in asked
        for run, keys in ((first, left - right), (second, right - left))
        if keys
    ]
    if lines:
        raise ToolError(
            f"{first.name} and {second.name} asked different questions and cannot be compared:\n" + "\n".join(lines)
        )


def one_strategy(run: RunFolder, strategy: str | None) -> Series:
    """The series of a run that is compared; without a name the only one. Raises ToolError if there is none such."""
    found = {series.strategy: series for series in series_of([run])}
    if strategy is None and len(found) == 1:
        return next(iter(found.values()))
    if strategy not in found:
        missing = "has several strategies" if strategy is None else f"has no strategy {strategy}"
        raise ToolError(f"{run.name} {missing}: choose one of {', '.join(found)}")
    return found[strategy]


def compare(first: Series, second: Series) -> list[Compared]:
    """Everything that both measured at a common budget, over all questions and by category."""
    measured = [one for measure in MEASURES for one in _compare(measure, measure.rows(first), measure.rows(second))]
    return [*measured, *_compare_confidence(first.answered, second.answered)]


def table(compared: Sequence[Compared]) -> Table:
    """A heading for each metric and budget, under it a row for ALL questions and one for each category."""
    caption = (
        "Second minus first over the n questions that both have, with a 95 % bootstrap interval; up, down: questions "
        "at which the second is higher, lower; p of a paired sign-flip test; Holm: that p corrected for all rows over "
        "all questions, or for all rows by category. Tokens to evidence: of the items, best first, until all evidence "
        "is in; the whole budget where some never is. AUROC: of confidence, answerable questions against the others; "
        "its interval and p are DeLong's."
    )
    heads = ("", "n", "first", "second", "difference", "up:down", "p", "Holm")
    families = {whole: [one for one in compared if (one.category == ALL) == whole] for whole in (True, False)}
    corrected = {whole: iter(holm([one.result.p for one in family])) for whole, family in families.items()}
    rows: list[list[Cell]] = []
    for one in compared:
        if one.category == ALL:
            title = f"{one.metric} at {one.budget or NOTHING}"
            rows.append(words(title, *[""] * (len(heads) - 1)))
        rows.append(_row(one, next(corrected[one.category == ALL])))
    return Table(caption, heads, rows)


def _compare(measure: Measure, first: Sequence[Asked], second: Sequence[Asked]) -> Iterator[Compared]:
    for budget in sorted({row.budget for row in first} & {row.budget for row in second}):
        left = [row for row in first if row.budget == budget]
        right = [row for row in second if row.budget == budget]
        for category in (ALL, *sorted({row.category for row in left})):
            both = pairs(_of(left, category), _of(right, category), measure.value)
            if all(both):
                before, after = (sum(values) / len(values) for values in both)
                yield Compared(budget, measure.title, category, before, after, paired(*both), measure.shown)


def _compare_confidence(first: Sequence[Answered], second: Sequence[Answered]) -> Iterator[Compared]:
    """How well confidence tells the answerable questions from the others: a figure of all of them together."""
    for budget in sorted({row.budget for row in first} & {row.budget for row in second}):
        left, right = ([row for row in rows if row.budget == budget] for rows in (first, second))
        lower, higher = (_confidences(left, right, answerable=kind) for kind in (False, True))
        before, after = (lower[0], higher[0]), (lower[1], higher[1])
        result = paired_auroc(before, after)
        if result is not None:
            yield Compared(budget, "AUROC", ALL, auroc(*before) or 0.0, auroc(*after) or 0.0, result)


def _confidences(
    first: Sequence[Answered], second: Sequence[Answered], *, answerable: bool
) -> tuple[list[float], list[float]]:
    left, right = ([row for row in rows if row.answerable == answerable] for rows in (first, second))
    return pairs(left, right, lambda row: row.confidence)


def _of(rows: Iterable[Asked], category: str) -> list[Asked]:
    return [row for row in rows if category in (ALL, row.category)]


def _row(one: Compared, corrected: float) -> list[Cell]:
    result = one.result
    return [
        *words(one.category, result.difference.count, one.shown(one.first), one.shown(one.second)),
        change(result.difference, one.shown),
        *words(f"{result.won}:{result.lost}", p_value(result.p), p_value(corrected)),
    ]


def _named(keys: Iterable[Key]) -> str:
    names = [f"{conversation}/{number}" for conversation, number in sorted(keys)]
    return ", ".join(names[:SHOWN]) + (", …" if len(names) > SHOWN else "")
