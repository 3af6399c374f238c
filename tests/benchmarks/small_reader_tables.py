"""The tables of `tests.benchmarks.small_reader`."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from app.evaluation.datasets import Question
from app.evaluation.intervals import Interval, auroc_interval, mean_interval, paired
from app.evaluation.reporting.parts import NOTHING, p_value, share
from app.evaluation.wording import bleu_1, word_f1

out = Console(width=170)
FLAT, CUT, OFF, ON = "flat", "cut", "gate off", "gate on"
ARMS = (FLAT, CUT, OFF, ON)
PAIRS = ((FLAT, ON), (CUT, ON), (OFF, ON))
LARGE = 10.0  # figures from here on are counts, shown without decimals


@dataclass(frozen=True, slots=True)
class Row:
    """One question in one way.

    `tokens` of the context; `recall` in 0–1, None without evidence. `probes` by the gate, `failed` ones of them;
    `gate_before` and `gate_after` are its uncertainty at its first and after its last test. `unsure_before` and
    `unsure_after` are that of the same probe with nothing and with the whole context in. All in nats a token.
    `said` is the answer, None with a `reason`; `broken`: the reply was of no use, a client would see an error.
    `raw` is what the model wrote as its answer before it was held to the evidence, `short` its answer to the probe,
    `ruled` what is answered without a language model. `read` and `written` are tokens of gate and answer, 0 if
    it is broken.
    """

    arm: str
    question: int
    category: str
    tokens: int
    recall: float | None
    probes: int
    failed: int
    gate_before: float | None
    gate_after: float | None
    unsure_before: float
    unsure_after: float
    said: str | None
    reason: str | None
    broken: bool
    raw: str
    short: str
    ruled: str | None
    read: int
    written: int

    @property
    def key(self) -> tuple[str, int]:
        """What was measured."""
        return self.arm, self.question


Rows = Mapping[tuple[str, int], Row]
Figure = Callable[[Row, Question], float | None]
"""Of one question; None where it has no such figure."""


def _close(measure: Callable[[str, str], float], text: Callable[[Row], str | None]) -> Figure:
    """Of the questions with a gold answer; no answer counts 0."""

    def figure(row: Row, question: Question) -> float | None:
        return None if question.answer is None else measure(question.answer, text(row) or "")

    return figure


def _withheld(answerable: bool) -> Figure:
    def figure(row: Row, question: Question) -> float | None:
        return float(row.said is None and not row.broken) if question.answerable is answerable else None

    return figure


FIGURES: Mapping[str, Figure] = {
    "F1, as answered": _close(word_f1, lambda row: row.said),
    "BLEU-1, as answered": _close(bleu_1, lambda row: row.said),
    "F1, as the model wrote it": _close(word_f1, lambda row: row.raw),
    "BLEU-1, as the model wrote it": _close(bleu_1, lambda row: row.raw),
    "F1, asked for a short answer": _close(word_f1, lambda row: row.short),
    "F1, rules on the same context": _close(word_f1, lambda row: row.ruled),
    "abstained, answerable": _withheld(answerable=True),
    "abstained, unanswerable": _withheld(answerable=False),
    "unusable replies": lambda row, _: float(row.broken),
    "evidence recall": lambda row, _: row.recall,
    "tokens of context": lambda row, _: float(row.tokens),
    "tokens the model read": lambda row, _: None if row.broken else float(row.read),
    "tokens the model wrote": lambda row, _: None if row.broken else float(row.written),
    "probes": lambda row, _: float(row.probes),
    "uncertainty, nothing in": lambda row, _: row.unsure_before,
    "uncertainty, all in": lambda row, _: row.unsure_after,
    "uncertainty at the gate's first test": lambda row, _: row.gate_before,
    "uncertainty after its last": lambda row, _: row.gate_after,
}

WORSE: Mapping[str, Figure] = {
    "AUROC of uncertainty, evidence missing": lambda row, _: None if row.recall is None else float(row.recall < 1.0),
    "AUROC of uncertainty, unanswerable": lambda _, question: float(not question.answerable),
}


def print_all(rows: Rows, questions: Sequence[Question]) -> None:
    """Each figure of the questions that all arms have, then what the arms differ by."""
    done = [question for question in questions if all((arm, question.number) in rows for arm in ARMS)]
    of_category = {name: sum(one.category == name for one in done) for name in sorted({one.category for one in done})}
    out.print(
        f"{len(done)} of {len(questions)} questions:", ", ".join(f"{n} {name}" for name, n in of_category.items())
    )
    means = Table(title="Means, with 95 % intervals; no answer counts 0")
    for head in ("", "n", *ARMS):
        means.add_column(head, justify="right" if head else "left")
    apart = Table(title="Second minus first over the same questions, with 95 % intervals and p of a paired test")
    for head in ("", *(f"{first} → {second}" for first, second in PAIRS)):
        apart.add_column(head, justify="right" if head else "left")
    for name, figure in FIGURES.items():
        values = {arm: _values(rows, done, arm, figure) for arm in ARMS}
        counts = sorted({len(some) for some in values.values() if some})
        means.add_row(name, "/".join(map(str, counts)), *(_mean(list(values[arm].values())) for arm in ARMS))
        apart.add_row(name, *(_difference(values[first], values[second]) for first, second in PAIRS))
    for name, is_worse in WORSE.items():
        means.add_row(name, "", *(_told_apart(rows, done, arm, is_worse) for arm in ARMS))
    out.print(means)
    out.print(apart)
    _print_reasons(rows, done)


def _told_apart(rows: Rows, questions: Sequence[Question], arm: str, is_worse: Figure) -> str:
    """How well the uncertainty with all in tells the questions that are worse off (1) from those that are not (0)."""
    worse = _values(rows, questions, arm, is_worse)
    unsure = {number: rows[arm, number].unsure_after for number in worse}
    groups = [[unsure[number] for number in worse if worse[number] == group] for group in (0.0, 1.0)]
    interval = auroc_interval(groups[0], groups[1])
    return NOTHING if interval is None else _shown(interval)


def _values(rows: Rows, questions: Sequence[Question], arm: str, figure: Figure) -> dict[int, float]:
    asked = [question for question in questions if (arm, question.number) in rows]
    found = {question.number: figure(rows[arm, question.number], question) for question in asked}
    return {number: value for number, value in found.items() if value is not None}


def _mean(values: Sequence[float]) -> str:
    interval = mean_interval(values)
    return NOTHING if interval is None else _shown(interval)


def _difference(first: Mapping[int, float], second: Mapping[int, float]) -> str:
    both = sorted(first.keys() & second.keys())
    if not both:
        return NOTHING
    result = paired([first[number] for number in both], [second[number] for number in both])
    return f"{_shown(result.difference)} {p_value(result.p)}"


def _shown(interval: Interval) -> str:
    ends = (interval.value, interval.low, interval.high)
    counts = max(map(abs, ends)) >= LARGE
    value, low, high = (f"{end:,.0f}" if counts else share(end) for end in ends)
    return f"{value} ({low}, {high})"


def _print_reasons(rows: Rows, questions: Sequence[Question]) -> None:
    """Why there was no answer, in how many of the questions."""
    table = Table(title="Without an answer, by reason; answerable and unanswerable")
    without = [
        (arm, reason, one.answerable)
        for arm in ARMS
        for one in questions
        if (arm, one.number) in rows and (reason := rows[arm, one.number].reason)
    ]
    counts = Counter(without)
    reasons = sorted({reason for _, reason, _ in without})
    for head in ("", *reasons):
        table.add_column(head, justify="right" if head else "left")
    for arm in ARMS:
        table.add_row(arm, *(f"{counts[arm, reason, True]}, {counts[arm, reason, False]}" for reason in reasons))
    out.print(table)
