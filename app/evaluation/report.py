"""An evaluation as tables for people and as files for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.evaluation.outcomes import Answered, AnswerFigures, Searched, SearchFigures

SHOWN_FAILURES = 10  # named on the terminal; results.jsonl has them all


def search_table(figures: Sequence[SearchFigures], categories: Mapping[int, str]) -> Table:
    """Strategies and budgets against recall, tokens and times; fits 80 columns."""
    names = ", ".join(f"{number} {name}" for number, name in categories.items())
    heads = ("budget", "recall", "strict", *(f"cat.{number}" for number in categories), "tokens", "max", "p50", "p95")
    caption = (
        f"recall: share of the evidence among the items; strict: word for word in the context. Recall by "
        f"category: {names}. Tokens: mean and most. p50, p95: milliseconds until the client has the reply, "
        "with other questions under way."
    )
    table = _table("Evidence found", caption, heads)
    for row in figures:
        table.add_row(
            row.strategy,
            str(row.budget),
            _share(row.recall),
            _share(row.strict),
            *(_share(row.by_category[category]) for category in categories),
            _whole(row.mean_tokens),
            str(row.max_tokens),
            _whole(row.p50),
            _whole(row.p95),
        )
    return table


def answer_table(figures: Sequence[AnswerFigures]) -> Table:
    """Answers of each strategy."""
    caption = (
        "F1 (of words) and BLEU-1: an abstention counts 0; abst.: share of the answerable questions that got none; "
        "traps: unanswerable questions; refused: share of them that were not answered; AUROC: of `confidence`, "
        "answerable questions against traps."
    )
    heads = ("budget", "asked", "F1", "BLEU-1", "abst.", "traps", "refused", "AUROC", "p50", "p95")
    table = _table("Answers", caption, heads)
    for row in figures:
        table.add_row(
            row.strategy,
            str(row.budget),
            str(row.questions),
            _share(row.f1),
            _share(row.bleu),
            _share(row.abstained),
            str(row.unanswerable),
            _share(row.refused),
            _share(row.auroc),
            _whole(row.p50),
            _whole(row.p95),
        )
    return table


def category_table(figures: Sequence[AnswerFigures], categories: Mapping[int, str]) -> Table:
    """Answers of each strategy by category."""
    names = ", ".join(f"{number} {name}" for number, name in categories.items())
    heads = ("budget", *(f"cat.{number}" for number in categories))
    table = _table("Answers by category", f"F1 of words: {names}.", heads)
    for row in figures:
        table.add_row(row.strategy, str(row.budget), *(_share(row.f1_by_category.get(number)) for number in categories))
    return table


def print_failures(failed: Sequence[Searched | Answered], console: Console) -> None:
    """Name the questions that failed; they are in no figure."""
    for outcome in failed[:SHOWN_FAILURES]:
        asked = outcome.asked
        where = f"{asked.conversation}, question {asked.question} ({outcome.strategy} at {outcome.budget})"
        console.print(f"Failed: {where}: {outcome.error}", style="red", markup=False)
    if len(failed) > SHOWN_FAILURES:
        console.print(f"... and {len(failed) - SHOWN_FAILURES} more", style="red")


def write(folder: Path, outcomes: Sequence[Searched | Answered], manifest: Mapping[str, object]) -> None:
    """Write results.jsonl, one outcome a line, and manifest.json. Blocking."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "results.jsonl").open("w", encoding="utf-8") as file:
        for outcome in outcomes:
            kind = "search" if isinstance(outcome, Searched) else "answer"
            row = asdict(outcome)
            file.write(json.dumps({"kind": kind, **row.pop("asked"), **row}) + "\n")
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _table(title: str, caption: str, heads: Sequence[str]) -> Table:
    table = Table(
        title=title,
        caption=caption,
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=0,
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("strategy", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def _share(value: float | None) -> str:
    """`.825`, `1.000`; a dash for nothing."""
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"
