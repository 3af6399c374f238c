"""A run as tables for a terminal of 80 columns."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.evaluation.figures import AnswerFigures, SearchFigures, accepted, answer_figures, search_figures
from app.evaluation.plan import Row
from app.evaluation.run_folder import Answered, Asked, Judged, Searched

SHOWN_FAILURES = 10  # named on the terminal; manifest.json has them all


def print_all(rows: Sequence[Row], console: Console) -> None:
    """All tables that the rows give rise to."""
    searched = [row for row in rows if isinstance(row, Searched)]
    answered = [row for row in rows if isinstance(row, Answered)]
    judged = [row for row in rows if isinstance(row, Judged)]
    found = search_figures(searched)
    if found:
        console.print(search_table(found), recall_by_category(found), sep="\n")
        over = sum(row.over_budget for row in found)
        console.print(f"{over} of {len(searched)} contexts were over their budget.", style="red" if over else "")
    if answered:
        said = answer_figures(answered, judged)
        console.print(answer_table(said), f1_by_category(said), sep="\n")
    vague = accepted(row for row in judged if row.subject == "vague")
    if vague is not None:
        console.print(f"The judge took {vague:.1%} of the vague answers for right: read its figures against that.")


def search_table(figures: Sequence[SearchFigures]) -> Table:
    """Strategies and budgets against recall, tokens and times."""
    caption = (
        "recall: share of the evidence among the items; strict: word for word in the context; all: share of the "
        "questions all of whose evidence is there; prec.: share of the messages handed out that are evidence. Tokens: "
        "mean and most. p50, p95: milliseconds until the client has the reply, with other questions under way."
    )
    heads = ("budget", "recall", "strict", "all", "prec.", "tokens", "max", "p50", "p95")
    table = _table("Evidence found", caption, heads)
    for row in figures:
        table.add_row(
            row.strategy,
            _budget(row.budget),
            _share(row.recall),
            _share(row.strict),
            _share(row.complete),
            _share(row.precision),
            _whole(row.mean_tokens),
            str(row.max_tokens),
            _whole(row.p50),
            _whole(row.p95),
        )
    return table


def recall_by_category(figures: Sequence[SearchFigures]) -> Table:
    """Recall of each strategy by category."""
    shown = [(row.strategy, row.budget, row.by_category) for row in figures]
    return _by_category("Evidence found by category", "recall", shown)


def f1_by_category(figures: Sequence[AnswerFigures]) -> Table:
    """Answers of each strategy by category."""
    shown = [(row.strategy, row.budget, row.f1_by_category) for row in figures]
    return _by_category("Answers by category", "F1", shown)


def answer_table(figures: Sequence[AnswerFigures]) -> Table:
    """Answers of each strategy."""
    caption = (
        "F1: of different words, as the papers count them; an abstention counts 0. dates: answers that name the very "
        "times of the gold answer, where it names any; abst.: share of the answerable questions that got no answer; "
        "refused: share of the unanswerable ones that got none; AUROC: of `confidence`, the former against the latter."
    )
    heads = ("budget", "F1", "SQuAD", "BLEU", "ROUGE", "dates", "judge", "abst.", "refused", "AUROC", "p50")
    table = _table("Answers", caption, heads)
    for row in figures:
        shares = (row.f1, row.squad_f1, row.bleu, row.rouge_l, row.date_match, row.judged)
        table.add_row(
            row.strategy,
            _budget(row.budget),
            *map(_share, shares),
            *map(_share, (row.abstained, row.refused, row.auroc)),
            _whole(row.p50),
        )
    return table


def print_failures(failed: Sequence[Asked], console: Console) -> None:
    """Name the requests that failed; they are in no figure."""
    for row in failed[:SHOWN_FAILURES]:
        how = f"{row.strategy} at {_budget(row.budget)}" if row.strategy else "the vague answer"
        where = f"{row.conversation}, question {row.question} ({how})"
        console.print(f"Failed: {where}: {row.error}", style="red", markup=False)
    if len(failed) > SHOWN_FAILURES:
        console.print(f"... and {len(failed) - SHOWN_FAILURES} more", style="red")


def _by_category(title: str, measure: str, rows: Sequence[tuple[str, int, Mapping[str, float | None]]]) -> Table:
    names = list(dict.fromkeys(name for _, _, values in rows for name in values))
    table = _table(title, f"{measure} of the questions of each category.", ("budget", *names))
    for strategy, budget, values in rows:
        table.add_row(strategy, _budget(budget), *(_share(values.get(name)) for name in names))
    return table


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


def _budget(tokens: int) -> str:
    return str(tokens) if tokens else "none"


def _share(value: float | None) -> str:
    """`.825`, `1.000`; a dash for nothing."""
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def _whole(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"
