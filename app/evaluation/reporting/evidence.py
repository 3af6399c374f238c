"""The sections on searches: how much of the evidence is found, of what kind, with how much beside it. Pure."""

from collections.abc import Sequence

from app.evaluation.intervals import mean_interval
from app.evaluation.metrics import mean
from app.evaluation.reporting.charts import Axes, Line, Point, line_chart
from app.evaluation.reporting.parts import (
    NOTHING,
    UNBOUND,
    Cell,
    Section,
    Table,
    bound,
    counted,
    interval,
    optional,
    share,
    whole,
    words,
)
from app.evaluation.reporting.series import Series, by_size, score, scores
from app.evaluation.run_folder import Searched

RECALL, STRICT = "recall", "strict"
FORMS = {
    RECALL: "Recall: share of the evidence messages among the items",
    STRICT: "Strict recall: share of the evidence messages whose own words stand in the context",
}


def found(all_series: Sequence[Series]) -> Section:
    """Recall against budget."""
    caption = (
        "Mean recall, and mean strict recall; all: share of the questions all of whose evidence is found; precision: "
        "share of the messages handed out that are evidence; conversations: lowest and highest recall of a "
        "conversation; tokens: of the context, on average; over: contexts larger than the budget."
    )
    heads = ("budget", "questions", "recall", "strict", "all", "precision", "conversations", "tokens", "over")
    rows = [_found(series, budget) for series in all_series for budget in series.budgets]
    return Section(
        "found",
        "Evidence found",
        charts=[_curves(all_series, name, caption) for name, caption in FORMS.items()],
        tables=[*(_by_budget(all_series, *form) for form in FORMS.items()), Table(caption, ("", *heads), rows)],
    )


def effort(all_series: Sequence[Series]) -> Section:
    """How much else is in the context, and how soon all evidence is, at each series' largest budget."""
    caption = (
        "At the largest budget of each. Density: share of the context's characters that is evidence; covered: share of "
        "the expected answer's content words among the items; two, many: share of the items with two, with three or "
        "more of these words. Blocks and tokens to cover: items best first until all these words are in. These two are "
        "means over the questions for which it comes to that; their share stands behind."
    )
    heads = ("budget", "density", "covered", "two", "many", "blocks to cover", "tokens to cover")
    bounded = [(series, [budget for budget in series.budgets if budget != UNBOUND]) for series in all_series]
    rows = [_effort(series, budgets[-1]) for series, budgets in bounded if budgets]
    dense = Table(caption, ("", *heads), rows)
    return Section("effort", "Density and redundancy", tables=[_until_evidence(all_series), dense])


def _until_evidence(all_series: Sequence[Series]) -> Table:
    caption = (
        "At the largest budget of each, with 95 % intervals. All evidence: share of the questions whose evidence all "
        "comes in. Tokens until then: of the items, best first, the mean over these questions alone; another "
        "strategy's may be over easier ones. Tokens over all: the mean over all questions, with the whole budget where "
        "some evidence never comes in, which is less than it would take; without a budget, the whole conversation. "
        "Strategies at one budget are compared by this one."
    )
    heads = ("budget", "questions", "all evidence", "tokens until then", "tokens over all")
    rows = [_until(series, series.budgets[-1]) for series in all_series if series.budgets]
    return Table(caption, ("", *heads), rows)


def _by_budget(all_series: Sequence[Series], name: str, caption: str) -> Table:
    """A row for each series, a column for each budget."""
    budgets = sorted({budget for series in all_series for budget in series.budgets}, key=by_size)
    rows = [
        [Cell(series.label), *(interval(score(series.at(budget), name)) for budget in budgets)] for series in all_series
    ]
    return Table(f"{caption}; means with 95 % intervals.", ("", *map(bound, budgets)), rows)


def _curves(all_series: Sequence[Series], name: str, caption: str) -> str:
    ticks = sorted({budget for series in all_series for budget in series.budgets} - {UNBOUND})
    lines = [Line(series.label, points) for series in all_series if (points := _points(series, name))]
    axes = Axes(f"{caption}, with 95 % intervals", "budget of the context in tokens", name, ticks, even=True)
    return line_chart(axes, lines)


def _points(series: Series, name: str) -> list[Point]:
    values = [(budget, score(series.at(budget), name)) for budget in series.budgets if budget != UNBOUND]
    return [
        Point(budget, value.value, f"{share(value.value)} at {budget} tokens", value.low, value.high)
        for budget, value in values
        if value is not None
    ]


def _found(series: Series, budget: int) -> list[Cell]:
    rows = series.at(budget)
    recalls = scores(rows, RECALL)
    return [
        Cell(series.label),
        Cell(_budget(budget)),
        whole(len(rows)),
        optional(mean(recalls)),
        optional(mean(scores(rows, STRICT))),
        optional(mean([float(recall == 1) for recall in recalls])),
        optional(mean(scores(rows, "precision"))),
        Cell(_spread(rows)),
        whole(mean([row.tokens for row in rows])),
        whole(sum(row.tokens > budget for row in rows) if budget != UNBOUND else 0),
    ]


def _spread(rows: Sequence[Searched]) -> str:
    """The lowest and the highest recall of a conversation: what an interval over questions cannot say."""
    names = {row.conversation for row in rows}
    each = [mean(scores([row for row in rows if row.conversation == name], RECALL)) for name in names]
    known = [value for value in each if value is not None]
    return f"{share(min(known))}–{share(max(known))}" if len(known) > 1 else NOTHING


def _until(series: Series, budget: int) -> list[Cell]:
    rows = series.at(budget)
    reached = [row.tokens_to_evidence for row in rows if row.tokens_to_evidence is not None]
    return [
        *words(series.label, _budget(budget)),
        whole(len(rows)),
        interval(mean_interval([float(row.scores.get(RECALL) == 1) for row in rows])),
        counted(mean_interval(reached)),
        counted(mean_interval([row.tokens_needed for row in rows])),
    ]


def _budget(budget: int) -> str:
    return "none" if budget == UNBOUND else f"{budget:,}"


def _effort(series: Series, budget: int) -> list[Cell]:
    rows = series.at(budget)
    counts = [[row.blocks_to_cover for row in rows], [row.tokens_to_cover for row in rows]]
    return [
        *words(series.label, f"{budget:,}"),
        *(optional(mean(scores(rows, name))) for name in ("density", "covered", "two_hits", "many_hits")),
        *map(_reached, counts),
    ]


def _reached(counts: Sequence[int | None]) -> Cell:
    """The mean of those that are there, and their share."""
    there = [count for count in counts if count is not None]
    value = mean(there)
    return Cell(NOTHING) if value is None else Cell(f"{value:,.1f}", f"in {len(there) / len(counts):.0%}")
