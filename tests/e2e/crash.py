"""Kill -9 at random moments, and nothing is lost: real processes, real databases, hash vectors.

Clients post batches with external ids and repeat each until it is acknowledged; flushes go in between; one
process after another is killed and started again. In the end everything must settle, and every message that
was acknowledged must be there once, in order, in one episode, with nothing left over and the doctor content.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from app.container import build_doctor
from app.settings import Settings
from app.storage.engine import Engines, create_engines
from app.storage.tables import conversations, jobs, messages, namespaces
from tests.e2e.processes import Member

REPLY_SECONDS = 20.0
AIM_SECONDS = 1.0  # longest wait for a moment of the kind that a kill is aimed at
LATE = {"admit": 5.0, "maintain": 15.0}  # for these longer, and without new messages: they come when others are done
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
PLACES = ("Lisbon", "Porto", "Lund", "Kyoto", "Quito", "Oslo", "Graz", "Bergen")
THINGS = ("locker", "bicycle", "garden", "piano", "boat", "kettle", "library card", "tent")


Acknowledged = dict[tuple[str, str], dict[str, int]]
"""What clients were told, by namespace and conversation: external id → sequence."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much, and for how long at most."""

    database_url: str
    messages: int
    kills: int
    seed: int = 1
    namespaces: int = 3
    conversations: int = 3  # in each namespace
    servers: int = 1
    workers: int = 0  # 0: the servers work themselves
    settle_seconds: float = 120.0
    largest_gap: float = 1.0  # seconds between a restart and the next kill


@dataclass(slots=True)
class Report:
    """What happened, and what was wrong in the end."""

    plan: Plan
    kills: Counter[str] = field(default_factory=Counter)  # by what ran in the killed process, or anywhere
    acknowledged: int = 0
    repeated: int = 0  # messages that a repeated request found already stored
    retries: int = 0  # requests sent again
    refused: Counter[int] = field(default_factory=Counter)  # answers that were not 202, by status
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)  # messages in no episode, rows without an owner
    findings: list[str] = field(default_factory=list)
    failed_jobs: int = 0
    unsettled: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether nothing at all was wrong."""
        return not any(
            (self.lost, self.doubled, self.disordered, self.orphans, self.findings, self.failed_jobs, self.unsettled)
        )

    def __str__(self) -> str:
        """The summary, in one line."""
        stages = ", ".join(f"{stage} {count}" for stage, count in sorted(self.kills.items()) if stage != "all")
        refused = ", ".join(f"{status}: {count}" for status, count in sorted(self.refused.items())) or "none"
        return (
            f"{self.plan.database_url.partition(':')[0]}, {self.plan.servers} servers, {self.plan.workers} workers, "
            f"seed {self.plan.seed}: {self.kills['all']} kills ({stages}), {self.acknowledged} messages acknowledged, "
            f"{self.retries} requests sent again, {self.repeated} messages found stored; refusals {refused}; "
            f"lost {len(self.lost)}, doubled {len(self.doubled)}, out of order {len(self.disordered)}, "
            f"orphans {len(self.orphans)}, findings {len(self.findings)}, failed jobs {self.failed_jobs}, "
            f"unsettled {len(self.unsettled)}; {self.seconds:.0f} s"
        )


@dataclass(slots=True)
class Run:
    """One run of a plan."""

    plan: Plan
    members: Sequence[Member]
    engines: Engines
    client: httpx.AsyncClient
    report: Report
    acknowledged: Acknowledged = field(default_factory=dict)
    allowed: float = 0.0  # share of the messages that may be posted by now

    async def go(self) -> None:
        """Post and kill side by side, then wait until all is worked off."""
        streams = [
            (f"n{namespace}", f"c{conversation}")
            for namespace in range(self.plan.namespaces)
            for conversation in range(self.plan.conversations)
        ]
        writers = [asyncio.create_task(self._write(*stream, number)) for number, stream in enumerate(streams)]
        flusher = asyncio.create_task(self._flush_now_and_then())
        killer = asyncio.create_task(self._kill_one_after_another())
        try:
            await asyncio.gather(killer, *writers)
        finally:
            for task in (killer, flusher, *writers):
                task.cancel()
            await asyncio.gather(killer, flusher, *writers, return_exceptions=True)
        for namespace in sorted({namespace for namespace, _ in streams}):
            await self._settle(namespace)

    async def _write(self, namespace: str, conversation: str, number: int) -> None:
        dice = random.Random(f"{self.plan.seed}/{number}")
        share = len(range(number, self.plan.messages, self.plan.namespaces * self.plan.conversations))
        now, posted = START, 0
        known = self.acknowledged.setdefault((namespace, conversation), {})
        while posted < share:
            await self._in_step(posted / share)
            batch = []
            for _ in range(min(dice.randint(1, 20), share - posted)):
                now += timedelta(hours=2) if dice.random() < 0.04 else timedelta(seconds=dice.randint(1, 90))
                batch.append(_message(f"{namespace}-{conversation}-{posted}", posted, now, dice))
                posted += 1
            known |= await self._post(namespace, conversation, batch, dice)

    async def _in_step(self, share: float) -> None:
        """Post a part before each kill, so that every kill hits something."""
        while share >= self.allowed:
            await asyncio.sleep(0.01)

    async def _post(
        self, namespace: str, conversation: str, batch: Sequence[dict[str, Any]], dice: random.Random
    ) -> dict[str, int]:
        """Post until it is acknowledged. Any other answer than 202 or 5xx is a fault."""
        path = f"/v1/namespaces/{namespace}/conversations/{conversation}/messages"
        while True:
            reply = await self._ask(dice.choice(self._servers()), path, {"messages": batch})
            if reply is not None and reply.status_code == 202:
                stored = reply.json()["messages"]
                self.report.acknowledged += len(stored)
                self.report.repeated += sum(one["status"] == "duplicate" for one in stored)
                return {one["external_id"]: one["sequence"] for one in stored}
            if reply is not None:
                self.report.refused[reply.status_code] += 1
                assert reply.status_code >= 500, reply.text
            self.report.retries += 1
            await asyncio.sleep(0.05 + 0.1 * dice.random())

    async def _ask(
        self, member: Member, path: str, body: object, seconds: float = REPLY_SECONDS
    ) -> httpx.Response | None:
        """The reply, or None if the connection broke."""
        member.flying += 1
        try:
            return await self.client.post(f"{member.url}{path}", json=body, timeout=seconds)
        except httpx.TransportError:
            return None
        finally:
            member.flying -= 1

    def _servers(self) -> list[Member]:
        return [member for member in self.members if member.command == "serve"]

    async def _flush_now_and_then(self) -> None:
        dice = random.Random(f"{self.plan.seed}/flush")
        while True:
            await asyncio.sleep(0.6 * dice.random())
            name = f"n{dice.randrange(self.plan.namespaces)}"
            await self._ask(dice.choice(self._servers()), f"/v1/namespaces/{name}/flush", {"wait_seconds": 0})

    async def _kill_one_after_another(self) -> None:
        dice = random.Random(f"{self.plan.seed}/kill")
        for number in range(self.plan.kills):
            victim = self.members[number % len(self.members)]
            stage = dice.choice(["any", *victim.stages])
            if stage not in LATE:
                self.allowed = (number + 1) / self.plan.kills
            await asyncio.sleep(self.plan.largest_gap * dice.random() ** 2)
            await self._aim(victim, stage)
            posting = victim.flying
            victim.strike()
            await victim.gone()
            running = await self._running()
            await asyncio.sleep(0.3 * dice.random())
            await victim.start()
            hit = [*await self._interrupted(running), *(["ingest"] if posting else [])]
            self.report.kills.update(["all", *(hit or ["idle"])])
        self.allowed = 2.0

    async def _aim(self, victim: Member, stage: str) -> None:
        """Wait for a moment in which the victim is likely to be in this stage; not for ever."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LATE.get(stage, AIM_SECONDS)
        while loop.time() < end:
            if stage == "any" or (stage == "ingest" and victim.flying):
                return
            if stage in {row.kind for row in await self._running()}:
                return
            await asyncio.sleep(0.002)

    async def _running(self) -> Sequence[Any]:
        columns = (jobs.c.namespace_id, jobs.c.id, jobs.c.kind, jobs.c.attempts)
        async with self.engines.read.connect() as connection:
            return (await connection.execute(select(*columns).where(jobs.c.state == "running"))).all()

    async def _interrupted(self, running: Sequence[Any]) -> list[str]:
        """Kinds of the jobs that were running and did not just end: the dead process had them."""
        found = []
        async with self.engines.read.connect() as connection:
            for row in running:
                same = (jobs.c.namespace_id == row.namespace_id, jobs.c.id == row.id)
                now = (await connection.execute(select(jobs.c.state, jobs.c.attempts).where(*same))).one()
                if now.attempts > row.attempts or now.state in ("queued", "running"):
                    found.append(row.kind)
        return found

    async def _settle(self, namespace: str) -> None:
        end = asyncio.get_running_loop().time() + self.plan.settle_seconds
        while True:
            path = f"/v1/namespaces/{namespace}/flush"
            reply = await self._ask(self._servers()[0], path, {"wait_seconds": 5}, 30)
            if reply is not None and reply.status_code == 200 and reply.json()["settled"]:
                self.report.failed_jobs += reply.json()["jobs"]["failed"]
                return
            if asyncio.get_running_loop().time() > end:
                self.report.unsettled.append(f"{namespace}: {None if reply is None else reply.text}")
                return


async def crash(plan: Plan, folder: Path) -> Report:
    """Carry out a plan on a migrated database; logs go into `folder`."""
    begun = time.monotonic()
    report = Report(plan)
    commands = ["serve"] * plan.servers + ["worker"] * plan.workers
    members = [
        Member(
            command,
            plan.database_url,
            folder / f"{command}-{number}.log",
            inline=command == "serve" and plan.workers == 0,
        )
        for number, command in enumerate(commands)
    ]
    engines = create_engines(plan.database_url)
    try:
        async with httpx.AsyncClient(trust_env=False) as client:
            await asyncio.gather(*(member.start() for member in members))
            run = Run(plan, members, engines, client, report)
            await run.go()
    finally:
        await asyncio.gather(*(member.stop() for member in members))
    try:
        await judge(report, run.acknowledged, engines)
    finally:
        await engines.dispose()
    report.seconds = time.monotonic() - begun
    return report


async def judge(report: Report, acknowledged: Acknowledged, engines: Engines) -> None:
    """Compare what was acknowledged with what is there."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    query = (
        select(
            namespaces.c.name, conversations.c.name, messages.c.external_id, messages.c.sequence, messages.c.episode_id
        )
        .join(conversations, conversations.c.namespace_id == namespaces.c.id)
        .join(
            messages,
            (messages.c.namespace_id == conversations.c.namespace_id)
            & (messages.c.conversation_id == conversations.c.id),
        )
        .order_by(messages.c.sequence)
    )
    async with engines.read.connect() as connection:
        for namespace, conversation, external_id, sequence, episode in await connection.execute(query):
            found.setdefault((namespace, conversation), []).append((external_id, sequence))
            if episode is None:
                report.orphans.append(external_id)
    for stream, known in acknowledged.items():
        stored = found.pop(stream, [])
        times = Counter(external_id for external_id, _ in stored)
        report.lost += [name for name, sequence in known.items() if (name, sequence) not in set(stored)]
        report.doubled += [name for name, count in times.items() if count > 1 or name not in known]
        order = [int(name.rpartition("-")[2]) for name, _ in stored]
        report.disordered += [f"{stream}: {a} before {b}" for a, b in pairwise(order) if a >= b]
    report.orphans += [f"{stream}" for stream in found]
    settings = Settings(_env_file=None, database_url=report.plan.database_url, embedder="scripted")
    async with build_doctor(settings) as (doctor, _):
        findings = [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]
    report.findings = [str(finding) for finding in findings]


def _message(external_id: str, number: int, at: datetime, dice: random.Random) -> dict[str, Any]:
    place, thing = dice.choice(PLACES), dice.choice(THINGS)
    said = f"My {thing} number {number} is in {place}. I moved it to {place} on {at:%d %B %Y}."
    return {
        "external_id": external_id,
        "role": "user" if number % 3 else "assistant",
        "speaker": "Ada" if number % 3 else "Bob",
        "content": said,
        "occurred_at": at.isoformat(),
    }
