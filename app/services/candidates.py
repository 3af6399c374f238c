"""Candidates: for each level, what may answer a question, with all signals that ranking needs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain import bm25
from app.domain.filters import Filter
from app.domain.fusion import DEFAULT, Pool, Signal
from app.domain.ids import MessageId, StatementId
from app.domain.levels import Level
from app.domain.questions import Question
from app.domain.text import terms
from app.domain.vectors import Vector
from app.storage.embeddings import Nearest
from app.storage.filters import within
from app.storage.messages import Place
from app.storage.unit_of_work import ReadUnit
from app.storage.words import Occurrences

POOL = 200  # best of each signal; ranking a pool of these loses nothing against ranking everything


@dataclass(frozen=True, slots=True)
class Candidates:
    """One level's candidates: `ids` and the `pool`'s arrays are parallel; `allowed` (n,) may be returned.

    Those not allowed are there because ranking looks at neighbours.
    """

    level: Level
    ids: tuple[UUID, ...]
    pool: Pool
    allowed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Where:
    """Where an item stands in its conversation: what is near it, and which day it was."""

    conversation: UUID
    day: date
    position: int
    speaker: str | None


async def gather(unit: ReadUnit, level: Level, question: Question, vector: Vector | None, limits: Filter) -> Candidates:
    """The candidates of one level: the best by vectors, the best by words, and what stands beside them."""
    if level is Level.THEME:
        return await _themes(unit, vector, limits)
    matching = within(level, limits)
    nearest = Nearest({}, 0.0, 0.0, 0)
    if vector is not None:
        nearest = await unit.embeddings.nearest(level, vector, POOL, matching)
    found = await unit.words.lookup(level, _asked(question), matching)
    words = _words(found)
    best = sorted(words, key=lambda item: (-words[item], item))[:POOL]
    where = await _places(unit, level, dict.fromkeys([*nearest.similarities, *best]))
    cosines = dict(nearest.similarities)
    if vector is not None:
        missing = [item for item in where if item not in cosines]
        cosines |= await unit.embeddings.similarities(level, vector, missing)
    return Candidates(
        level,
        tuple(where),
        _pool(where, cosines, words, nearest, found, question),
        await _allowed(unit, where, limits) if level is Level.MESSAGE else np.ones(len(where), dtype=np.bool_),
    )


def _asked(question: Question) -> list[str]:
    """The words to look for. A speaker's name stands in all they say: it counts as a signal of its own."""
    of_names = {term for name in question.names for term in terms(name)}
    asked = terms(question.text)
    return [term for term in asked if term not in of_names] or asked


async def _themes(unit: ReadUnit, vector: Vector | None, limits: Filter) -> Candidates:
    """Themes have a centroid and a label, and no words of their own: only vectors find them."""
    matching = within(Level.THEME, limits)
    near = [] if vector is None else await unit.themes.nearest(vector, POOL, within=matching)
    cosines = np.array([closeness for _, closeness in near], dtype=np.float64)
    mean, deviation = (float(cosines.mean()), float(cosines.std())) if near else (0.0, 0.0)
    pool = Pool(
        cosine=Signal(cosines, mean, deviation, len(near)),
        words=Signal.sparse(np.zeros(len(near)), len(near)),
        named=np.zeros(len(near), dtype=np.bool_),
        group=np.arange(len(near), dtype=np.intp),
        position=np.zeros(len(near), dtype=np.intp),
    )
    return Candidates(Level.THEME, tuple(theme for theme, _ in near), pool, np.ones(len(near), dtype=np.bool_))


def _words(found: Occurrences) -> Mapping[UUID, float]:
    return dict(zip(found.items, bm25.score(found.postings).tolist(), strict=True))


async def _allowed(unit: ReadUnit, ids: Collection[UUID], limits: Filter) -> NDArray[np.bool_]:
    matching = await unit.messages.matching((MessageId(item) for item in ids), limits)
    return np.array([item in matching for item in ids], dtype=np.bool_)


async def _places(unit: ReadUnit, level: Level, core: Mapping[UUID, None]) -> Mapping[UUID, _Where]:
    """Where each candidate stands; for messages, their neighbours join the candidates."""
    if level is Level.MESSAGE:
        places = await unit.messages.places(MessageId(item) for item in core)
        around = await unit.messages.around(places, DEFAULT.reach)
        return {place.id: _of_message(place) for place in around}
    if level is Level.STATEMENT:
        first = await unit.statements.first_cited(StatementId(item) for item in core)
        places = await unit.messages.places(first.values())
        of_message = {place.id: _of_message(place) for place in places}
        return {statement: of_message[message] for statement, message in first.items()}
    # An episode stands alone: its neighbours are other matters.
    return {item: _Where(item, date.min, 0, None) for item in core}


def _of_message(place: Place) -> _Where:
    return _Where(place.conversation, place.occurred_at.date(), place.position, place.speaker)


def _pool(
    where: Mapping[UUID, _Where],
    cosines: Mapping[UUID, float],
    words: Mapping[UUID, float],
    nearest: Nearest,
    found: Occurrences,
    question: Question,
) -> Pool:
    groups: dict[tuple[UUID, date], int] = {}
    for place in where.values():
        groups.setdefault((place.conversation, place.day), len(groups))
    all_words = Signal.sparse(np.array(list(words.values()), dtype=np.float64), found.postings.documents)
    return Pool(
        # A message that waits for its vector is taken for an average one.
        cosine=Signal(
            np.array([cosines.get(item, nearest.mean) for item in where], dtype=np.float64),
            nearest.mean,
            nearest.deviation,
            nearest.count,
        ),
        words=Signal(
            np.array([words.get(item, 0.0) for item in where], dtype=np.float64),
            all_words.mean,
            all_words.deviation,
            all_words.count,
        ),
        named=np.array([place.speaker in question.names for place in where.values()], dtype=np.bool_),
        group=np.array([groups[place.conversation, place.day] for place in where.values()], dtype=np.intp),
        position=np.array([place.position for place in where.values()], dtype=np.intp),
    )
