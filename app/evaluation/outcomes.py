"""What was measured, question by question, and the figures drawn from it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.evaluation.locomo import CATEGORIES, UNANSWERABLE
from app.evaluation.metrics import auroc, mean, percentile


@dataclass(frozen=True, slots=True)
class Asked:
    """Which question, of which conversation."""

    conversation: str
    question: int
    category: int


@dataclass(frozen=True, slots=True)
class Searched:
    """One search. Shares in 0–1; `error` says why there are none."""

    asked: Asked
    strategy: str
    budget: int
    recall: float = 0.0
    strict: float = 0.0
    density: float = 0.0
    tokens: int = 0
    milliseconds: float = 0.0
    measure: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer; `f1` and `bleu` in 0–1, 0 for an abstention, None where the data has no answer."""

    asked: Asked
    strategy: str
    budget: int
    abstained: bool = False
    confidence: float = 0.0
    f1: float | None = None
    bleu: float | None = None
    milliseconds: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """One strategy at one budget. Means over questions that did not fail; None over none at all."""

    strategy: str
    budget: int
    questions: int
    recall: float | None
    strict: float | None
    density: float | None
    by_category: dict[int, float | None]
    mean_tokens: float | None
    max_tokens: int
    over_budget: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Answers of one strategy. `refused` is the share of unanswerable questions that were not answered.

    `auroc`: how well `confidence` tells answerable questions from unanswerable ones; 0.5 is chance.
    """

    strategy: str
    budget: int
    questions: int
    f1: float | None
    bleu: float | None
    f1_by_category: dict[int, float | None]
    abstained: float | None
    unanswerable: int
    refused: float | None
    auroc: float | None
    p50: float | None
    p95: float | None


def search_figures(outcomes: Sequence[Searched], categories: Sequence[int]) -> list[SearchFigures]:
    """One entry for each strategy and budget, in the order in which they first appear."""
    keys = dict.fromkeys((outcome.strategy, outcome.budget) for outcome in outcomes)
    return [_search_figures(*key, outcomes, categories) for key in keys]


def _search_figures(
    strategy: str, budget: int, outcomes: Sequence[Searched], categories: Sequence[int]
) -> SearchFigures:
    good = [o for o in outcomes if (o.strategy, o.budget) == (strategy, budget) and o.error is None]
    times = [outcome.milliseconds for outcome in good]
    return SearchFigures(
        strategy=strategy,
        budget=budget,
        questions=len(good),
        recall=mean([outcome.recall for outcome in good]),
        strict=mean([outcome.strict for outcome in good]),
        density=mean([outcome.density for outcome in good]),
        by_category={
            category: mean([outcome.recall for outcome in good if outcome.asked.category == category])
            for category in categories
        },
        mean_tokens=mean([outcome.tokens for outcome in good]),
        max_tokens=max((outcome.tokens for outcome in good), default=0),
        over_budget=sum(outcome.tokens > budget for outcome in good),
        p50=percentile(times, 0.50),
        p95=percentile(times, 0.95),
    )


def answer_figures(outcomes: Sequence[Answered]) -> list[AnswerFigures]:
    """One entry for each strategy, in the order in which they first appear."""
    keys = dict.fromkeys((outcome.strategy, outcome.budget) for outcome in outcomes)
    return [_answer_figures(*key, outcomes) for key in keys]


def _answer_figures(strategy: str, budget: int, outcomes: Sequence[Answered]) -> AnswerFigures:
    good = [o for o in outcomes if (o.strategy, o.budget) == (strategy, budget) and o.error is None]
    answerable = [outcome for outcome in good if outcome.asked.category != UNANSWERABLE]
    traps = [outcome for outcome in good if outcome.asked.category == UNANSWERABLE]
    times = [outcome.milliseconds for outcome in good]
    return AnswerFigures(
        strategy=strategy,
        budget=budget,
        questions=len(answerable),
        f1=mean([outcome.f1 for outcome in answerable if outcome.f1 is not None]),
        bleu=mean([outcome.bleu for outcome in answerable if outcome.bleu is not None]),
        f1_by_category={
            category: mean([o.f1 for o in answerable if o.f1 is not None and o.asked.category == category])
            for category in CATEGORIES
            if category != UNANSWERABLE
        },
        abstained=mean([float(outcome.abstained) for outcome in answerable]),
        unanswerable=len(traps),
        refused=mean([float(outcome.abstained) for outcome in traps]),
        auroc=auroc([outcome.confidence for outcome in traps], [outcome.confidence for outcome in answerable]),
        p50=percentile(times, 0.50),
        p95=percentile(times, 0.95),
    )
