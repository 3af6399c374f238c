"""What the tests of re-embedding share: a database with memory in it, another model, a re-embedding in small steps."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from app.container import Container, build_doctor
from app.domain.findings import Finding
from app.domain.jobs import Attempt, Step, Unfinished
from app.providers.embedders import Embedders
from app.providers.protocols import Asked, Embedded, Embedder, Profile
from app.providers.scripted import ScriptedEmbedder
from app.services.reembedding import Reembedding, ReembedPolicy
from app.services.search import Ask, Strategy
from app.settings import Settings
from app.storage.tables import embeddings, themes
from tests.integration.support import claim, drain, kinds, namespace_id, post, succeed

OLD, NEW = "scripted@1/64", "scripted@1/96"
TALK = (
    "I moved to Lisbon in 2021. My sister Ines is allergic to peanuts.",
    "I adopted a cat named Miso.",
    "My favourite dish is ramen. I work as a nurse in Porto.",
)


class Mirrored(ScriptedEmbedder):
    """Another model of the same dimension: its vectors and the first one's mean nothing to one another."""

    def __init__(self) -> None:
        super().__init__()
        self.profile = Profile("mirrored", "1", self.profile.dimension)

    async def embed(self, texts: Sequence[str]) -> Embedded:
        made = await super().embed(texts)
        return replace(made, vectors=made.vectors[:, ::-1].copy())

    async def embed_query(self, text: str) -> Asked:
        made = await super().embed_query(text)
        return replace(made, vector=made.vector[::-1].copy())


class Interrupted(ScriptedEmbedder):
    """Lets something happen, once, while texts get their new vectors; remembers what it embedded."""

    def __init__(self, happen: Callable[[], Awaitable[None]] | None = None) -> None:
        super().__init__(96)
        self.happen = happen
        self.embedded: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.embedded += texts
        happen, self.happen = self.happen, None
        if happen is not None:
            await happen()
        return await super().embed(texts)


async def remember(built: Container, namespace: str = "ada") -> None:
    """Two conversations with an episode each, statements and themes, and an open tail."""
    for conversation, number in (("chat", 1), ("work", 2)):
        await post(built, namespace, *(f"{line} ({number})" for line in TALK), conversation=conversation)
        await built.services.flush.flush(namespace, conversation, 0)
        await drain(built, namespace)
    await post(built, namespace, "Still open.")
    await drain(built, namespace)


def service(built: Container, coming: Embedder | None = None, **policy: float) -> Reembedding:
    """The service in steps of two items, one an attempt; to another model than the configured one, if given."""
    embedders = built.embedders if coming is None else Embedders(built.embedder, coming)
    small = {"turn_seconds": 0.0, "slice_items": 2, **policy}
    return replace(built.services.reembedding, embedders=embedders, policy=ReembedPolicy(**small))


async def attempt_of(built: Container, namespace: str = "ada") -> Attempt:
    """Claim the job, which is the only one."""
    attempt = await claim(built, await namespace_id(built, namespace))
    assert attempt is not None
    assert attempt.job.kind is Step.REEMBED
    return attempt


async def step(built: Container, doing: Reembedding, namespace: str = "ada") -> Mapping[str, Any] | Unfinished:
    """One attempt."""
    attempt = await attempt_of(built, namespace)
    result = await doing.reembed(attempt)
    await succeed(built, attempt, result)
    return result


async def finish(built: Container, doing: Reembedding, namespace: str = "ada") -> Mapping[str, Any] | Unfinished:
    """All jobs that are left, of any kind. Returns what the last re-embedding did."""
    id_, run = await namespace_id(built, namespace), kinds(built)
    done: Mapping[str, Any] | Unfinished = {}
    while attempt := await claim(built, id_):
        ours = attempt.job.kind is Step.REEMBED
        result = await (doing.reembed(attempt) if ours else run[attempt.job.kind].run(attempt))
        await succeed(built, attempt, result)
        done = result if ours else done
    return done


async def dimensions(built: Container) -> set[int]:
    """Of all vectors in the database, whatever they are of."""
    async with built.storage.engines.read.connect() as connection:
        columns = (embeddings.c.vector, themes.c.vector_sum, themes.c.centroid)
        return {len(vector) for column in columns for vector in (await connection.execute(select(column))).scalars()}


async def vectors(built: Container) -> list[tuple[Any, ...]]:
    """All rows of vectors, in a form that can be compared."""
    async with built.storage.engines.read.connect() as connection:
        found = (await connection.execute(select(embeddings))).all()
        return sorted((str(row.item_id), row.part, row.level, row.vector.tobytes()) for row in found)


async def findings(settings: Settings) -> list[Finding]:
    async with build_doctor(settings) as (doctor, _):
        return [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]


async def profile_of(built: Container, namespace: str = "ada") -> str:
    return (await built.services.namespaces.get(namespace)).embedding_profile


async def best(built: Container, question: str, strategy: Strategy = Strategy.VECTOR) -> str:
    """The text that answers best."""
    found = await built.services.search.search("ada", Ask(question, 500, strategy))
    return found.hits[0].item.text
