"""How long a search takes in namespaces of 1,000, 10,000 and 100,000 messages, on both databases.

    python -m tests.benchmarks.latency [--messages 1000 10000] [--searches 40] [--databases sqlite postgres]

A message has about twenty words of a vocabulary of 20,000, as frequent as words are; every message has a statement,
twenty have an episode. All are written straight into the tables, with hash vectors of MiniLM's size, so the time
of an embedding model is not in the figures; a question of five words is asked, one at a time.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import numpy as np
from rich.console import Console
from rich.table import Table

from app.container import Container, build
from app.domain.episodes import BoundaryReason, Episode
from app.domain.ids import EpisodeId, MessageId, StatementId
from app.domain.late import WIDTH, Embedding
from app.domain.levels import Level
from app.domain.messages import Message, Role
from app.domain.provenance import MadeBy
from app.domain.records import Origin, Statement
from app.domain.text import terms
from app.evaluation.metrics import percentile
from app.evaluation.terminal import progress
from app.main import keep_what_is_loaded
from app.services.search import Ask, Strategy
from app.settings import Settings
from app.storage.repository import new_id
from app.storage.statements import Keys
from app.storage.unit_of_work import WriteUnit
from tests.servers import new_database

DIMENSION = 384  # MiniLM's
VOCABULARY = 20_000
WORDS = 20  # of a message
ASKED = 5  # words of a question
EPISODE = 20  # messages
BATCH = 1000  # messages of one transaction
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprt" for vowel in "aou"]
STRATEGIES = (Strategy.ADAPTIVE, Strategy.HYBRID, Strategy.BM25, Strategy.VECTOR)
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
MADE = MadeBy("benchmark", "1")


def _word(number: int) -> str:
    """Letters alone: with figures in it, it would be found by its parts too, and they would be in every message."""
    return "".join(SYLLABLES[number // len(SYLLABLES) ** place % len(SYLLABLES)] for place in range(4))


class Filling:
    """Makes messages, and what the service would have drawn from them."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)
        frequency = 1.0 / np.arange(1, VOCABULARY + 1)
        self._frequency = frequency / frequency.sum()

    def text(self, words: int) -> str:
        """So many words."""
        return " ".join(_word(number) for number in self._random.choice(VOCABULARY, words, p=self._frequency))

    def embeddings(self, count: int) -> list[Embedding]:
        """Vectors as far apart as unrelated texts' are."""
        vectors = self._random.standard_normal((count, DIMENSION)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        words = self._random.integers(-40, 40, (count, WORDS, WIDTH), dtype=np.int8)
        return [Embedding(vector, of) for vector, of in zip(vectors, words, strict=True)]

    async def write(self, unit: WriteUnit, first: int, count: int) -> None:
        """Messages `first` to `first + count - 1` of a conversation, in episodes of their own."""
        conversation = await unit.messages.get_or_create_conversation("talk", BEGINNING)
        said = [
            Message(
                id=MessageId(new_id()),
                conversation=conversation,
                sequence=number,
                role=Role.USER,
                content=self.text(WORDS),
                occurred_at=BEGINNING + timedelta(minutes=number),
                recorded_at=BEGINNING,
                position=number,
                speaker=("Ada", "Ben")[number % 2],
            )
            for number in range(first, first + count)
        ]
        await unit.messages.add([(message, "") for message in said])
        await unit.words.add(Level.MESSAGE, {message.id: terms(message.content) for message in said})
        await self._embed(unit, Level.MESSAGE, [message.id for message in said])
        await self._draw(unit, said)
        for start in range(0, count, EPISODE):
            await self._tell(unit, said[start : start + EPISODE])

    async def _draw(self, unit: WriteUnit, said: Sequence[Message]) -> None:
        drawn = [
            Statement(
                id=StatementId(new_id()),
                text=f"{message.who} said: {message.content}",
                kind="fact",
                origin=Origin.EXTRACTIVE,
                support=1,
                theme=None,
                occurred_at=message.occurred_at,
                valid_from=None,
                valid_to=None,
                superseded_by=None,
                made_by=MADE,
                recorded_at=BEGINNING,
                messages=(message.id,),
            )
            for message in said
        ]
        await unit.statements.add([(statement, Keys(statement.text, None)) for statement in drawn])
        await unit.words.add(Level.STATEMENT, {statement.id: terms(statement.text) for statement in drawn})
        await self._embed(unit, Level.STATEMENT, [statement.id for statement in drawn])

    async def _tell(self, unit: WriteUnit, said: Sequence[Message]) -> None:
        episode = Episode(
            id=EpisodeId(new_id()),
            conversation=said[0].conversation,
            title=self.text(3),
            narrative=self.text(60),
            message_count=len(said),
            tokens=len(said) * WORDS,
            first_sequence=said[0].sequence,
            last_sequence=said[-1].sequence,
            started_at=said[0].occurred_at,
            ended_at=said[-1].occurred_at,
            boundary_reason=BoundaryReason.GAP,
            degraded=False,
            made_by=MADE,
            admitted=True,
        )
        await unit.episodes.add(episode, BEGINNING)
        await unit.messages.assign(episode.id, [message.id for message in said])
        await unit.words.add(Level.EPISODE, {episode.id: terms(episode.narrative)})
        await self._embed(unit, Level.EPISODE, [episode.id])

    async def _embed(self, unit: WriteUnit, level: Level, ids: Sequence[MessageId | StatementId | EpisodeId]) -> None:
        made = self.embeddings(len(ids))
        await unit.embeddings.add(level, {id_: [one] for id_, one in zip(ids, made, strict=True)})


async def _fill(container: Container, filling: Filling, have: int, want: int) -> None:
    profile = str(container.embedder.profile)
    with progress("messages") as bar:
        task = bar.add_task(f"{want:,} messages", total=want - have)
        for first in range(have + 1, want + 1, BATCH):
            count = min(BATCH, want + 1 - first)
            async with container.storage.write_or_create("big", profile, BEGINNING) as unit:
                await filling.write(unit, first, count)
                await unit.commit()
            bar.advance(task, count)


async def _times(container: Container, filling: Filling, strategy: Strategy, searches: int) -> list[float]:
    """Milliseconds of each search; the first two are not counted."""
    found = []
    for _ in range(searches + 2):
        ask = Ask(filling.text(ASKED), 2000, strategy)
        begun = time.perf_counter()
        await container.services.search.search("big", ask)
        found.append((time.perf_counter() - begun) * 1000)
    return found[2:]


@asynccontextmanager
async def _service(url: str) -> AsyncIterator[Container]:
    settings = Settings(
        _env_file=None, database_url=url, embedder=f"scripted:{DIMENSION}", worker="off", log_level="warning"
    )
    async with build(settings) as container:
        keep_what_is_loaded()
        yield container


async def run(given: argparse.Namespace, console: Console) -> None:
    """Measure and print a table for each database."""
    for kind in given.databases:
        table = Table(title=f"Search on {kind}, milliseconds, p50 / p95")
        for column in ("messages", *STRATEGIES):
            table.add_column(column, justify="right")
        with new_database(kind) as url:
            async with _service(url) as container:
                have, filling = 0, Filling()
                for want in sorted(given.messages):
                    await _fill(container, filling, have, want)
                    have = want
                    times = [await _times(container, filling, strategy, given.searches) for strategy in STRATEGIES]
                    table.add_row(
                        f"{want:,}", *(f"{percentile(t, 0.5):.0f} / {percentile(t, 0.95):.0f}" for t in times)
                    )
        console.print(table)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--databases", nargs="+", choices=["sqlite", "postgres"], default=["sqlite", "postgres"])
    asyncio.run(run(parser.parse_args(), Console(width=120)))


if __name__ == "__main__":
    main()
