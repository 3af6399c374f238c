"""What a confidence is worth: its weights fitted again, left-out conversations, and the risk at each coverage.

    python -m tests.benchmarks.confidence --data FILE [--conversations 1,2,3,4,5] [--folder FOLDER]

Conversations of the LoCoMo format are ingested once and kept in FOLDER; each is asked all its questions, and 20 of the
other ones'. An answer should be given to the answerable ones only; those of category 5 put what one person said to the
other, and nobody here spoke of what the foreign ones ask. Of one conversation alone there is nothing to leave out, and
nothing foreign. Half a second of a core a question.
"""

import argparse
import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.domain.answers import Answer, answer
from app.domain.confidence import NAMES, Signals, read_signals
from app.domain.support import weigh
from app.evaluation.datasets import Conversation, Question
from app.evaluation.locomo import load
from app.evaluation.metrics import auroc, mean
from app.evaluation.terminal import progress
from app.evaluation.wording import word_f1
from app.services.answer import Answering
from app.services.search import Ask
from tests.benchmarks.remembered import FOLDER, NAMESPACE, remembered

FOREIGN = 20  # questions of other conversations asked to each
TOKENS = 2000
THRESHOLD = 0.5
RIDGE = 0.1  # keeps the fit of few questions from running away
STEPS = 30  # of Newton; ten are usually enough
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
WITHOUT = [NAMES.index(name) for name in ("support", "words", "open")]  # signals that need no vectors of words
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """A question that was asked. `expected` is None where there is no answer; `foreign`: of another conversation;
    `asks` is what it was read to ask for.
    """

    conversation: int
    foreign: bool
    category: str
    asks: str
    expected: str | None
    said: Answer
    signals: Signals | None
    plain: Signals | None

    @property
    def answerable(self) -> bool:
        """Whether an answer should be given."""
        return self.expected is not None


async def _ask(answering: Answering, conversation: int, asked_for: Question, at: datetime, *, foreign: bool) -> Case:
    found = await answering.search.search(NAMESPACE, Ask(text=asked_for.text, max_tokens=TOKENS, asked_at=at))
    evidence = await answering.evidence(NAMESPACE, found)
    read = []
    for asked in (evidence.asked, None):
        ranked = weigh(found.question, evidence.passages, asked)
        read.append(read_signals(found.question, ranked, evidence.speakers, evidence.heard) if ranked else None)
    said = answer(found.question, evidence, at.date())
    expected = None if foreign else asked_for.answer
    kinds = str(asked_for.category), found.question.asks.value
    return Case(conversation, foreign, *kinds, expected, said, read[0], read[1])


async def _cases(answering: Answering, conversation: Conversation, conversations: Sequence[Conversation]) -> list[Case]:
    """Its own questions, and some of the others of `conversations`."""
    number = conversation.number
    at = max(message.occurred_at for message in conversation.messages if message.occurred_at is not None)
    others = [question for other in conversations if other is not conversation for question in other.questions]
    foreign = random.Random(number).sample(others, min(FOREIGN, len(others)))
    asked = [(question, False) for question in conversation.questions] + [(question, True) for question in foreign]
    with progress("questions") as bar:
        task = bar.add_task(conversation.name, total=len(asked))
        cases = []
        for question, of_another in asked:
            cases.append(await _ask(answering, number, question, at, foreign=of_another))
            bar.advance(task)
    return cases


def _rows(cases: Sequence[Case], *, with_vectors: bool) -> tuple[Floats, Floats]:
    """Signals (n, signals) and whether an answer should be given (n,)."""
    read = [(case.signals if with_vectors else case.plain, case.answerable) for case in cases]
    rows = [([getattr(signals, name) for name in NAMES], good) for signals, good in read if signals is not None]
    matrix = np.array([row for row, _ in rows])
    return matrix if with_vectors else matrix[:, WITHOUT], np.array([float(good) for _, good in rows])


def fit(rows: Floats, wanted: Floats) -> Floats:
    """The bias and the weights of a logistic regression, by Newton's method."""
    scale = rows.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(rows)), rows / scale])
    weights = np.zeros(design.shape[1])
    penalty = RIDGE * np.eye(len(weights))
    penalty[0, 0] = 0.0
    for _ in range(STEPS):
        likely = 1.0 / (1.0 + np.exp(-design @ weights))
        slope = design.T @ (wanted - likely) - penalty @ weights
        weights += np.linalg.solve((design.T * (likely * (1.0 - likely))) @ design + penalty, slope)
    return np.concatenate([weights[:1], weights[1:] / scale])


def _left_out(cases: Sequence[Case], *, with_vectors: bool) -> tuple[list[Case], list[float]]:
    """Each case with its confidence by a fit on the other conversations."""
    kept: list[Case] = []
    sure: list[float] = []
    for number in sorted({case.conversation for case in cases}):
        weights = fit(*_rows([case for case in cases if case.conversation != number], with_vectors=with_vectors))
        mine = [c for c in cases if c.conversation == number and (c.signals if with_vectors else c.plain) is not None]
        odds = weights[0] + _rows(mine, with_vectors=with_vectors)[0] @ weights[1:]
        kept += mine
        sure += (1.0 / (1.0 + np.exp(-odds))).tolist()
    return kept, sure


def _show_fit(title: str, cases: Sequence[Case], *, with_vectors: bool) -> None:
    names = NAMES if with_vectors else [NAMES[place] for place in WITHOUT]
    weights = fit(*_rows(cases, with_vectors=with_vectors))
    print(f"\n{title}: bias {weights[0]:.2f}", *(f"{n} {w:.2f}" for n, w in zip(names, weights[1:], strict=True)))
    if len({case.conversation for case in cases}) > 1:
        _show_groups("left out", *_left_out(cases, with_vectors=with_vectors))


def _show_groups(title: str, cases: Sequence[Case], sure: Sequence[float]) -> None:
    """How well the confidences tell questions that should be answered from the others."""
    groups = {"answerable": [], "category 5": [], "foreign": []}  # type: dict[str, list[float]]
    for case, value in zip(cases, sure, strict=True):
        groups["answerable" if case.answerable else "foreign" if case.foreign else "category 5"].append(value)
    for name, values in groups.items():
        if not values:
            continue
        figure = "" if name == "answerable" else f"AUROC {auroc(values, groups['answerable']) or 0.0:.3f}, "
        share = mean([float(value < THRESHOLD) for value in values]) or 0.0
        print(f"  {title}, {name}: {len(values)} questions, {figure}refused at {THRESHOLD}: {share:.3f}")


def _show_risk(cases: Sequence[Case]) -> None:
    """Of the surest answers: how good they are. Questions that were refused count as the least sure of all."""
    asked = [case for case in cases if not case.foreign]
    ranked = sorted(asked, key=lambda case: (not case.said.abstained, case.said.confidence), reverse=True)
    print("\ncoverage  least confidence  F1 of answers  share of unanswerable ones")
    for coverage in COVERAGES:
        given = ranked[: max(1, round(coverage * len(ranked)))]
        scores = [word_f1(case.expected, case.said.text or "") if case.expected else 0.0 for case in given]
        traps = mean([float(not case.answerable) for case in given]) or 0.0
        print(f"{coverage:8.1f}  {given[-1].said.confidence:16.3f}  {mean(scores) or 0.0:13.3f}  {traps:.3f}")


def _show_answers(cases: Sequence[Case]) -> None:
    """Word F1 of answerable questions, by the data's category and by what they were read to ask for."""
    print("\nanswerable questions       n     F1  refused")
    answerable = [case for case in cases if case.answerable]
    groups = {"all": answerable}
    for case in sorted(answerable, key=lambda case: (case.category, case.asks)):
        groups.setdefault(f"category {case.category}", []).append(case)
        groups.setdefault(f"asks {case.asks}", []).append(case)
    for name, group in groups.items():
        scores = [word_f1(case.expected or "", case.said.text or "") for case in group]
        refused = mean([float(case.said.abstained) for case in group]) or 0.0
        print(f"{name:22} {len(group):5}  {mean(scores) or 0.0:.3f}  {refused:7.2f}")


async def _run(data: Path, numbers: Sequence[int], folder: Path) -> None:
    dataset = load(data)
    conversations = dataset.pick(numbers)
    cases: list[Case] = []
    for conversation in conversations:
        async with remembered(folder, conversation, dataset.sha256) as container:
            cases += await _cases(container.services.answering, conversation, conversations)
    print("as the service is set:")
    _show_groups("of all", cases, [case.said.confidence for case in cases])
    _show_fit("with vectors of words", cases, with_vectors=True)
    _show_fit("without", cases, with_vectors=False)
    _show_risk(cases)
    _show_answers(cases)


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", default="")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    numbers = [int(number) for number in given.conversations.split(",") if number]
    asyncio.run(_run(given.data, numbers, given.folder))


if __name__ == "__main__":
    main()
