"""What the tests of themes share: statements in themes, and all of them in one."""

import numpy as np

from app.container import Container, utc_now
from app.domain.ids import StatementId, ThemeId
from app.domain.levels import Level
from tests.integration.support import drain, post

FACTS = tuple(
    f"I keep a {topic} note number{number} about my {topic}."
    for topic in ("cello", "garden", "harbour")
    for number in range(6)
)


async def fill(built: Container) -> None:
    """A conversation with a statement for each of `FACTS`, arranged in themes."""
    await post(built, "ada", *FACTS)
    await built.services.flush.flush("ada", None, 0)
    await drain(built, "ada")


async def gather(built: Container) -> tuple[ThemeId, list[StatementId]]:
    """Put all statements into the oldest theme, however they were arranged, and even if it may not hold so many."""
    async with built.storage.write("ada") as unit:
        oldest, *others = [theme.id for theme in await unit.themes.page(None, 100)]
        members = [one.id for one in await unit.hierarchy.statements()]
        vectors = await unit.embeddings.vectors(Level.STATEMENT, members)
        await unit.statements.place(oldest, members)
        total = np.sum(list(vectors.values()), axis=0)
        await unit.themes.change(oldest, size=len(members), vector_sum=total, now=utc_now())
        await unit.themes.remove(others, dict.fromkeys(others, oldest))
        await unit.commit()
    return oldest, members
