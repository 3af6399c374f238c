"""What one maintenance costs, in namespaces of different sizes: its time must not grow with them.

    python -m tests.benchmarks.themes_cost [--database sqlite|postgres] [--sizes 1000,10000,100000] [--rounds 9]

Fills a namespace of each size in bulk, with vectors that form subjects and topics, and the regions that maintenance
makes. Then, round by round and in each namespace in turn, 10 statements of one admission are stored, and the
maintenance that follows is timed: the median of all rounds, and how much of it the database took for what. `found` is
the share of the ten truly nearest themes of these statements that the regions showed to maintenance.
`--examine` lets the doctor look at the result. Namespaces that the server of TEST_POSTGRES_URL has from an earlier run
are used again.
"""

import argparse
import asyncio
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
from rich.console import Console
from rich.table import Table
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.container import Container, build, build_doctor, utc_now
from app.domain.ids import NamespaceId
from app.domain.jobs import Attempt, Unfinished
from app.domain.vectors import Matrix
from app.services.maintenance import Maintenance
from app.services.regions import divide_crowded
from app.settings import Settings
from app.storage import migrate
from tests.admitted import admit
from tests.benchmarks.filling import DIMENSION, World, fill
from tests.servers import database_of, postgres_server

NEW = 10  # statements a round
TOPICS = 4  # that they are about
WARM_UP = 2  # rounds that do not count
NEIGHBOURS = 10
LIMIT = 2.0  # how much longer the largest namespace may take than the smallest
PHASES = ("neighbours", "members", "words", "writing", "other")  # of the database's time


@dataclass(slots=True)
class Clock:
    """Adds up the seconds that the database took, by phase."""

    seconds: Counter[str] = field(default_factory=Counter)
    queries: int = 0

    def start(self, *given: object) -> None:
        """Before a statement, in SQLAlchemy's words: connection, cursor, statement, parameters, context, many."""
        vars(given[4])["begun"] = time.perf_counter()

    def stop(self, *given: object) -> None:
        """After it."""
        self.seconds[_phase(str(given[2]))] += time.perf_counter() - vars(given[4])["begun"]
        self.queries += 1


def _phase(sql: str) -> str:
    if not sql.startswith(("SELECT", "WITH")):
        return "writing"
    tables = set(re.findall(r"(?:FROM|JOIN) (\w+)", sql))
    if "regions" in tables or "<#>" in sql or "inner_product" in sql:
        return "neighbours"
    if tables & {"postings", "messages", "names"}:
        return "words"
    return "members" if tables & {"themes", "statements", "embeddings", "citations"} else "other"


@contextmanager
def _database(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as made:
            yield f"sqlite+aiosqlite:///{Path(made) / 'memory.db'}"
        return
    with postgres_server() as server:
        url = database_of(server, "postgres")
        migrate.upgrade(url.replace("postgresql://", "postgresql+psycopg://", 1))
        yield url


@dataclass(slots=True)
class Patient:
    """A namespace that is measured."""

    id: NamespaceId
    size: int
    world: World
    seconds: list[float] = field(default_factory=list)
    phases: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    queries: list[int] = field(default_factory=list)
    found: list[float] = field(default_factory=list)

    def note(self, seconds: float, clock: Clock) -> None:
        self.seconds.append(seconds)
        self.queries.append(clock.queries)
        for phase in PHASES:
            self.phases[phase].append(clock.seconds[phase])
        self.phases["python"].append(seconds - clock.seconds.total())


async def _remember(built: Container, patient: Patient) -> Matrix:
    """Ten statements of one admission, about a few topics, as admission leaves them."""
    world = patient.world
    about = [int(topic) for topic in world.random.integers(len(world.topics), size=TOPICS)]
    topics = [about[number % TOPICS] for number in range(NEW)]
    texts, rows = [world.text(topic) for topic in topics], world.about(topics)
    async with built.storage.write(patient.id) as unit:
        await admit(unit, zip(texts, rows, strict=True))
        await unit.commit()
    return rows


async def _found(built: Container, patient: Patient, rows: Matrix) -> float:
    async with built.storage.read(patient.id) as unit:
        near = await unit.regions.near(list(rows), NEIGHBOURS)
        exact = [[theme for theme, _ in await unit.themes.nearest(row, NEIGHBOURS)] for row in rows]
    return statistics.mean(len(set(some) & set(all_)) / len(all_) for some, all_ in zip(near, exact, strict=True))


async def _claim(built: Container, namespace: NamespaceId) -> Attempt:
    now = utc_now()
    async with built.storage.write(namespace) as unit:
        attempt = await unit.jobs.claim(now, now - timedelta(seconds=60), unit.namespace)
        await unit.commit(revises_memory=False)
    assert attempt is not None
    return attempt


async def _settle(built: Container, attempt: Attempt, result: Mapping[str, Any]) -> None:
    async with built.storage.write(attempt.namespace) as unit:
        await unit.jobs.succeed(attempt, result, utc_now())
        await unit.commit(revises_memory=False)


async def _round(built: Container, patient: Patient, clock: Clock, *, counts: bool) -> None:
    rows = await _remember(built, patient)
    if counts:
        patient.found.append(await _found(built, patient, rows))
    attempt = await _claim(built, patient.id)
    clock.seconds, clock.queries = Counter(), 0
    begun = time.perf_counter()
    done = await Maintenance(built.storage, utc_now, turn_seconds=600).maintain(attempt)
    seconds = time.perf_counter() - begun
    assert not isinstance(done, Unfinished)
    assert done["placed"] == NEW
    if counts:
        patient.note(seconds, clock)
    await _settle(built, attempt, done)


async def _fill(built: Container, size: int) -> Patient:
    name, begun = f"of-{size}", time.perf_counter()
    async with built.storage.directory() as directory:
        found = await directory.find(name)
    if found is not None:
        patient = Patient(found.id, size, World(size))
    else:
        async with built.storage.engines.write.connect() as connection:
            patient = Patient(*await fill(connection, name, str(built.embedders.newest.profile), size))
        print(f"{size} statements filled in {time.perf_counter() - begun:.0f} s", flush=True)
    await _remember(built, patient)
    attempt = await _claim(built, patient.id)
    begun = time.perf_counter()
    while await _is_crowded(built, patient.id):
        await divide_crowded(built.storage, attempt, ())
    print(f"  regions made in {time.perf_counter() - begun:.1f} s", flush=True)
    await _settle(built, attempt, await Maintenance(built.storage, utc_now, turn_seconds=600).maintain(attempt))
    return patient


async def _is_crowded(built: Container, namespace: NamespaceId) -> bool:
    async with built.storage.read(namespace) as unit:
        return bool(await unit.regions.crowded(()))


def _table(patients: Sequence[Patient], kind: str) -> Table:
    table = Table(title=f"one maintenance after {NEW} statements, {kind}: medians of {len(patients[0].seconds)}, in ms")
    for column in ("statements", "all", "fastest", *PHASES, "python", "queries", "found"):
        table.add_column(column, justify="right")
    for patient in patients:
        parts = [statistics.median(patient.phases[phase]) for phase in (*PHASES, "python")]
        numbers = [statistics.median(patient.seconds), min(patient.seconds), *parts]
        shown = [f"{1000 * seconds:.1f}" for seconds in numbers]
        table.add_row(
            str(patient.size),
            *shown,
            f"{statistics.median(patient.queries):.0f}",
            f"{statistics.mean(patient.found):.3f}",
        )
    return table


async def measure(kind: str, url: str, sizes: Sequence[int], rounds: int, *, examine: bool) -> float:
    """Fill, measure, print; returns how much longer the largest namespace takes than the smallest."""
    settings = Settings(
        _env_file=None,
        database_url=url.replace("postgresql://", "postgresql+psycopg://", 1),
        embedder=f"scripted:{DIMENSION}",
        log_level="warning",
    )
    clock = Clock()
    async with build(settings) as built:
        patients = [await _fill(built, size) for size in sizes]
        if kind == "postgres":
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        event.listen(Engine, "before_cursor_execute", clock.start)
        event.listen(Engine, "after_cursor_execute", clock.stop)
        for number in range(-WARM_UP, rounds):
            for patient in patients:
                await _round(built, patient, clock, counts=number >= 0)
        Console(width=140).print(_table(patients, kind))
    if examine:
        async with build_doctor(settings) as (doctor, _):
            print("the doctor finds:", await doctor.examine(await doctor.patients()) or "nothing")
    first, last = (statistics.median(patient.seconds) for patient in (patients[0], patients[-1]))
    print(f"{sizes[-1]} statements: {last / first:.2f} times as long as {sizes[0]}")
    return last / first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--examine", action="store_true")
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    with _database(given.database) as url:
        ratio = asyncio.run(measure(given.database, url, sizes, given.rounds, examine=given.examine))
    if given.database == "postgres" and ratio > LIMIT:
        raise SystemExit("over the limit")


if __name__ == "__main__":
    main()
