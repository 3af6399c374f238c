"""What the tests of the write path with a language model share: a talk of two matters, and work under a double."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from app.container import Container, Modes, utc_now
from app.domain.episodes import Episode
from app.domain.jobs import Job, JobState, Step
from app.domain.messages import Draft, Role
from app.domain.modes import AdmitMode
from app.domain.records import Statement, Theme
from app.domain.segmentation import SegmentPolicy
from app.jobs import handlers
from app.jobs.registry import JobKind, Retry
from app.providers.guard import GuardPolicy
from app.providers.guarded import GuardedChat
from app.providers.protocols import ChatModel
from app.providers.scripted_chat import ChatFaults, ScriptedChat
from app.services.doctor import Doctor
from app.services.maintenance import Maintenance
from app.services.redoing import Redoing
from app.telemetry.metrics import Metrics
from tests.conftest import WAIT
from tests.integration.support import NOON, kinds, namespace_id, runner

DOGS = [
    "I adopted two dogs from the shelter in Bern.",
    "The dogs sleep beside the kitchen stove.",
    "The younger dog chews every slipper.",
    "Our vet says the dogs are healthy.",
    "The dogs need long walks along the river.",
    "A neighbour walks the dogs on Tuesdays.",
    "The older dog is afraid of thunder.",
    "Dog food costs 80 francs a month.",
]
MUSIC = [
    "My violin teacher retired this spring.",
    "The music school has a new violin teacher.",
    "Violin lessons cost 40 francs an hour.",
    "I practise scales on the violin every morning.",
    "The orchestra rehearses Mahler in the church.",
    "My violin bow broke during the rehearsal.",
    "The orchestra plays a concert in June.",
    "Tickets for the concert are sold at the school.",
]
WALKS = [f"Long walks along the river suit the dogs and {name}." for name in ("Rex", "Luna", "Bella", "Max")]
SOON = Retry(attempts=2, first_delay=timedelta(milliseconds=20))
QUICK = GuardPolicy(call_seconds=30.0, attempts=1, opens_after=1000, recent_seconds=0)
BRIEF = 0.3  # seconds; of a call to a model that hangs
DIRECT = Modes(AdmitMode.DIRECT, borders=True)
EXTRACTING = Modes(AdmitMode.EXTRACTIVE, borders=True)


def drafts(*contents: str, day: int = 0, speaker: str = "Ada") -> list[Draft]:
    """Messages a minute apart, `day` days after NOON."""
    start = NOON + timedelta(days=day)
    return [
        Draft(Role.USER, content, speaker=speaker, occurred_at=start + timedelta(minutes=minute))
        for minute, content in enumerate(contents)
    ]


def scripted() -> GuardedChat:
    """The shipped double, guarded as in the service, and never waited for."""
    return GuardedChat(ScriptedChat(), QUICK, Metrics())


def faults(chat: GuardedChat) -> ChatFaults:
    assert isinstance(chat.inner, ScriptedChat)
    return chat.inner.faults


def hang(chat: GuardedChat) -> None:
    """No call comes to an end any more, and nobody waits long for it."""
    faults(chat).hang()
    chat.guard.policy = replace(QUICK, call_seconds=BRIEF, probe_seconds=BRIEF)


def mend(chat: GuardedChat) -> None:
    """All is well again."""
    faults(chat).mend()
    chat.guard.policy = QUICK


async def say(built: Container, *contents: str, day: int = 0) -> None:
    await built.services.ingest.append("ada", "chat", drafts(*contents, day=day))


@asynccontextmanager
async def working(built: Container, chat: ChatModel, modes: Modes = DIRECT) -> AsyncIterator[Mapping[Step, JobKind]]:
    """Background work with this model, that gives up soon, while the block lasts."""
    maintenance = Maintenance(built.storage, utc_now, labels=True)
    found = {**kinds(built, chat=chat, modes=modes), Step.MAINTAIN: handlers.maintain(maintenance)}
    async with runner(built, *(replace(kind, retry=SOON) for kind in found.values())):
        yield found


async def settle(built: Container) -> None:
    """Flush, and wait until nothing is left to do."""
    assert (await built.services.flush.flush("ada", None, WAIT)).jobs.pending == 0


async def work(built: Container, chat: ChatModel, modes: Modes = DIRECT) -> None:
    """Flush and do all that is to be done."""
    async with working(built, chat, modes):
        await settle(built)


async def redo(built: Container, chat: GuardedChat) -> int:
    """One look of upkeep for texts that wait for the model."""
    return await Redoing(built.storage, utc_now, chat.is_well).run()


@dataclass(frozen=True)
class Held:
    """What a namespace holds."""

    episodes: Sequence[Episode]
    statements: Sequence[Statement]
    themes: Sequence[Theme]
    jobs: Sequence[Job]

    def of(self, step: Step) -> list[Job]:
        return [job for job in self.jobs if job.kind is step]

    @property
    def failed(self) -> list[Job]:
        return [job for job in self.jobs if job.state is JobState.FAILED]


async def held(built: Container) -> Held:
    async with built.storage.read(await namespace_id(built, "ada")) as unit:
        return Held(
            await unit.episodes.page(None, 100),
            await unit.statements.page(None, 500, superseded=True),
            await unit.themes.page(None, 500),
            list(reversed(await unit.jobs.page(None, None, 500))),
        )


def calls(found: Held) -> dict[str, int]:
    """Calls of the language model by stage, over all jobs."""
    counts: dict[str, int] = {}
    for job in found.jobs:
        for stage, numbers in (job.usage or {}).items():
            counts[stage] = counts.get(stage, 0) + numbers["calls"]
    return {stage: count for stage, count in counts.items() if stage not in ("embedder", "check")}


async def assert_sound(built: Container) -> None:
    """The doctor finds nothing."""
    doctor = Doctor(built.storage, utc_now, SegmentPolicy(), WAIT)
    assert await doctor.examine(await doctor.patients()) == []
