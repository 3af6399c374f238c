"""What becomes of long conversations: how many statements, what they rest on, and how far they alone carry.

    python -m tests.benchmarks.statements --data FILE [--conversations 1,3] [--embedder minilm|scripted] [--show]

The service runs in this process on a temporary SQLite file, without a language model; each conversation has a namespace
of its own. "cited" is the share of the evidence messages of questions of categories 1 to 4 that some statement rests
on; recall is of searches that may hand out statements only. `--show` prints what superseded what.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from app.domain.text import count_tokens
from app.evaluation import journal, locomo
from app.evaluation.client import connect
from app.evaluation.datasets import Conversation
from app.evaluation.figures import search_figures
from app.evaluation.ingesting import ingest
from app.evaluation.measuring import measure
from app.evaluation.plan import Plan
from app.evaluation.run_folder import Searched
from app.settings import Settings
from app.storage import migrate
from tests.conftest import Api, serving

PLAN = Plan(("adaptive:statement",), budgets=(250, 500, 1000), prefix="statements")
OBSERVATIONS = (0.627, 0.684, 0.736)  # recall of LoCoMo's own notes at these budgets, on all ten conversations
WIDTH = 100  # columns


@dataclass(frozen=True)
class Kept:
    """A conversation and its statements, current or not."""

    conversation: Conversation
    statements: Sequence[Mapping[str, Any]]

    @property
    def current(self) -> Sequence[Mapping[str, Any]]:
        """What holds."""
        return [one for one in self.statements if one["superseded_by"] is None]

    @property
    def evidence(self) -> frozenset[str]:
        """The messages that the questions' answers rest on, by their ids in the data."""
        asked = [question for question in self.conversation.questions if question.answerable]
        return frozenset(id for question in asked for id in question.evidence)

    @property
    def cited(self) -> frozenset[str]:
        """Those of them that a statement cites."""
        cited = {message["external_id"] for one in self.current for message in one["messages"]}
        return self.evidence & cited


async def _run(conversations: Sequence[Conversation], embedder: str, console: Console) -> list[Kept]:
    with tempfile.TemporaryDirectory(prefix="xm-statements-") as folder:
        url = f"sqlite+aiosqlite:///{folder}/memory.db"
        migrate.upgrade(url)
        settings = Settings(_env_file=None, database_url=url, embedder=embedder, log_level="error")
        async with serving(settings) as api, connect(str(api.base_url)) as client:
            for one in conversations:
                await ingest(client, PLAN, one)
            cases = [case for one in conversations for case in PLAN.cases(one)]
            with journal.keep(Path(folder)) as results:
                measured = await measure(client, PLAN, cases, results, None)
            kept = [Kept(one, await _statements(api, PLAN.namespace(one))) for one in conversations]
    console.print(_table(kept))
    searched = [row for row in measured.rows if isinstance(row, Searched)]
    for row, notes in zip(search_figures(searched), OBSERVATIONS, strict=True):
        console.print(f"recall at {row.budget} tokens: {row.recall:.3f} (observations: {notes})", highlight=False)
    console.print(f"{len(searched)} searches, {len(measured.failed)} failed", highlight=False)
    return kept


async def _statements(api: Api, namespace: str) -> list[dict[str, Any]]:
    return await api.all(f"/v1/namespaces/{namespace}/statements", include="superseded")


def _table(kept: Sequence[Kept]) -> Table:
    table = Table(title="Statements")
    for head in ("", "messages", "statements", "a message", "tokens", "cited", "superseded", "on several"):
        table.add_column(head, justify="right")
    for one in kept:
        table.add_row(one.conversation.name, *_cells([one]), end_section=one is kept[-1])
    table.add_row("all", *_cells(kept))
    return table


def _cells(kept: Sequence[Kept]) -> tuple[str, ...]:
    messages = sum(len(one.conversation.messages) for one in kept)
    current = [statement for one in kept for statement in one.current]
    cited = sum(len(one.cited) for one in kept) / sum(len(one.evidence) for one in kept)
    return (
        str(messages),
        str(len(current)),
        f"{len(current) / messages:.2f}",
        f"{fmean(count_tokens(one['text']) for one in current):.1f}",
        f"{cited:.3f}",
        str(sum(len(one.statements) - len(one.current) for one in kept)),
        str(sum(one["support"] > 1 for one in current)),
    )


def _show(kept: Sequence[Kept], console: Console) -> None:
    for one in kept:
        by_id = {statement["id"]: statement for statement in one.statements}
        for old in (statement for statement in one.statements if statement["superseded_by"]):
            new = by_id[old["superseded_by"]]
            for mark, statement in (("-", old), ("+", new)):
                said = f"{mark} [{statement['occurred_at'][:10]}] {statement['text']}"
                console.print(said, markup=False, highlight=False, soft_wrap=True)
            console.print()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", default="", help="numbers, with commas; all by default")
    parser.add_argument("--embedder", choices=["minilm", "scripted"], default="minilm")
    parser.add_argument("--show", action="store_true", help="print what superseded what")
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",") if number]
    console = Console(width=WIDTH)
    kept = asyncio.run(_run(locomo.load(given.data).pick(numbers), given.embedder, console))
    if given.show:
        _show(kept, console)


if __name__ == "__main__":
    main()
