"""The figures of a run, drawn from its rows. Pure; a failed request is in none of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.evaluation.metrics import auroc, mean, percentile
from app.evaluation.run_folder import Answered, Judged, Measured, Searched


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """One strategy at one budget (0: no bound). Means over questions; None over none at all.

    `complete`: share of the questions all of whose evidence was handed out.
    """

    strategy: str
    budget: int
    questions: int
    recall: float | None
    strict: float | None
    precision: float | None
    density: float | None
    complete: float | None
    by_category: Mapping[str, float | None]
    mean_tokens: float | None
    max_tokens: int
    over_budget: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Answers of one strategy. `refused` is the share of unanswerable questions that were not answered.

    `auroc`: how well `confidence` tells answerable questions from unanswerable ones; 0.5 is chance. `judged`: share of
    the answerable questions whose answer the judge took for right, an abstention being wrong.
    """

    strategy: str
    budget: int
    questions: int
    f1: float | None
    squad_f1: float | None
    bleu: float | None
    rouge_l: float | None
    date_match: float | None
    judged: float | None
    f1_by_category: Mapping[str, float | None]
    abstained: float | None
    unanswerable: int
    refused: float | None
    auroc: float | None
    p50: float | None
    p95: float | None


def score_mean(rows: Iterable[Measured], name: str) -> float | None:
    """The mean of one score over the rows that have it."""
    return mean([value for row in rows if (value := row.scores.get(name)) is not None])


def categories(rows: Iterable[Measured]) -> list[str]:
    """The categories of the answerable questions, by name."""
    return sorted({row.category for row in rows if row.answerable})


def search_figures(rows: Sequence[Searched]) -> list[SearchFigures]:
    """One entry for each strategy and budget, in the order in which they first appear."""
    keys = dict.fromkeys((row.strategy, row.budget) for row in rows)
    return [_search_figures(*key, rows) for key in keys]


def _search_figures(strategy: str, budget: int, rows: Sequence[Searched]) -> SearchFigures:
    good = [row for row in rows if (row.strategy, row.budget) == (strategy, budget) and row.error is None]
    times = [row.milliseconds for row in good if budget]  # without one, no request was made
    return SearchFigures(
        strategy=strategy,
        budget=budget,
        questions=len(good),
        recall=score_mean(good, "recall"),
        strict=score_mean(good, "strict"),
        precision=score_mean(good, "precision"),
        density=score_mean(good, "density"),
        complete=mean([float(row.scores.get("recall") == 1) for row in good]),
        by_category={
            name: score_mean([row for row in good if row.category == name], "recall") for name in categories(rows)
        },
        mean_tokens=mean([row.tokens for row in good]),
        max_tokens=max((row.tokens for row in good), default=0),
        over_budget=sum(row.tokens > budget > 0 for row in good),
        p50=percentile(times, 0.50),
        p95=percentile(times, 0.95),
    )


def answer_figures(rows: Sequence[Answered], judged: Sequence[Judged] = ()) -> list[AnswerFigures]:
    """One entry for each strategy, in the order in which they first appear."""
    keys = dict.fromkeys((row.strategy, row.budget) for row in rows)
    return [_answer_figures(*key, rows, judged) for key in keys]


def _answer_figures(strategy: str, budget: int, rows: Sequence[Answered], judged: Sequence[Judged]) -> AnswerFigures:
    good = [row for row in rows if (row.strategy, row.budget) == (strategy, budget) and row.error is None]
    answerable = [row for row in good if row.answerable]
    traps = [row for row in good if not row.answerable]
    times = [row.milliseconds for row in good]
    verdicts = [row for row in judged if (row.strategy, row.budget) == (strategy, budget) and row.subject == "answer"]
    return AnswerFigures(
        strategy=strategy,
        budget=budget,
        questions=len(answerable),
        f1=score_mean(answerable, "f1"),
        squad_f1=score_mean(answerable, "squad_f1"),
        bleu=score_mean(answerable, "bleu"),
        rouge_l=score_mean(answerable, "rouge_l"),
        date_match=score_mean(answerable, "date_match"),
        judged=accepted(row for row in verdicts if row.answerable),
        f1_by_category={
            name: score_mean([row for row in answerable if row.category == name], "f1") for name in categories(rows)
        },
        abstained=mean([float(row.abstained) for row in answerable]),
        unanswerable=len(traps),
        refused=mean([float(row.abstained) for row in traps]),
        auroc=auroc([row.confidence for row in traps], [row.confidence for row in answerable]),
        p50=percentile(times, 0.50),
        p95=percentile(times, 0.95),
    )


def accepted(verdicts: Iterable[Judged]) -> float | None:
    """Share of what a judge took for right, among what it judged."""
    return mean([float(row.correct) for row in verdicts if row.correct is not None])
