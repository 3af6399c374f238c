"""How much of the evidence the reader hands out: each strategy, and the default one without one thing at a time.

    python -m tests.benchmarks.reader --data FILE [--conversations 1 2] [--strategies adaptive bm25 …]
        [--without late near selection themes gate …] [--categories multi-hop …] [--budgets 250 500 …]
        [--folder FOLDER] [--limit N] [--chat MODEL]

Recall of the evidence messages of categories 1 to 4: loose, over `items[].messages`; strict, messages whose own words
stand in the context. "until" are tokens until all evidence is in, the largest budget where it never is. `--without`
names weights of `fusion.FusionPolicy`, or `selection`, `themes` (what the first statement of a theme gains in it) or
`gate`. "whole" is the share of questions whose evidence is all in. Then how far the gate's uncertainty tells contexts
that lack evidence from those that do not. With `--chat`, that model (such as smollm2-135m) is the gate.

Conversations are ingested once and kept in FOLDER, beside the results: what was measured is not measured again, so
remove `reader.jsonl` after a change. A seventh of a second a question and a setup on two idle cores.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from app.domain.expansion import Measure
from app.domain.ids import MessageId
from app.domain.packing import Item, render_context
from app.domain.text import count_tokens
from app.evaluation import locomo, metrics
from app.evaluation.datasets import Conversation, Question
from app.evaluation.terminal import out, progress
from app.services.expansion import Limits
from app.services.ranking import CALIBRATED, POLICIES
from app.services.search import TOP_K, Ask, ReadPolicy, Search, Strategy
from tests.benchmarks.reader_tables import CATEGORIES, Key, Row, print_calibration, print_differences, print_recall
from tests.benchmarks.remembered import FOLDER, NAMESPACE, remembered

BUDGETS = (250, 500, 1000, 2000)  # tokens, ascending
SIGNALS = ("words", "near", "day", "late", "named", "time")  # weights that are 0 for a signal that is off
ALL = 10_000  # statements: more than a search reads, so none is left out


@dataclass(frozen=True, slots=True)
class Setup:
    """One way to read: a strategy, or the default one `without` something."""

    strategy: Strategy
    without: str | None = None

    @property
    def name(self) -> str:
        """As it stands in the table."""
        return self.strategy.value if self.without is None else f"without {self.without}"

    def policy(self, gate: Measure) -> ReadPolicy:
        """How a service reads so."""
        fusion = POLICIES
        if self.without in SIGNALS:
            fusion = {level: replace(policy, **{self.without: 0.0}) for level, policy in POLICIES.items()}
        off = self.without == "gate" or self.strategy not in CALIBRATED
        usual = ReadPolicy(gate=Measure.OFF if off else gate, fusion=fusion)
        if self.without == "themes":
            return replace(usual, selection=replace(usual.selection, theme=0.0))
        return replace(usual, backbone=ALL) if self.without == "selection" else usual


def _until(items: Sequence[Item], names: Mapping[MessageId, str | None], evidence: Sequence[str]) -> int | None:
    """Tokens of the best items that have all evidence; None if they have not."""
    missing = set(evidence)
    for count, item in enumerate(items, start=1):
        missing -= {names[message] for message in item.messages}
        if not missing:
            return count_tokens(render_context(items[:count]))
    return None


async def _rows(search: Search, setup: Setup, case: "Case", budgets: Sequence[int]) -> list[Row]:
    """One question at every budget."""
    ask = Ask(case.question.text, budgets[-1], setup.strategy)
    gathered = await search.gather(NAMESPACE, ask)
    names = {message.id: message.external_id for piece in gathered.evidence for message in piece.messages}
    items = [piece.item for piece in gathered.evidence]
    rows = []
    for budget in budgets:
        limits = Limits(budget, TOP_K, {}, search.brevity(setup.strategy))
        expanded = await search.expansion.expand(
            gathered.question, items, limits, search.policy.gate, search.policy.bounds
        )
        context = render_context(expanded.items)
        found = {name for item in expanded.items for message in item.messages if (name := names[message])}
        rows.append(
            Row(
                setup.name,
                case.conversation,
                case.question.number,
                case.question.category,
                budget,
                recall=metrics.recall(case.question.evidence, found),
                strict=metrics.strict_recall(case.texts, context),
                tokens=count_tokens(context),
                until=_until(expanded.items, names, case.question.evidence) or budgets[-1],
                probes=expanded.opened.probes,
                measure=expanded.opened.measure.value,
                uncertainty=expanded.opened.uncertainty,
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a conversation, and its evidence messages as they stand in a context."""

    conversation: int
    question: Question
    texts: tuple[str, ...]


def _cases(conversation: Conversation, limit: int | None, categories: Sequence[str]) -> Iterator[Case]:
    texts = {message.external_id: metrics.rendered(message) for message in conversation.messages}
    asked = [one for one in conversation.questions if one.answerable and one.evidence and one.category in categories]
    for question in asked[:limit]:
        yield Case(conversation.number, question, tuple(texts[id_] for id_ in question.evidence))


async def run(given: argparse.Namespace) -> None:
    """Measure what is not measured yet, and print all."""
    dataset = locomo.load(given.data)
    conversations = dataset.pick(given.conversations)
    setups = [Setup(strategy) for strategy in given.strategies]
    setups += [Setup(Strategy.ADAPTIVE, without) for without in given.without]
    chat = {"chat": "transformers", "chat_model": given.chat} if given.chat else {}
    results = given.folder / ("reader-model.jsonl" if given.chat else "reader.jsonl")
    rows = _measured(results)
    for conversation in conversations:
        cases = list(_cases(conversation, given.limit, given.categories))
        left = [(s, c) for s in setups for c in cases if not all(_key(s, c, b) in rows for b in given.budgets)]
        if not left:
            continue
        async with remembered(given.folder, conversation, dataset.sha256, **chat) as container:
            with progress("questions") as bar, results.open("a", encoding="utf-8") as file:
                task = bar.add_task(conversation.name, total=len(left))
                for setup, case in left:
                    policy = setup.policy(Measure.MODEL if given.chat else Measure.EVIDENCE)
                    new = await _rows(replace(container.services.search, policy=policy), setup, case, given.budgets)
                    file.write("".join(json.dumps(asdict(row)) + "\n" for row in new))
                    rows |= {row.key: row for row in new}
                    bar.advance(task)
    names, numbers = {setup.name for setup in setups}, {one.number for one in conversations}
    shown = [
        row
        for row in rows.values()
        if row.setup in names and row.conversation in numbers and row.category in given.categories
    ]
    out.print(f"{len({(row.conversation, row.question) for row in shown})} questions")
    print_recall(shown, [setup.name for setup in setups], given.budgets)
    print_differences(shown, [setup.name for setup in setups], given.budgets)
    print_calibration([row for row in shown if row.setup == Strategy.ADAPTIVE.value])


def _key(setup: Setup, case: Case, budget: int) -> Key:
    return setup.name, case.conversation, case.question.number, budget


def _measured(results: Path) -> dict[Key, Row]:
    """What an earlier run has measured."""
    if not results.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in results.read_text(encoding="utf-8").splitlines()]
    return {row.key: row for row in rows}


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", type=int, nargs="*", default=[])
    parser.add_argument("--strategies", type=Strategy, nargs="*", default=list(Strategy))
    parser.add_argument("--without", nargs="*", choices=[*SIGNALS, "selection", "themes", "gate"], default=[])
    parser.add_argument("--categories", nargs="*", choices=CATEGORIES, default=list(CATEGORIES))
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS), help="ascending, two at least")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--chat", default=None)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
