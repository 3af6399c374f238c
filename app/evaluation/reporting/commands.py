"""The commands `xmemory eval report | compare`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table as Shown

from app.evaluation.reporting import comparing, markdown, report, runs
from app.evaluation.reporting.parts import Cell, Table
from app.evaluation.run_folder import load
from app.evaluation.terminal import err, out
from app.evaluation.terminal import run as finish

NAMES = 17  # columns of a terminal for "precision at 2000", so that a comparison fits 80

Run = Annotated[Path, typer.Argument(help="A folder that `xmemory eval run` wrote.", exists=True, file_okay=False)]


def register(evaluation: typer.Typer) -> None:
    """Add the commands to `xmemory eval`."""
    evaluation.command("report")(make_report)
    evaluation.command("compare")(compare_runs)


def make_report(
    run: Annotated[
        list[Path],
        typer.Argument(help="Folders that `xmemory eval run` wrote: one, or several side by side.", exists=True),
    ],
    *,
    to: Annotated[Path, typer.Option("--out", help="The folder for report.html and report.md.", file_okay=False)],
    budget: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Show categories, differences and worst questions at this budget, one that was measured. "
            "Default: 1000, else the largest that all strategies share.",
        ),
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst questions of each strategy are shown.")] = 10,
) -> None:
    """Write a page and Markdown about one or several runs.

    The page is one file without scripts that needs no network: recall against budget, categories, answers, abstention,
    cost, latency, failures, the worst questions with their traces, and how all of it was made. It quotes the data set.
    """

    async def work() -> None:
        made = report.build([load(folder) for folder in dict.fromkeys(run)], budget, worst)
        for file in report.write(made, to):
            out.print(f"Written: {file}", markup=False, soft_wrap=True)

    finish(work())


def compare_runs(
    first: Run,
    second: Run,
    *,
    strategy: Annotated[
        str | None, typer.Option(help="The strategy to compare, if a run has several.", show_default=False)
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="The second run's strategy. Default: the same.", show_default=False)
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
) -> None:
    """Tell what changed from the first run to the second, question by question, and how surely.

    Each metric has the mean difference with its 95 % bootstrap interval and the p of a paired test. Runs over different
    data or questions are refused; other configurations are named and compared all the same. To compare two strategies
    of one run, give it twice: `xmemory eval compare RUN RUN --strategy adaptive --against bm25`.
    """

    async def work() -> None:
        before, after = load(first), load(second)
        comparing.check(before, after)
        left, right = comparing.one_strategy(before, strategy), comparing.one_strategy(after, against or strategy)
        for warning in [*runs.warnings([before, after]), *runs.differences(before, after)]:
            err.print(f"Note: {warning}", style="yellow", markup=False, soft_wrap=True)
        table = comparing.table(comparing.compare(left, right))
        if as_markdown:
            lines = [*markdown.table(table), "", markdown.escaped(table.caption)]
            out.print("\n".join(lines), markup=False, soft_wrap=True)
        else:
            out.print(_shown(f"{before.name}, {left.strategy} to {after.name}, {right.strategy}", table))

    finish(work())


def _shown(title: str, table: Table) -> Shown:
    shown = Shown(
        title=title,
        caption=table.caption,
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=0,
        title_justify="left",
        caption_justify="left",
    )
    for index, head in enumerate(table.heads):
        shown.add_column(
            head, justify="right" if index else "left", no_wrap=bool(index), min_width=0 if index else NAMES
        )
    for row in table.rows:
        heading = not any(cell.text for cell in row[1:])
        shown.add_row(*map(_cell, row), style="bold" if heading else None)
    return shown


def _cell(cell: Cell) -> str:
    return escape(f"{cell.text} ({cell.interval})" if cell.interval else cell.text)
