"""A report of runs, as a page for a browser and as Markdown for a document or an issue."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.evaluation.errors import ToolError
from app.evaluation.reporting import answers, effort, evidence, grouped, markdown, runs
from app.evaluation.reporting.parts import Section, bound
from app.evaluation.reporting.series import Series, by_size, common_budget, series_of
from app.evaluation.reporting.worst import Worst, worst
from app.evaluation.run_folder import RunFolder

PAGE, MARKDOWN = "report.html", "report.md"
RECALL, F1 = ("recall", "recall"), ("f1", "F1")  # in `scores`, and as they are called
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # no HTML may hold them


@dataclass(frozen=True, slots=True)
class Report:
    """What is shown; `budget` is the one at which categories and worst questions are."""

    title: str
    budget: int
    sections: Sequence[Section]
    worst: Sequence[Worst]
    runs: Sequence[RunFolder]


def build(folders: Sequence[RunFolder], budget: int | None, most: int) -> Report:
    """All sections for which something was measured, and the `most` worst questions of each series.

    Raises ToolError if nothing was measured, or nothing at the budget.
    """
    all_series = series_of(folders)
    measured = sorted({one for series in all_series for one in series.budgets}, key=by_size)
    if budget is not None and budget not in measured:
        raise ToolError(f"nothing was measured at {budget} tokens: choose one of {', '.join(map(str, measured))}")
    at = common_budget(all_series) if budget is None else budget
    return Report(
        title=f"Evaluation: {', '.join(folder.name for folder in folders)}",
        budget=at,
        sections=_sections(folders, all_series, at),
        worst=worst(all_series, at, most),
        runs=folders,
    )


def write(report: Report, folder: Path) -> list[Path]:
    """Write both files; returns where they are. Blocking. Raises ToolError if the folder cannot be written to."""
    files = {folder / PAGE: page(report), folder / MARKDOWN: markdown.document(report.title, report.sections)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ToolError(f"{folder} cannot be written to: {error.strerror}") from error
    return list(files)


def page(report: Report) -> str:
    """The page: complete in itself, and without scripts. Whatever the data holds is shown as text."""
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=False
    )
    text = templates.get_template("page.html").render(
        title=report.title,
        sections=report.sections,
        worst=report.worst,
        bound=bound(report.budget),
        manifests=[(run.name, json.dumps(run.document, indent=2, ensure_ascii=False)) for run in report.runs],
    )
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def _sections(folders: Sequence[RunFolder], all_series: Sequence[Series], budget: int) -> list[Section]:
    searched = {series.label: rows for series in all_series if (rows := series.at(budget))}
    answered = {series.label: given for series in all_series if (given := answers.answerable(series))}
    sections = [runs.overview(folders)]
    if searched:
        title = f"Recall by category at {bound(budget)}"
        sections += [evidence.found(all_series), grouped.by_category("categories", title, searched, RECALL)]
        sections += [evidence.effort(all_series)]
    if answered:
        title = "Answers by category"
        sections += [answers.answers(all_series), grouped.by_category("answer-categories", title, answered, F1)]
        sections += [answers.abstention(all_series)]
    if len({runs.identity(folder) for folder in folders}) == 1:
        sections += _side_by_side(searched, answered, budget)
    sections += [effort.cost(folders, all_series), effort.times(all_series)]
    return [*sections, effort.failures(folders), effort.flaws(folders), runs.setup(folders)]


def _side_by_side(searched: grouped.Rows, answered: grouped.Rows, budget: int) -> list[Section]:
    """Runs and strategies against the first of them, as far as there are several."""
    measured = [(searched, ("recall", f"Recall at {bound(budget)}")), (answered, ("f1", "F1 of the answers"))]
    tables = [grouped.against_first(rows, metric) for rows, metric in measured if len(rows) > 1]
    return [Section("ablations", "Side by side", tables=tables)] if tables else []
