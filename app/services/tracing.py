"""The trace of a search: all that led to what was handed out, so that every decision can be drawn again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from app.domain.expansion import Opened, Probe
from app.domain.fusion import Floats, Signal
from app.domain.levels import Level
from app.domain.packing import Item
from app.domain.questions import Question
from app.services.candidates import Candidates
from app.services.expansion import Expanded
from app.services.ranking import LOADED

Key = tuple[Level, UUID]


@dataclass(frozen=True, slots=True)
class Steps:
    """How far each candidate came: among the statements `considered`, `read` as one that stays, and on to the gate."""

    pools: Sequence[Candidates]
    scores: Sequence[Floats]
    considered: Collection[UUID]
    read: Collection[Item]
    expanded: Expanded


def trace(question: Question, steps: Steps) -> Mapping[str, Any]:
    """The whole way, as JSON. Numbers of the signals are rounded to 4 places, scores and uncertainties to 6."""
    fates = _fates(steps)
    return {
        "question": {"asks": question.asks.value, "names": list(question.names), "words": list(question.words)},
        "levels": {one.level.value: _level(one) for one in steps.pools},
        "candidates": [
            _candidate(candidates, index, float(values[index]), fates)
            for candidates, values in zip(steps.pools, steps.scores, strict=True)
            for index in np.argsort(-values, kind="stable")[:LOADED]
        ],
        "representatives": [str(item.id) for item in steps.read if item.level is Level.STATEMENT],
        "gate": _gate(steps.expanded.opened),
        "packed": [{"level": item.level.value, "id": str(item.id)} for item in steps.expanded.items],
    }


def _level(candidates: Candidates) -> Mapping[str, Any]:
    """What the signals of the level look like: a score cannot be told from one item alone."""
    return {
        "candidates": len(candidates.ids),
        "cosine": _spread(candidates.pool.cosine),
        "words": _spread(candidates.pool.words),
    }


def _spread(signal: Signal) -> Mapping[str, float]:
    return {"mean": round(signal.mean, 4), "deviation": round(signal.deviation, 4), "count": signal.count}


def _candidate(candidates: Candidates, index: int, score: float, fates: Mapping[Key, str]) -> Mapping[str, Any]:
    pool, key = candidates.pool, (candidates.level, candidates.ids[index])
    late = np.nan if pool.late is None else float(pool.late[index])
    fate = fates.get(key, "not_read") if candidates.allowed[index] else "filtered"
    return {
        "level": candidates.level.value,
        "id": str(candidates.ids[index]),
        "cosine": round(float(pool.cosine.values[index]), 4),
        "words": round(float(pool.words.values[index]), 4),
        "late": None if np.isnan(late) else round(late, 4),
        "named": bool(pool.named[index]),
        "score": round(score, 6),
        "fate": fate,
        "packed": fate == "packed",
    }


def _fates(steps: Steps) -> Mapping[Key, str]:
    """What became of everything that was considered, by the last step that it came to."""
    fates = dict.fromkeys(((Level.STATEMENT, id_) for id_ in steps.considered), "not_representative")
    fates |= dict.fromkeys(map(_key, steps.read), "over_count")
    fates |= dict.fromkeys(map(_key, steps.expanded.spelled_out), "spelled_out")
    fates |= dict.fromkeys(map(_key, steps.expanded.offered), "passed_over")  # no room, nothing new, or not tested
    fates |= {_key(probe.item): probe.verdict.value for probe in steps.expanded.opened.tests}
    return fates | dict.fromkeys(map(_key, steps.expanded.items), "packed")


def _gate(opened: Opened) -> Mapping[str, Any]:
    return {"measure": opened.measure.value, "failed": opened.failed, "probes": [_probe(one) for one in opened.tests]}


def _probe(probe: Probe) -> Mapping[str, Any]:
    return {
        "level": probe.item.level.value,
        "id": str(probe.item.id),
        "measure": probe.measure.value,
        "before": round(probe.before, 6),
        "after": round(probe.after, 6),
        "gain": round(probe.gain, 6),
        "tokens": probe.tokens,
        "reason": probe.verdict.value,
    }


def _key(item: Item) -> Key:
    return item.level, item.id
