"""Are the right statements kept? The labelled dialogues of tests/dialogues, posted to a service and compared.

    python -m tests.benchmarks.dialogues [--embedder scripted|minilm] [--topic T] [--show N] [--held-out]
        [--split blind]

The service runs in this process on a temporary SQLite file. Prints precision and recall of the decisions, those of
the held-out dialogues apart; `--show` tells what is wrong in the first N open dialogues that are not right, and with
`--held-out` in held-out ones too: look at those only when the rules are done. `--split blind` measures the blind
dialogues in place of the others and counts them as held out: read tests/dialogues/README.md before you do.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.settings import Settings
from app.storage import migrate
from tests.conftest import serving
from tests.dialogues.loading import Dialogue, load
from tests.dialogues.replay import measure
from tests.dialogues.scoring import DECISIONS, DETAILS, Score, Tally, total

WIDTH = 100  # columns of the tables, also where nothing tells the terminal's


def needs_more(dialogue: Dialogue, embedder: str) -> bool:
    """Whether the dialogue cannot be decided with this embedder and without a language model."""
    return dialogue.needs_model or (dialogue.needs_embedder and embedder == "scripted")


def tally(scores: Iterable[Score], *kinds: str) -> Tally:
    """All decisions of these kinds; of every kind if none is given."""
    return total(score.tallies[kind] for score in scores for kind in kinds or DECISIONS)


async def run(dialogues: Sequence[Dialogue], embedder: str) -> list[Score]:
    """Measure on a fresh service."""
    with tempfile.TemporaryDirectory(prefix="xm-dialogues-") as folder:
        url = f"sqlite+aiosqlite:///{folder}/memory.db"
        migrate.upgrade(url)
        settings = Settings(_env_file=None, database_url=url, embedder=embedder, log_level="error")
        async with serving(settings) as api:
            return await measure(api, dialogues)


class Groups:
    """Scores by what they may be used for."""

    def __init__(self, scores: Sequence[Score], embedder: str) -> None:
        able = [score for score in scores if not needs_more(score.dialogue, embedder)]
        self.open = [score for score in able if not score.dialogue.held_out]
        self.held_out = [score for score in able if score.dialogue.held_out]
        self.beyond = [score for score in scores if needs_more(score.dialogue, embedder)]

    def table(self, title: str, of: Callable[[Dialogue], str]) -> Table:
        """A row for each value of `of`, over the dialogues that rules decide."""
        table = _table(title, "open", "right", "P", "R", "held out", "right", "P", "R")
        names = {of(score.dialogue) for score in (*self.open, *self.held_out)}
        for name in (*sorted(names), "all"):
            parts = [[s for s in group if name in (of(s.dialogue), "all")] for group in (self.open, self.held_out)]
            table.add_row(name, *(cell for part in parts for cell in _cells(part)), end_section=name == "all")
        return table

    def decisions(self) -> Table:
        """A row for each kind of decision, then for each detail of the facts that were found."""
        table = _table("By decision", "open P", "R", "held out P", "R", "beyond rules P", "R")
        for name in (*DECISIONS, "all", *DETAILS):
            kinds = DECISIONS if name == "all" else (name,)
            tallies = [tally(group, *kinds) for group in (self.open, self.held_out, self.beyond)]
            shares = [_share(share) for one in tallies for share in (one.precision, one.recall)]
            table.add_row(name, *shares, end_section=name == "all")
        return table

    def summary(self) -> str:
        """One line."""
        parts = []
        for name, group in (("open", self.open), ("held out", self.held_out), ("beyond rules", self.beyond)):
            found, dates = tally(group), tally(group, "dates")
            parts.append(
                f"{name}: P {_share(found.precision)} R {_share(found.recall)} dates {_share(dates.recall)}, "
                f"{sum(score.is_right for score in group)} of {len(group)} right"
            )
        return " · ".join(parts)


def _table(title: str, *heads: str) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD, title_justify="left")
    table.add_column("")
    for head in heads:
        table.add_column(head, justify="right")
    return table


def _cells(scores: Sequence[Score]) -> tuple[str, str, str, str]:
    found = tally(scores)
    right = sum(score.is_right for score in scores)
    return str(len(scores)), str(right), _share(found.precision), _share(found.recall)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"


def _show(console: Console, scores: Sequence[Score], count: int, *, held_out: bool) -> None:
    """What is wrong, dialogue by dialogue; of held-out ones nothing unless asked for."""
    faulty = [score for score in scores if score.faults and (held_out or not score.dialogue.held_out)]
    for score in faulty[:count]:
        dialogue = score.dialogue
        marks = [mark for mark in ("held_out", "needs_model", "needs_embedder") if getattr(dialogue, mark)]
        console.print(
            f"\n{dialogue.id} ({', '.join([dialogue.topic, *marks])})", style="bold", markup=False, highlight=False
        )
        for number, message in dialogue.messages.items():
            picture = f" [image: {message.caption}]" if message.caption else ""
            said = f"  {number} {message.occurred_at:%Y-%m-%d %H:%M} {message.who}: {message.content[:200]}{picture}"
            console.print(said, markup=False, highlight=False, soft_wrap=True)
        for fault in score.faults:
            console.print(f"  ✗ {fault}", markup=False, highlight=False, soft_wrap=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=["scripted", "minilm"], default="scripted")
    parser.add_argument("--topic", help="only dialogues of this topic")
    parser.add_argument("--show", type=int, default=0, help="dialogues whose faults are told")
    parser.add_argument("--held-out", action="store_true", help="tell those of held-out dialogues too")
    parser.add_argument("--split", choices=["main", "blind"], default="main", help="main: open and held-out dialogues")
    given = parser.parse_args()
    loaded = load(blind=given.split == "blind")
    dialogues = [dialogue for dialogue in loaded if given.topic in (None, dialogue.topic)]
    if not dialogues:
        parser.error(f"no dialogue has the topic {given.topic!r}: {sorted({one.topic for one in loaded})}")
    begun = time.perf_counter()
    scores = asyncio.run(run(dialogues, given.embedder))
    console, groups = Console(width=WIDTH), Groups(scores, given.embedder)
    _show(console, scores, given.show, held_out=given.held_out)
    console.print(groups.table("By topic, where rules decide", lambda dialogue: dialogue.topic))
    console.print(groups.table("By language, where rules decide", lambda dialogue: dialogue.language))
    console.print(groups.decisions())
    console.print(f"{len(scores)} dialogues, {given.embedder}, {time.perf_counter() - begun:.0f} s", highlight=False)
    console.print(groups.summary(), highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
