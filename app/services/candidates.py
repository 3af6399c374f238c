"""Candidates: for each level, what may answer a question, with all signals that ranking needs."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.domain.filters import Filter
from app.domain.fusion import DEFAULT, Pool, Signal, fused, timely
from app.domain.ids import MessageId, StatementId
from app.domain.late import WORD_LEVELS, AskedWords, WordVectors, matches
from app.domain.levels import Level
from app.domain.questions import Question
from app.domain.text import terms
from app.domain.vectors import Vector
from app.providers.protocols import Asked
from app.storage.embeddings import Nearest
from app.storage.filters import within
from app.storage.messages import Place
from app.storage.unit_of_work import ReadUnit
from app.storage.words import Matches

POOL = 200  # best of each signal; ranking a pool of these loses nothing against ranking everything
COMPARED = 120  # best of a level whose words are compared with the question's; from 80 on recall hardly moves


@dataclass(frozen=True, slots=True)
class Candidates:
    """One level's candidates: `ids` and all arrays (n,) are parallel; those `allowed` may be returned.

    Those not allowed are there because ranking looks at neighbours. `speakers` said them (of a statement, its first
    cited message), None where that is nobody. `words` are those that late interaction compared.
    """

    level: Level
    ids: tuple[UUID, ...]
    pool: Pool
    allowed: NDArray[np.bool_]
    speakers: tuple[str | None, ...]
    words: Mapping[UUID, WordVectors] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordByWord:
    """What late interaction found among the messages; nothing where no words are kept of any.

    `asked` are the words of the question without speakers' names. For each message that was compared: its match
    in [-1, 1], who said it, and its words, as `late.content_spans` counts them.
    """

    asked: AskedWords | None = None
    matches: Mapping[UUID, float] = field(default_factory=dict)
    speakers: Mapping[UUID, str | None] = field(default_factory=dict)
    words: Mapping[UUID, WordVectors] = field(default_factory=dict)


def word_by_word(pools: Iterable[Candidates], question: Question, asked: Asked | None) -> WordByWord:
    """What was compared among messages."""
    messages = next((one for one in pools if one.level is Level.MESSAGE), None)
    if messages is None or not messages.words or messages.pool.late is None or asked is None or asked.words is None:
        return WordByWord()
    said = zip(messages.ids, messages.speakers, messages.pool.late.tolist(), strict=True)
    compared = {id_: (speaker, match) for id_, speaker, match in said if id_ in messages.words}
    return WordByWord(
        asked.words.without(question.names),
        {id_: match for id_, (_, match) in compared.items()},
        {id_: speaker for id_, (speaker, _) in compared.items()},
        messages.words,
    )


@dataclass(frozen=True, slots=True)
class _Where:
    """Where an item stands in its conversation: what is near it, and which day it was."""

    conversation: UUID
    day: date
    position: int
    speaker: str | None


async def gather(unit: ReadUnit, level: Level, question: Question, asked: Asked | None, limits: Filter) -> Candidates:
    """The candidates of one level: the best by vectors, the best by words, and what stands beside them.

    The best of those are compared word by word where the model told words apart.
    """
    vector = None if asked is None else asked.vector
    if level is Level.THEME:
        return await _themes(unit, vector, limits)
    matching = within(level, limits)
    nearest = Nearest({}, 0.0, 0.0, 0)
    if vector is not None:
        nearest = await unit.embeddings.nearest(level, vector, POOL, matching)
    formula = await unit.words.formula(level, _asked(question))
    found = await unit.words.best(level, formula, POOL, matching)
    where = await _places(unit, level, dict.fromkeys([*nearest.similarities, *found.scores]))
    # Only neighbours of messages can be beside what was asked for; else a list that is not full holds all there is.
    may_be_outside = level is Level.MESSAGE and matching is not None
    cosines, words = dict(nearest.similarities), dict(found.scores)
    if vector is not None and (may_be_outside or len(cosines) == POOL):
        cosines |= await unit.embeddings.similarities(level, vector, where.keys() - cosines)
    if may_be_outside or len(words) == POOL:
        words |= await unit.words.scores(level, formula, where.keys() - words)
    candidates = Candidates(
        level,
        tuple(where),
        _pool(where, cosines, nearest, words, found, question),
        await _allowed(unit, where, limits) if level is Level.MESSAGE else np.ones(len(where), dtype=np.bool_),
        tuple(place.speaker for place in where.values()),
    )
    if asked is None or asked.words is None or level not in WORD_LEVELS:
        return candidates
    return await _compared(unit, candidates, asked.words.without(question.names))


async def _compared(unit: ReadUnit, candidates: Candidates, asked: AskedWords) -> Candidates:
    """The candidates with how well the best of them meet the words of the question."""
    best = np.argsort(-fused(candidates.pool), kind="stable")[:COMPARED]
    words = await unit.embeddings.words(candidates.level, (candidates.ids[place] for place in best))
    late = np.full(len(candidates.ids), np.nan)
    there = [place for place in best if candidates.ids[place] in words]
    late[there] = matches(asked, [words[candidates.ids[place]] for place in there])
    is_best = np.zeros(len(late), dtype=np.bool_)
    is_best[best] = True
    return replace(candidates, pool=replace(candidates.pool, late=late, compared=is_best), words=words)


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
    ids = tuple(theme for theme, _ in near)
    return Candidates(Level.THEME, ids, pool, np.ones(len(ids), dtype=np.bool_), (None,) * len(ids))


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
    nearest: Nearest,
    words: Mapping[UUID, float],
    found: Matches,
    question: Question,
) -> Pool:
    groups: dict[tuple[UUID, date], int] = {}
    for place in where.values():
        groups.setdefault((place.conversation, place.day), len(groups))
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
            found.mean,
            found.deviation,
            found.count,
        ),
        named=np.array([place.speaker in question.names for place in where.values()], dtype=np.bool_),
        group=np.array([groups[place.conversation, place.day] for place in where.values()], dtype=np.intp),
        position=np.array([place.position for place in where.values()], dtype=np.intp),
        timely=timely([place.day for place in where.values()], [(when.start, when.end) for when in question.dates]),
    )
