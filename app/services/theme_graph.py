"""The hierarchy of a namespace as a graph: themes, statements, episodes and messages, and how they hang together."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from app.domain.audit import Act
from app.domain.episodes import Episode
from app.domain.errors import TooLarge
from app.domain.graphml import Edge, Node, Relation, Value, render
from app.domain.ids import ThemeId
from app.domain.keyphrases import shorten
from app.domain.levels import Level
from app.domain.neighbours import neighbours
from app.domain.records import Theme
from app.storage.hierarchy import NO_CENTROIDS, Centroids, Glimpse, Stated, Support
from app.storage.unit_of_work import Clock, ReadUnit, Storage

MOST = 50_000  # nodes and edges of a graph: so many take some 200 MB and seconds of a core to write
NEIGHBOURS = 5  # nearest themes that a theme has an edge to
LABEL_CHARACTERS = 60  # of what stands beside a node's dot
AT_ONCE = 500  # rows of a page

ItemT = TypeVar("ItemT", Theme, Episode)


@dataclass(frozen=True, slots=True)
class _Memory:
    """What a graph is drawn from. Levels that are not wanted are empty."""

    about: Mapping[str, Value]
    themes: Sequence[Theme] = ()
    spans: Mapping[ThemeId, tuple[datetime, datetime]] = field(default_factory=dict)
    centroids: Centroids = NO_CENTROIDS
    statements: Sequence[Stated] = ()
    support: Sequence[Support] = ()
    episodes: Sequence[Episode] = ()
    messages: Sequence[Glimpse] = ()


@dataclass(frozen=True, slots=True)
class ThemeGraph:
    """Exports the hierarchy. One graph at a time in a process: what it takes of memory is bounded."""

    storage: Storage
    clock: Clock
    most: int = MOST
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def graphml(self, namespace: str, levels: Collection[Level]) -> bytes:
        """What a namespace remembers now, as GraphML. Raises NotFound; TooLarge if it may be larger than `most`."""
        async with self.turn:
            async with self.storage.read(namespace) as unit:
                size = await _most(unit, frozenset(levels))
                if size > self.most:
                    limit = f"{self.most} are the limit: ask for fewer levels"
                    raise TooLarge(f"the graph may have {size} nodes and edges, {limit}")
                memory = await _read(unit, levels)
            await self.storage.record(Act.EXPORT_THEMES, self.clock(), namespace)
            return await asyncio.to_thread(_draw, memory)


async def _most(unit: ReadUnit, levels: frozenset[Level]) -> int:
    """How many nodes and edges a graph may have: all that can be told without reading it."""
    citations = await unit.hierarchy.count_citations()
    nodes = {
        Level.THEME: (await unit.themes.counts())[0],
        Level.STATEMENT: await unit.statements.count(),
        Level.EPISODE: (await unit.episodes.counts())[0],
        Level.MESSAGE: (await unit.messages.counts())[0],
    }
    edges = (
        ({Level.THEME}, nodes[Level.THEME] * NEIGHBOURS),
        ({Level.THEME, Level.STATEMENT}, nodes[Level.STATEMENT]),
        ({Level.STATEMENT, Level.MESSAGE}, citations),
        ({Level.STATEMENT, Level.EPISODE}, citations),
        ({Level.MESSAGE, Level.EPISODE}, nodes[Level.MESSAGE]),
    )
    return sum(nodes[level] for level in levels) + sum(count for ends, count in edges if ends <= levels)


async def _read(unit: ReadUnit, levels: Collection[Level]) -> _Memory:
    memory = _Memory({"namespace": unit.namespace.name, "revision": unit.namespace.revision})
    if Level.THEME in levels:
        memory = replace(
            memory,
            themes=await _every(unit.themes.page),
            spans=await unit.hierarchy.spans(),
            centroids=await unit.hierarchy.centroids(),
        )
    if Level.STATEMENT in levels:
        memory = replace(memory, statements=await unit.hierarchy.statements(), support=await unit.hierarchy.support())
    if Level.EPISODE in levels:
        memory = replace(memory, episodes=await _every(unit.episodes.page))
    if Level.MESSAGE in levels:
        memory = replace(memory, messages=await unit.hierarchy.glimpses())
    return memory


async def _every(page: Callable[[UUID | None, int], Awaitable[Sequence[ItemT]]]) -> Sequence[ItemT]:
    found: list[ItemT] = []
    after: UUID | None = None
    while items := await page(after, AT_ONCE):
        found += items
        after = items[-1].id
    return found


def _draw(memory: _Memory) -> bytes:
    nodes = [*_nodes(memory)]
    there = {node.id for node in nodes}
    edges = {(edge.source, edge.target): edge for edge in _edges(memory) if {edge.source, edge.target} <= there}
    return render(memory.about, nodes, edges.values())


def _nodes(memory: _Memory) -> Iterator[Node]:
    for theme in memory.themes:
        more = {} if theme.id not in memory.spans else _span(*memory.spans[theme.id])
        summary = {} if theme.summary is None else {"text": theme.summary}
        yield Node(theme.id, Level.THEME, theme.label, theme.size, {**summary, **more})
    for one in memory.statements:
        more = {"text": one.text, "kind": one.kind, "support": one.support, **_span(one.occurred_at, one.occurred_at)}
        yield Node(one.id, Level.STATEMENT, shorten(one.text, LABEL_CHARACTERS), one.support, more)
    for episode in memory.episodes:
        more = {"text": episode.narrative, **_span(episode.started_at, episode.ended_at)}
        yield Node(episode.id, Level.EPISODE, episode.title, episode.message_count, more)
    for message in memory.messages:
        label = shorten(f"{message.speaker}: {message.beginning}", LABEL_CHARACTERS)
        more = {"sequence": message.sequence, **_span(message.occurred_at, message.occurred_at)}
        yield Node(message.id, Level.MESSAGE, label, 1, more)


def _span(first: datetime, last: datetime) -> dict[str, Value]:
    return {"first": first.isoformat(), "last": last.isoformat()}


def _edges(memory: _Memory) -> Iterator[Edge]:
    """All that there may be: some may be doubled, or lead to a level that is not wanted."""
    for statement in memory.statements:
        if statement.theme is not None:
            yield Edge(statement.theme, statement.id, Relation.CONTAINS)
    for cited in memory.support:
        yield Edge(cited.statement, cited.message, Relation.CITES)
        if cited.episode is not None:
            yield Edge(cited.statement, cited.episode, Relation.IN_EPISODE)
    for message in memory.messages:
        if message.episode is not None:
            yield Edge(message.id, message.episode, Relation.IN_EPISODE)
    yield from _between_themes(memory.centroids)


def _between_themes(centroids: Centroids) -> Iterator[Edge]:
    """From each theme to those nearest to it, once where both are near to one another."""
    ids, drawn = centroids.ids, set[tuple[int, int]]()
    for own, near in enumerate(neighbours(centroids.matrix, range(len(ids)), NEIGHBOURS)):
        for other, cosine in near:
            pair = min(own, other), max(own, other)
            if cosine > 0 and pair not in drawn:
                drawn.add(pair)
                yield Edge(ids[pair[0]], ids[pair[1]], Relation.NEIGHBOUR, round(cosine, 4))
