"""The questions whose evidence was missed most, with what was handed out instead. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.evaluation.reporting.parts import Cell, Table, share, words
from app.evaluation.reporting.series import Series
from app.evaluation.run_folder import Key, Question, Searched, Traced

ITEMS, CANDIDATES = 10, 12  # that are shown of a trace
LETTERS = 400  # of a text; the whole stands in the run's folder
ID = 8  # last letters of an id, enough to find it in the same trace


@dataclass(frozen=True, slots=True)
class Clue:
    """A message that carries the answer. `fate`: `found`, `missed`, or nothing where no trace tells."""

    id: str
    text: str
    fate: str


@dataclass(frozen=True, slots=True)
class Missed:
    """A question with less than all of its evidence. Texts are empty where the run did not keep them."""

    place: str
    category: str
    text: str
    expected: str
    recall: str
    evidence: Sequence[Clue]
    traces: Sequence[Table]


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst questions of a series."""

    label: str
    questions: Sequence[Missed]


def worst(all_series: Sequence[Series], budget: int, most: int) -> list[Worst]:
    """For each series the `most` questions with the lowest recall at the budget; those found whole are left out."""
    found = [Worst(series.label, _worst(series, budget, most)) for series in all_series]
    return [one for one in found if one.questions]


def _worst(series: Series, budget: int, most: int) -> list[Missed]:
    missed = [row for row in series.at(budget) if (row.scores.get("recall") or 0.0) < 1]
    traces = {(t.conversation, t.question): t for t in series.run.traces if _is_of(t, series, budget)}
    missed.sort(key=lambda row: (row.scores.get("recall") or 0.0, row.key not in traces, row.key))
    return [_missed(row, series.run.questions, traces.get(row.key)) for row in missed[:most]]


def _is_of(traced: Traced, series: Series, budget: int) -> bool:
    return (traced.strategy, traced.budget) == (series.strategy, budget)


def _missed(row: Searched, questions: Mapping[Key, Question], traced: Traced | None) -> Missed:
    asked = questions.get(row.key)
    return Missed(
        place=f"{row.conversation}/{row.question}",
        category=row.category,
        text=asked.text if asked else traced.text if traced else "",
        expected=(asked.expected if asked else traced.expected if traced else None) or "",
        recall=share(row.scores.get("recall") or 0.0),
        evidence=_evidence(asked, traced),
        traces=[] if traced is None else _traces(traced),
    )


def _evidence(asked: Question | None, traced: Traced | None) -> list[Clue]:
    texts = {one.id: cut(one.text) for one in asked.evidence} if asked else {}
    if traced is None:
        return [Clue(id_, text, "") for id_, text in texts.items()]
    return [Clue(id_, texts.get(id_, ""), "missed" if id_ in traced.missing else "found") for id_ in traced.evidence]


def _traces(traced: Traced) -> list[Table]:
    items = Table(
        f"Handed out, best first{_of(len(traced.items), ITEMS)}.",
        ("level", "score", "tokens", "messages", "text"),
        [
            words(item.level, share(item.score), item.tokens, ", ".join(item.messages), cut(item.text))
            for item in traced.items[:ITEMS]
        ],
    )
    candidates = [one for one in traced.trace.get("candidates") or () if isinstance(one, Mapping)]
    candidates.sort(key=lambda one: -float(one.get("score") or 0))
    read = Table(
        f"Candidates, best first{_of(len(candidates), CANDIDATES)}: their signals, and what became of them.",
        ("level", "id", "cosine", "words", "late", "score", "fate"),
        [_candidate(one) for one in candidates[:CANDIDATES]],
    )
    probes = [one for one in (traced.trace.get("gate") or {}).get("probes") or () if isinstance(one, Mapping)]
    gate = Table(
        f"The gate: uncertainty before and after each item{_of(len(probes), CANDIDATES)}.",
        ("level", "id", "before", "after", "tokens", "reason"),
        [_probe(one) for one in probes[:CANDIDATES]],
    )
    return [table for table in (items, read, gate) if table.rows]


def _candidate(one: Mapping[str, Any]) -> list[Cell]:
    signals = [one.get(name) for name in ("cosine", "words", "late", "score")]
    return words(one.get("level", ""), str(one.get("id", ""))[-ID:], *map(_number, signals), one.get("fate", ""))


def _probe(one: Mapping[str, Any]) -> list[Cell]:
    sizes = (_number(one.get("before")), _number(one.get("after")), one.get("tokens", ""), one.get("reason", ""))
    return words(one.get("level", ""), str(one.get("id", ""))[-ID:], *sizes)


def _number(value: object) -> str:
    return share(value) if isinstance(value, int | float) and abs(value) < 1000 else "" if value is None else str(value)


def _of(count: int, most: int) -> str:
    return f", the first {most} of {count}" if count > most else ""


def cut(text: str) -> str:
    """A text's first LETTERS."""
    return text if len(text) <= LETTERS else f"{text[:LETTERS].rstrip()} …"
