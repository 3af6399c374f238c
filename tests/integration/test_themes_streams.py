"""Themes through the real services: what tests/unit/test_themes_streams.py holds of the plan holds of the rows too."""

import random

import numpy as np

from app.container import Container
from app.domain.levels import Level
from app.settings import Settings
from tests.conftest import Api
from tests.integration.support import assert_whole, namespace_id, over_http, runner

SUBJECTS = ("cello", "garden", "harbour", "bakery", "telescope")
VERBS = ("bought", "painted", "repaired", "sold", "borrowed", "lost")
ROUNDS = 4


class Life:
    """Somebody who says, edits and takes back things at random, the same in every run."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api, self.random, self.said = api, random.Random(seed), 0

    async def go_on(self) -> None:
        """One thing, or several of which some meet others half done."""
        await self.say()
        for _ in range(self.random.randrange(3)):
            await self.random.choice((self.say, self.edit, self.erase))()

    async def say(self) -> None:
        lines = []
        for _ in range(self.random.randint(3, 6)):
            self.said += 1
            lines.append(f"I {self.random.choice(VERBS)} the {self.random.choice(SUBJECTS)} number{self.said} today.")
        await self.api.say("ada", *lines, speaker="Ada", conversation=f"chat{self.said}")

    async def edit(self) -> None:
        for one in await self._some_statements(1):
            text = f"Ada {self.random.choice(VERBS)} the {self.random.choice(SUBJECTS)} again."
            reply = await self.api.patch(f"/v1/namespaces/ada/statements/{one['id']}", json={"text": text})
            assert reply.status_code == 200, reply.text

    async def erase(self) -> None:
        for one in await self._some_statements(2):
            assert (await self.api.delete(f"/v1/namespaces/ada/statements/{one['id']}")).is_success

    async def _some_statements(self, most: int) -> list[dict]:
        known = await self.api.all("/v1/namespaces/ada/statements")
        return self.random.sample(known, min(most, len(known)))


async def test_after_a_life_of_changes_every_statement_has_one_theme_and_sums_are_right(
    built: Container, settings: Settings
) -> None:
    async with over_http(built, settings) as api, runner(built):
        life = Life(api, seed=1)
        for number in range(ROUNDS):
            await life.go_on()
            if number % 2:  # else the next round meets work that is half done
                await api.settle("ada")
                await _assert_sums(built)
        await api.settle("ada")
        memory = await assert_whole(api, "ada")
        assert len(memory["themes"]) > 1
        await _assert_sums(built)


async def _assert_sums(built: Container) -> None:
    async with built.storage.read(await namespace_id(built, "ada")) as unit:
        homes = await unit.statements.homes()
        assert None not in homes.values(), "nothing waits"
        themes = [theme.id for theme in await unit.themes.page(None, 1000)]
        assert set(themes) == set(homes.values()), "no theme is empty"
        sums = await unit.themes.sums(themes)
        vectors = await unit.embeddings.vectors(Level.STATEMENT, homes)
        for theme, (size, total) in sums.items():
            own = [vectors[id_] for id_, home in homes.items() if home == theme]
            assert size == len(own) <= 12
            np.testing.assert_allclose(total, np.sum(own, axis=0), atol=1e-4)
