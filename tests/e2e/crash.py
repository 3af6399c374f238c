"""Kill -9 at random moments, and nothing is lost: real processes, real databases, hash vectors.

Clients post batches with external ids and repeat each until it is acknowledged; flushes go in between; one
process after another is killed and started again; the models may be unsteady all the while. In the end, once
the models are well and what was given up meanwhile was retried, everything must settle, and every message that
was acknowledged must be there once, in order, in one episode, with nothing left over (judging.py).
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from app.storage.engine import Engines, create_engines
from app.storage.tables import jobs
from tests.e2e.judging import Acknowledged, Judgement, judge
from tests.e2e.processes import Member, Models, unsteady_models

REPLY_SECONDS = 60.0
AIM_SECONDS = 1.0  # longest wait for a moment of the kind that a kill is aimed at
LATE = {"admit": 5.0, "maintain": 15.0}  # for these longer, and without new messages: they come when others are done
ROUNDS = 10  # of retries in the end: each brings home what failed in the one before
KILLED_TOO_OFTEN = "abandoned"  # the cause of a job that was given up because its processes were killed
START = datetime(2026, 3, 2, 8, tzinfo=UTC)
PLACES = ("Lisbon", "Porto", "Lund", "Kyoto", "Quito", "Oslo", "Graz", "Bergen")
THINGS = ("locker", "bicycle", "garden", "piano", "boat", "kettle", "library card", "tent")


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
    settle_seconds: float = 120.0  # in the end, without any job getting done
    largest_gap: float = 1.0  # seconds between a restart and the next kill
    longest_aim: float = 15.0  # seconds that a kill waits for a moment of its kind
    unsteady: float = 0.0  # share of the calls to language and embedding models that go wrong; 0: hash vectors, no chat


@dataclass(slots=True)
class Report:
    """What happened, and what was wrong in the end."""

    plan: Plan
    kills: Counter[str] = field(default_factory=Counter)  # by what ran in the killed process, or anywhere
    acknowledged: int = 0
    repeated: int = 0  # messages that a repeated request found already stored
    retries: int = 0  # requests sent again
    refused: Counter[int] = field(default_factory=Counter)  # answers that were not 202, by status
    given_up: Counter[str] = field(default_factory=Counter)  # failed jobs that were retried in the end, by cause
    failed_jobs: int = 0  # that are left
    unsettled: list[str] = field(default_factory=list)
    judgement: Judgement = field(default_factory=Judgement)
    model_calls: Counter[str] = field(default_factory=Counter)  # of unsteady models
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether nothing at all was wrong. Models that are well are no cause to give anything up."""
        wrong = (*self.judgement.wrong(), *self.unsettled)
        causes = set(self.given_up) - {KILLED_TOO_OFTEN}
        return not wrong and not self.failed_jobs and (self.plan.unsteady > 0 or not causes)

    def __str__(self) -> str:
        """The summary, in one line."""
        plan, kills = self.plan, Counter(self.kills)
        models = (
            f"{plan.unsteady:.0%} of model calls ({_listed(self.model_calls)}) went wrong, " if plan.unsteady else ""
        )
        return (
            f"{plan.database_url.partition(':')[0]}, {plan.servers} servers, {plan.workers} workers, {models}"
            f"seed {plan.seed}: {kills.pop('all', 0)} kills ({_listed(kills)}), {self.acknowledged} messages "
            f"acknowledged, {self.retries} requests sent again, {self.repeated} messages found stored; "
            f"refusals {_listed(self.refused)}; jobs given up and retried {_listed(self.given_up)}; "
            f"{self.judgement}, failed jobs {self.failed_jobs}, unsettled {len(self.unsettled)}; {self.seconds:.0f} s"
        )


def _listed(counts: Counter[Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


@dataclass(slots=True)
class Run:
    """One run of a plan."""

    plan: Plan
    members: Sequence[Member]
    engines: Engines
    client: httpx.AsyncClient
    report: Report
    models: Models | None = None
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
        if self.models is not None:
            await self.models.mend()
        for namespace in sorted({namespace for namespace, _ in streams}):
            await self._bring_home(namespace)
        if self.models is not None:
            self.report.model_calls.update(await self.models.calls())

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
        end = loop.time() + min(LATE.get(stage, AIM_SECONDS), self.plan.longest_aim)
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

    async def _bring_home(self, namespace: str) -> None:
        """Wait until all work of a namespace is done; what was given up is retried, as a user would."""
        for _ in range(ROUNDS):
            await self._settle(namespace)
            failed = await self._failed(namespace)
            self.report.given_up.update(job["error"]["code"] for job in failed)
            for job in failed:
                await self._ask(self._servers()[0], f"/v1/namespaces/{namespace}/jobs/{job['id']}/retry", {})
            if not failed:
                return
        self.report.failed_jobs += len(await self._failed(namespace))

    async def _settle(self, namespace: str) -> None:
        """Flush until nothing is open. Messages whose job was given up stay in the buffer."""
        clock = asyncio.get_running_loop().time
        end, before = clock() + self.plan.settle_seconds, None
        while clock() < end:
            path = f"/v1/namespaces/{namespace}/flush"
            reply = await self._ask(self._servers()[0], path, {"wait_seconds": 5}, 30)
            counts = reply.json()["jobs"] if reply is not None and reply.is_success else before
            if counts is not None and not counts["pending"]:
                return
            if counts != before:
                end, before = clock() + self.plan.settle_seconds, counts
        self.report.unsettled.append(f"{namespace}: {before}")

    async def _failed(self, namespace: str) -> list[dict[str, Any]]:
        path = f"{self._servers()[0].url}/v1/namespaces/{namespace}/jobs"
        reply = await self.client.get(path, params={"state": "failed", "limit": 100}, timeout=REPLY_SECONDS)
        found: list[dict[str, Any]] = reply.raise_for_status().json()["items"]
        return found


async def crash(plan: Plan, folder: Path) -> Report:
    """Carry out a plan on a migrated database; logs go into `folder`."""
    begun = time.monotonic()
    report = Report(plan)
    engines = create_engines(plan.database_url)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(engines.dispose)
        models = None
        if plan.unsteady:
            models = await stack.enter_async_context(unsteady_models(plan.seed, plan.unsteady, folder / "models.log"))
        members = _members(plan, folder, models)
        try:
            async with httpx.AsyncClient(trust_env=False) as client:
                await asyncio.gather(*(member.start() for member in members))
                run = Run(plan, members, engines, client, report, models)
                await run.go()
        finally:
            await asyncio.gather(*(member.stop() for member in members))
        report.judgement = await judge(plan.database_url, engines, run.acknowledged)
    report.seconds = time.monotonic() - begun
    return report


def _members(plan: Plan, folder: Path, models: Models | None) -> Sequence[Member]:
    commands = ["serve"] * plan.servers + ["worker"] * plan.workers
    return [
        Member(
            command,
            plan.database_url,
            folder / f"{command}-{number}.log",
            inline=command == "serve" and plan.workers == 0,
            models=None if models is None else models.settings,
        )
        for number, command in enumerate(commands)
    ]


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
