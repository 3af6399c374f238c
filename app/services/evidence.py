"""Evidence: candidates with their texts, ready to be packed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.ids import EpisodeId, MessageId, StatementId, ThemeId
from app.domain.levels import Level
from app.domain.messages import Message, render
from app.domain.packing import Item
from app.domain.recalled import own_words
from app.domain.records import Origin, Statement
from app.services.ranking import Best
from app.storage.unit_of_work import ReadUnit


@dataclass(frozen=True, slots=True)
class Evidence:
    """An item, the messages it rests on, and what else a caller may want to know of it."""

    item: Item
    messages: tuple[Message, ...]
    statement: StatementId | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    degraded: bool = False


async def load(unit: ReadUnit, best: Best) -> Sequence[Evidence]:
    """Read the texts behind scored ids."""
    pieces: list[Evidence] = []
    pieces += await _messages(unit, best.get(Level.MESSAGE, {}))
    pieces += await _statements(unit, best.get(Level.STATEMENT, {}))
    pieces += await _episodes(unit, best.get(Level.EPISODE, {}))
    if Level.THEME in best:
        pieces += await _themes(unit, best[Level.THEME])
    return pieces


async def _messages(unit: ReadUnit, scores: Mapping[UUID, float]) -> Sequence[Evidence]:
    """Messages that say something of their own: context that came back would be handed out again and again."""
    found = await unit.messages.many(MessageId(id_) for id_ in scores)
    return [
        Evidence(
            Item(
                level=Level.MESSAGE,
                id=message.id,
                text=render(message),
                score=scores[message.id],
                occurred_at=message.occurred_at,
                conversation=message.conversation,
                order=message.sequence,
                messages=(message.id,),
            ),
            (message,),
        )
        for message in found.values()
        if message.images or own_words(message.content)
    ]


async def _statements(unit: ReadUnit, scores: Mapping[UUID, float]) -> Sequence[Evidence]:
    found = await unit.statements.many(StatementId(id_) for id_ in scores)
    cited = await unit.messages.many(message for statement in found.values() for message in statement.messages)
    return [
        _of_statement(statement, tuple(cited[message] for message in statement.messages), scores[statement.id])
        for statement in found.values()
    ]


def _of_statement(statement: Statement, cited: tuple[Message, ...], score: float) -> Evidence:
    first = min(cited, key=lambda message: message.sequence)
    item = Item(
        level=Level.STATEMENT,
        id=statement.id,
        text=statement.text,
        score=score,
        occurred_at=statement.occurred_at,
        conversation=first.conversation,
        order=first.sequence,
        messages=statement.messages,
        theme=statement.theme,
        corrects=statement.origin is Origin.USER,
    )
    return Evidence(item, cited, statement.id, statement.valid_from, statement.valid_to)


async def _episodes(unit: ReadUnit, scores: Mapping[UUID, float]) -> Sequence[Evidence]:
    found = await unit.episodes.many(EpisodeId(id_) for id_ in scores)
    return [
        Evidence(
            Item(
                level=Level.EPISODE,
                id=episode.id,
                text=f"[{episode.title}] {episode.narrative}",
                score=scores[episode.id],
                occurred_at=episode.started_at,
                conversation=episode.conversation,
                order=episode.first_sequence,
            ),
            (),
            degraded=episode.degraded,
        )
        for episode in found.values()
    ]


async def _themes(unit: ReadUnit, scores: Mapping[UUID, float]) -> Sequence[Evidence]:
    found = await unit.themes.many(ThemeId(id_) for id_ in scores)
    spans = await unit.statements.spans(list(found))
    return [
        Evidence(
            Item(
                level=Level.THEME,
                id=theme.id,
                text=f"[{theme.label}] {theme.summary or ''}".strip(),
                score=scores[theme.id],
                occurred_at=spans[theme.id][1],
                conversation=None,
                order=0,
            ),
            (),
            degraded=theme.degraded,
        )
        for theme in found.values()
        if theme.id in spans
    ]
