"""One metric by category, and of every series against the first: the same for searches and for answers. Pure."""

from collections.abc import Mapping, Sequence

from app.evaluation.intervals import holm, paired
from app.evaluation.reporting.charts import Axes, Bars, bar_chart
from app.evaluation.reporting.parts import Cell, Section, Table, change, interval, p_value, whole
from app.evaluation.reporting.series import pairs, score
from app.evaluation.run_folder import Measured

Rows = Mapping[str, Sequence[Measured]]
"""What was measured, by the label of its series; none is empty."""


def by_category(anchor: str, title: str, rows: Rows, metric: tuple[str, str]) -> Section:
    """Bars and a table. `metric` is its name in `scores`, and how it is called."""
    name, called = metric
    categories = sorted({row.category for some in rows.values() for row in some})
    figures = {
        label: [score([row for row in some if row.category == category], name) for category in categories]
        for label, some in rows.items()
    }
    counts = [max((one.count for one in column if one), default=0) for column in zip(*figures.values(), strict=True)]
    groups = [f"{category} ({count})" for category, count in zip(categories, counts, strict=True)]
    axes = Axes(f"{title}, with 95 % intervals; questions in brackets", "", called)
    chart = bar_chart(axes, groups, [Bars(label, values) for label, values in figures.items()])
    cells = [[Cell(label), *map(interval, values)] for label, values in figures.items()]
    caption = f"{called}: means with 95 % intervals over the questions of the category; their number in brackets."
    return Section(anchor, title, charts=[chart], tables=[Table(caption, ("", *groups), cells)])


def against_first(rows: Rows, metric: tuple[str, str]) -> Table:
    """Every series against the first, over the questions that both have."""
    (label, first), *others = rows.items()
    name, called = metric
    compared = [
        (other, paired(*both))
        for other, some in others
        if all(both := pairs(first, some, lambda row: row.scores.get(name)))
    ]
    corrected = holm([result.p for _, result in compared])
    caption = (
        f"{called} minus that of {label}, over the n questions that both have, with a 95 % interval; better, worse: "
        "questions; p of a paired sign-flip test; Holm: that p corrected for the number of rows."
    )
    cells = [
        [
            Cell(other),
            whole(result.difference.count),
            change(result.difference),
            *map(whole, (result.won, result.lost)),
            *(Cell(p_value(p)) for p in (result.p, right)),
        ]
        for (other, result), right in zip(compared, corrected, strict=True)
    ]
    return Table(caption, ("", "n", "difference", "better", "worse", "p", "Holm"), cells)
