"""Themes: sums, sizes and labels of groups of statements."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Row, Uuid, bindparam, delete, func, insert, literal, select, update

from app.domain.errors import NotFound
from app.domain.ids import StatementId, ThemeId
from app.domain.naming import Naming
from app.domain.provenance import MadeBy
from app.domain.records import Theme
from app.domain.vectors import Vector, unit
from app.storage.filters import Within
from app.storage.repository import IN_LIMIT, Repository
from app.storage.tables import NOWHERE, ended_themes, regions, themes
from app.storage.vectors import similarity

SHOWN = [column for column in themes.c if column.name not in ("vector_sum", "centroid", "region_id")]


def to_theme(row: Row[Any]) -> Theme:
    """A theme row as a value, without its vectors."""
    return Theme(
        id=ThemeId(row.id),
        label=row.label,
        summary=row.summary,
        size=row.size,
        version=row.version,
        lineage=row.lineage,
        degraded=row.degraded,
        made_by=MadeBy(**row.made_by),
        created_at=row.created_at,
        updated_at=row.updated_at,
        made_from=tuple(StatementId(UUID(id_)) for id_ in row.made_from),
        dirty=row.dirty,
    )


def _name(named: Naming) -> dict[str, Any]:
    return {
        "label": named.label,
        "summary": named.summary,
        "degraded": named.degraded,
        "made_by": asdict(named.made_by),
        "made_from": list(map(str, named.made_from)),
    }


class ThemeRepository(Repository):
    """Themes of one namespace."""

    async def nearest(
        self, vector: Vector, limit: int, *, without: ThemeId | None = None, within: Within | None = None
    ) -> Sequence[tuple[ThemeId, float]]:
        """The themes whose centroids are closest to a unit vector, with cosine similarity, nearest first."""
        closeness = similarity(themes.c.centroid, vector)
        query = select(themes.c.id, closeness).where(self._own(themes))
        if without is not None:
            query = query.where(themes.c.id != without)
        if within is not None:
            query = query.where(within.condition)
        rows = await self._connection.execute(query.order_by(closeness.desc(), themes.c.id).limit(limit))
        return [(ThemeId(row[0]), float(row[1])) for row in rows]

    async def sums(self, ids: Iterable[ThemeId]) -> Mapping[ThemeId, tuple[int, Vector]]:
        """Size and Σ of member vectors of each theme."""
        wanted = sorted(set(ids))
        found: dict[ThemeId, tuple[int, Vector]] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(themes.c.id, themes.c.size, themes.c.vector_sum).where(
                self._own(themes), themes.c.id.in_(wanted[start : start + IN_LIMIT])
            )
            for row in await self._connection.execute(query):
                found[ThemeId(row.id)] = (row.size, row.vector_sum)
        return found

    async def centroid(self, theme: ThemeId) -> Vector:
        """The unit centroid. Raises NotFound."""
        query = select(themes.c.centroid).where(self._own(themes), themes.c.id == theme)
        found: Vector | None = (await self._connection.execute(query)).scalar_one_or_none()
        if found is None:
            raise NotFound("no such theme")
        return found

    async def add(self, theme: Theme, vector_sum: Vector) -> None:
        """Insert a new theme, in the region that is nearest to it."""
        centroid = unit(vector_sum)
        await self._connection.execute(
            insert(themes).values(
                self._row(
                    id=theme.id,
                    region_id=self._region(centroid),
                    label=theme.label,
                    summary=theme.summary,
                    size=theme.size,
                    vector_sum=vector_sum,
                    centroid=centroid,
                    version=theme.version,
                    lineage=dict(theme.lineage),
                    degraded=theme.degraded,
                    made_by=asdict(theme.made_by),
                    made_from=list(map(str, theme.made_from)),
                    created_at=theme.created_at,
                    updated_at=theme.updated_at,
                )
            )
        )

    async def change(
        self,
        theme: ThemeId,
        *,
        size: int,
        vector_sum: Vector,
        now: datetime,
        named: Naming | None = None,
        lineage: Mapping[str, Any] | None = None,
    ) -> None:
        """Store the size and sum of a theme's new members, and raise its version.

        With a name and a lineage maintenance has had its look at it; without, it is to have one.
        """
        centroid = unit(vector_sum)
        values: dict[str, Any] = {"size": size, "vector_sum": vector_sum, "centroid": centroid}
        values |= {"region_id": self._region(centroid), "version": themes.c.version + 1, "updated_at": now}
        values["dirty"] = named is None
        if named is not None:
            values |= _name(named)
        if lineage is not None:
            values["lineage"] = dict(lineage)
        await self._connection.execute(update(themes).where(self._own(themes), themes.c.id == theme).values(**values))

    async def name(self, theme: ThemeId, version: int, named: Naming) -> bool:
        """Store a theme's name. False if its members are others now than in that version."""
        changed = await self._connection.execute(
            update(themes)
            .where(self._own(themes), themes.c.id == theme, themes.c.version == version)
            .values(**_name(named))
        )
        return changed.rowcount == 1

    async def dirty(self, limit: int) -> Sequence[ThemeId]:
        """Themes that statements have left since maintenance last looked at them."""
        query = select(themes.c.id).where(self._own(themes), themes.c.dirty).order_by(themes.c.id).limit(limit)
        return [ThemeId(row.id) for row in await self._connection.execute(query)]

    async def versions(self) -> Mapping[ThemeId, int]:
        """The version of each theme: raised whenever its members change."""
        rows = await self._connection.execute(select(themes.c.id, themes.c.version).where(self._own(themes)))
        return {ThemeId(row.id): row.version for row in rows}

    async def degraded(self, limit: int) -> Sequence[Theme]:
        """Themes whose label stands in for a better one, longest first."""
        query = select(*SHOWN).where(self._own(themes), themes.c.degraded)
        rows = await self._connection.execute(query.order_by(themes.c.updated_at, themes.c.id).limit(limit))
        return [to_theme(row) for row in rows]

    async def set_sums(self, sums: Mapping[ThemeId, Vector]) -> None:
        """Store the sums of the same members' vectors of another embedding profile."""
        query = update(themes).where(self._own(themes), themes.c.id == bindparam("theme"))
        rows = [{"theme": theme, "vector_sum": total, "centroid": unit(total)} for theme, total in sums.items()]
        if rows:
            await self._connection.execute(query, rows)
        await self._connection.execute(update(themes).where(self._own(themes)).values(region_id=NOWHERE))
        await self._connection.execute(delete(regions).where(self._own(regions)))  # they are of the other vectors

    async def remove(self, ids: Sequence[ThemeId], into: Mapping[ThemeId, ThemeId] | None = None) -> None:
        """Delete themes that no statement belongs to any more; `into` says which took in the statements of which."""
        for start in range(0, len(ids), IN_LIMIT):
            query = delete(themes).where(self._own(themes), themes.c.id.in_(ids[start : start + IN_LIMIT]))
            await self._connection.execute(query)
        if into:
            rows = [self._row(id=theme, into_id=other) for theme, other in into.items()]
            await self._connection.execute(insert(ended_themes), rows)

    async def successor(self, theme: ThemeId) -> ThemeId | None:
        """The theme that took in the statements of one that ended; None if none did, or that has ended too."""
        seen: set[ThemeId] = set()
        while theme not in seen:
            seen.add(theme)
            query = select(ended_themes.c.into_id).where(self._own(ended_themes), ended_themes.c.id == theme)
            into = (await self._connection.execute(query)).scalar_one_or_none()
            if into is None:
                break
            theme = ThemeId(into)
        return theme if len(seen) > 1 and theme in await self.many([theme]) else None

    async def get(self, theme: ThemeId) -> Theme:
        """One theme. Raises NotFound."""
        found = await self.many([theme])
        if theme not in found:
            raise NotFound("no such theme")
        return found[theme]

    async def many(self, ids: Iterable[ThemeId]) -> Mapping[ThemeId, Theme]:
        """Themes by id; ids that do not exist here are left out."""
        wanted = sorted(set(ids))
        found: dict[ThemeId, Theme] = {}
        for start in range(0, len(wanted), IN_LIMIT):
            query = select(*SHOWN).where(self._own(themes), themes.c.id.in_(wanted[start : start + IN_LIMIT]))
            found |= {ThemeId(row.id): to_theme(row) for row in await self._connection.execute(query)}
        return found

    async def page(self, after: UUID | None, limit: int) -> Sequence[Theme]:
        """Themes in the order they were made."""
        query = select(*SHOWN).where(self._own(themes))
        if after is not None:
            query = query.where(themes.c.id > after)
        rows = await self._connection.execute(query.order_by(themes.c.id).limit(limit))
        return [to_theme(row) for row in rows]

    async def waiting(self, limit: int) -> int:
        """How many themes have a label that stands in for a better one; of more than `limit`, `limit`."""
        few = select(func.count()).select_from(
            select(themes.c.id).where(self._own(themes), themes.c.degraded).limit(limit).subquery()
        )
        return (await self._connection.execute(few)).scalar_one()

    async def counts(self) -> tuple[int, int]:
        """(themes, of them degraded)."""
        degraded = func.count().filter(themes.c.degraded)
        row = (await self._connection.execute(select(func.count(), degraded).where(self._own(themes)))).one()
        return row[0], row[1]

    def _region(self, centroid: Vector) -> ColumnElement[UUID]:
        """The nearest region, if there is one."""
        closeness = similarity(regions.c.centre, centroid)
        query = select(regions.c.id).where(self._own(regions)).order_by(closeness.desc(), regions.c.id)
        return func.coalesce(query.limit(1).scalar_subquery(), literal(NOWHERE, Uuid))
