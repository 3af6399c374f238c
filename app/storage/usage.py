"""What a namespace used of the models: sums, by stage and model."""

from typing import Any

from sqlalchemy import insert, select, update

from app.storage.repository import Repository
from app.storage.tables import MODEL_LENGTH, usage
from app.telemetry.usage import MODEL, Usage

NUMBERS = ("calls", "texts", "tokens_in", "tokens_out", "seconds")


class UsageRepository(Repository):
    """Usage of one namespace. Writers hold the lock on the namespace's row."""

    async def add(self, used: Usage) -> None:
        """Add what one piece of work used."""
        for stage, counts in used.items():
            model = counts[MODEL][:MODEL_LENGTH]
            numbers = {name: counts.get(name, 0) for name in NUMBERS}
            changed = await self._connection.execute(
                update(usage)
                .where(self._own(usage), usage.c.stage == stage, usage.c.model == model)
                .values({usage.c[name]: usage.c[name] + number for name, number in numbers.items()})
            )
            if changed.rowcount == 0:
                values = self._row(stage=stage, model=model, **numbers)
                await self._connection.execute(insert(usage).values(values))

    async def by_stage(self) -> Usage:
        """The sums by stage; `model` names all that took part, with commas in between."""
        found: dict[str, dict[str, Any]] = {}
        query = select(usage).where(self._own(usage)).order_by(usage.c.stage, usage.c.model)
        for row in (await self._connection.execute(query)).mappings():
            sums = found.setdefault(row["stage"], {MODEL: row["model"]} | dict.fromkeys(NUMBERS, 0))
            if sums[MODEL] != row["model"]:
                sums[MODEL] += f", {row['model']}"
            for name in NUMBERS:
                sums[name] += row[name]
        return found
