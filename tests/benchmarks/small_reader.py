"""A small language model as reader and gate: what its gate is worth to its answers, beside flat retrieval.

    python -m tests.benchmarks.small_reader --data FILE [--conversation 1] [--questions 60] [--budget 500] [--probes 16]
        [--chat smollm2-135m] [--dtype float32] [--folder FOLDER]

One conversation is ingested once, without a language model, and kept in FOLDER; of every category its share of the
questions, spread over the conversation, is asked four times: `gate on` (the model opens the items of `adaptive`),
`gate off` (they come in by score, within the same budget), `flat` (the strategy `vector`) and `cut` (`gate off`), both
with no more tokens than `gate on` handed out. The model answers over each context through the service: its prompt, its
checks, its verdicts.

Rows are kept as they are made, so that a run that ended goes on; remove `small-reader.jsonl` after a change. Fetch the
model first: `xmemory models pull smollm2-135m`.
"""

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from app.container import Container
from app.domain.answers import answer
from app.domain.errors import ProviderFault
from app.domain.expansion import Measure
from app.domain.packing import context_lines
from app.evaluation import locomo, metrics
from app.evaluation.datasets import Conversation, Question
from app.evaluation.terminal import progress
from app.prompts import gate
from app.services.answer import Answered, Listener
from app.services.search import Ask, Found, Strategy
from tests.benchmarks.remembered import FOLDER, NAMESPACE, remembered
from tests.benchmarks.small_reader_tables import CUT, FLAT, OFF, ON, Row, print_all

PASSES = ((ON, OFF, FLAT), (CUT,))  # over all questions; `gate on` says how many tokens `flat` and `cut` may have
AT_ONCE = 4  # questions: the model writes several answers side by side in little more time than one
SEED = 7  # of the order of questions
PATIENCE = 3600.0  # seconds, for a reply and for all probes of a question: the machine's speed must not show


def chosen(questions: Sequence[Question], count: int) -> list[Question]:
    """So many questions, of each category its share (largest remainders), evenly spread over the conversation.

    Deterministic, in an order by chance: the first of them are a sample too.
    """
    groups: dict[str, list[Question]] = {}
    for question in questions:
        groups.setdefault(question.category, []).append(question)
    count = min(count, len(questions))
    exact = {name: count * len(group) / len(questions) for name, group in groups.items()}
    shares = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda name: shares[name] - exact[name])[: count - sum(shares.values())]:
        shares[name] += 1
    spread = [group[i * len(group) // shares[name]] for name, group in groups.items() for i in range(shares[name])]
    random.Random(SEED).shuffle(spread)
    return spread


@dataclass(slots=True)
class _Heard:
    """What came of a question while it was answered, also where the model's reply was of no use in the end."""

    found: Found | None = None
    said: str = ""

    def find(self, found: Found) -> None:
        self.found = found

    def say(self, text: str) -> None:
        self.said = text

    @property
    def evidence(self) -> Found:
        assert self.found is not None  # it is told before the model is asked
        return self.found


@dataclass(frozen=True, slots=True)
class Reading:
    """Asks the questions of one conversation, all on the day of its last message."""

    container: Container
    conversation: Conversation
    budget: int
    probes: int

    async def row(self, arm: str, question: Question, first: Row | None = None) -> Row:
        """Ask in one of the four ways; `first` is what came of it with the gate on, where that is not asked for."""
        heard = _Heard()
        answered, trouble = None, None
        try:
            answered = await self._answer(self._ask(arm, question, first), heard)
        except ProviderFault as error:
            trouble = error.code
        found, used = heard.evidence, {} if answered is None else answered.usage
        tests = found.opened.tests
        short, unsure = await self._probe(question, [line for line, _ in context_lines(hit.item for hit in found.hits)])
        return Row(
            arm,
            question.number,
            question.category,
            tokens=found.tokens,
            recall=_recall(found, question),
            probes=found.opened.probes,
            failed=found.opened.failed,
            gate_before=tests[0].before if tests else None,
            gate_after=found.opened.uncertainty,
            unsure_before=first.unsure_before if first else (await self._probe(question, []))[1],
            unsure_after=unsure,
            said=None if answered is None else answered.answer,
            reason=trouble if answered is None else answered.reason,
            broken=answered is None,
            raw=heard.said,
            short=short,
            ruled=await self._ruled(found),
            read=sum(int(counts.get("tokens_in", 0)) for counts in used.values()),
            written=sum(int(counts.get("tokens_out", 0)) for counts in used.values()),
        )

    def _ask(self, arm: str, question: Question, first: Row | None) -> Ask:
        at = max(message.occurred_at for message in self.conversation.messages if message.occurred_at is not None)
        room = first.tokens if first and arm in (FLAT, CUT) else self.budget
        if arm == FLAT:
            return Ask(question.text, room, Strategy.VECTOR, asked_at=at)
        measure = Measure.MODEL if arm == ON else Measure.OFF
        return Ask(question.text, room, asked_at=at, gate=measure, probes=self.probes, gate_seconds=PATIENCE)

    async def _answer(self, ask: Ask, heard: _Heard) -> Answered:
        return await self.container.services.answering.answer(NAMESPACE, ask, Listener(heard.find, heard.say))

    async def _probe(self, question: Question, lines: Sequence[str]) -> tuple[str, float]:
        """The gate's own question over a whole context: the model's short answer, and its uncertainty in nats."""
        chat = self.container.chat
        assert chat is not None  # `run` configures one
        async with chat.scoring(gate.SYSTEM, gate.beginning(lines)) as scoring:
            [scored] = await scoring.score([gate.probe(question.text)], gate.ANSWER_TOKENS)
        return scored.text, scored.uncertainty

    async def _ruled(self, found: Found) -> str | None:
        """What is answered from the same messages where there is no language model."""
        asked_at = found.ask.asked_at
        assert asked_at is not None  # `_ask` sets it
        evidence = await self.container.services.answering.evidence(NAMESPACE, found)
        return answer(found.question, evidence, asked_at.date()).text


def _recall(found: Found, question: Question) -> float | None:
    """Share of the evidence that was handed out; None where the question has none."""
    if not question.answerable or not question.evidence:
        return None
    return metrics.recall(question.evidence, {ref.external_id or "" for hit in found.hits for ref in hit.references})


async def run(given: argparse.Namespace) -> None:
    """Measure what is not measured yet, and print all."""
    dataset = locomo.load(given.data)
    [conversation] = dataset.pick([given.conversation])
    questions = chosen(conversation.questions, given.questions)
    results = given.folder / "small-reader.jsonl"
    rows = _measured(results)
    passes = [[(arm, one) for one in questions for arm in arms if (arm, one.number) not in rows] for arms in PASSES]
    models = {"chat": "transformers", "chat_model": given.chat, "chat_dtype": given.dtype}
    if any(passes):
        patient = {"models": {"chat_seconds": PATIENCE}}
        async with remembered(given.folder, conversation, dataset.sha256, **models, **patient) as container:
            reading = Reading(container, conversation, given.budget, given.probes)
            with results.open("a", encoding="utf-8", buffering=1) as file:
                for left in passes:
                    await _read(reading, left, _Kept(rows, file))
    print_all(rows, questions)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is measured so far, and the file that it stands in."""

    rows: dict[tuple[str, int], Row]
    file: TextIO

    def add(self, row: Row) -> None:
        self.rows[row.key] = row
        self.file.write(json.dumps(asdict(row)) + "\n")


async def _read(reading: Reading, left: Sequence[tuple[str, Question]], kept: _Kept) -> None:
    """Ask all that is left of a pass, several questions side by side, of each question one thing after the other."""
    questions = {question.number: question for _, question in left}
    places = asyncio.Semaphore(AT_ONCE)
    with progress("rows") as bar:
        task = bar.add_task(reading.conversation.name, total=len(left))

        async def read(number: int) -> None:
            async with places:
                for arm in [arm for arm, question in left if question.number == number]:
                    kept.add(await reading.row(arm, questions[number], kept.rows.get((ON, number))))
                    bar.advance(task)

        async with asyncio.TaskGroup() as group:
            for number in questions:
                group.create_task(read(number))


def _measured(results: Path) -> dict[tuple[str, int], Row]:
    """What an earlier run has measured. A line that was being written when it ended is measured again."""
    rows: dict[tuple[str, int], Row] = {}
    if results.exists():
        for line in results.read_text(encoding="utf-8").splitlines():
            with suppress(json.JSONDecodeError):
                row = Row(**json.loads(line))
                rows[row.key] = row
    return rows


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversation", type=int, default=1)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--budget", type=int, default=500, help="tokens of context")
    parser.add_argument("--probes", type=int, default=16, help="items that the model tests for one question at most")
    parser.add_argument("--chat", default="smollm2-135m")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
