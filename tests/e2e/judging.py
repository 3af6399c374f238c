"""Compares what clients were told with what is in the database."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import pairwise

from sqlalchemy import select

from app.container import build_doctor
from app.settings import Settings
from app.storage.engine import Engines
from app.storage.tables import conversations, episodes, jobs, messages, namespaces

Acknowledged = dict[tuple[str, str], dict[str, int]]
"""What clients were told, by namespace and conversation: external id → sequence."""

Stored = dict[tuple[str, str], list[tuple[str, int]]]
"""What is there, in order."""


@dataclass(slots=True)
class Judgement:
    """What is wrong; all empty if nothing is."""

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)  # messages in no episode, episodes not admitted, rows of nobody
    findings: list[str] = field(default_factory=list)  # the doctor's

    def wrong(self) -> Iterator[tuple[str, str]]:
        """Every fault, with what kind it is of."""
        for kind in fields(self):
            yield from ((kind.name, fault) for fault in getattr(self, kind.name))

    def __str__(self) -> str:
        """The numbers."""
        return (
            f"lost {len(self.lost)}, doubled {len(self.doubled)}, out of order {len(self.disordered)}, "
            f"orphans {len(self.orphans)}, findings {len(self.findings)}"
        )


async def judge(database_url: str, engines: Engines, acknowledged: Acknowledged) -> Judgement:
    """Whether all that was acknowledged is there once, in order, in one episode that was admitted once."""
    found = Judgement()
    await _judge_messages(found, engines, acknowledged)
    await _judge_episodes(found, engines)
    settings = Settings(_env_file=None, database_url=database_url, embedder="scripted")
    async with build_doctor(settings) as (doctor, _):
        findings = [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]
    found.findings = [str(finding) for finding in findings]
    return found


async def _judge_messages(found: Judgement, engines: Engines, acknowledged: Acknowledged) -> None:
    there: Stored = {}
    columns = (messages.c.external_id, messages.c.sequence, messages.c.episode_id)
    in_conversation = (messages.c.namespace_id == conversations.c.namespace_id) & (
        messages.c.conversation_id == conversations.c.id
    )
    query = (
        select(namespaces.c.name, conversations.c.name, *columns)
        .join(conversations, conversations.c.namespace_id == namespaces.c.id)
        .join(messages, in_conversation)
        .order_by(messages.c.sequence)
    )
    async with engines.read.connect() as connection:
        for namespace, conversation, external_id, sequence, episode in await connection.execute(query):
            there.setdefault((namespace, conversation), []).append((external_id, sequence))
            if episode is None:
                found.orphans.append(external_id)
    for stream, told in acknowledged.items():
        stored = there.pop(stream, [])
        times = Counter(external_id for external_id, _ in stored)
        found.lost += [name for name, sequence in told.items() if (name, sequence) not in set(stored)]
        found.doubled += [name for name, count in times.items() if count > 1 or name not in told]
        order = [int(name.rpartition("-")[2]) for name, _ in stored]
        found.disordered += [f"{stream}: {a} before {b}" for a, b in pairwise(order) if a >= b]
    found.orphans += [f"{stream}" for stream in there]


async def _judge_episodes(found: Judgement, engines: Engines) -> None:
    done = select(jobs.c.key, jobs.c.result).where(jobs.c.kind == "admit", jobs.c.state == "succeeded")
    async with engines.read.connect() as connection:
        left = await connection.execute(select(episodes.c.id).where(episodes.c.admitted_at.is_(None)))
        found.orphans += [f"episode {row.id} was not admitted" for row in left]
        # A step that is run again after its commit finds that it was done, and says so.
        times = Counter(row.key for row in await connection.execute(done) if row.result.get("new") is not None)
    found.doubled += [f"episode {key} was admitted {count} times" for key, count in times.items() if count > 1]
