"""Keys. They belong to no namespace; what they hold of memory is the names of namespaces."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.access import Key, Scope
from app.domain.errors import NotFound
from app.storage.access_tables import keys


class Keyring:
    """All keys."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def find(self, id_: UUID) -> tuple[Key, str] | None:
        """A key with the digest of its secret, revoked and expired ones too."""
        row = (await self._connection.execute(select(keys).where(keys.c.id == id_))).one_or_none()
        return None if row is None else (_to_key(row), row.digest)

    async def add(self, key: Key, digest: str) -> None:
        """Keep a new key."""
        values = {
            "id": key.id,
            "name": key.name,
            "digest": digest,
            "scopes": sorted(key.scopes),
            "namespaces": list(key.namespaces),
            "created_at": key.created_at,
            "expires_at": key.expires_at,
        }
        await self._connection.execute(insert(keys).values(values))

    async def page(self, after: UUID | None, limit: int) -> Sequence[Key]:
        """Keys, oldest first."""
        query = select(keys) if after is None else select(keys).where(keys.c.id > after)
        return [_to_key(row) for row in await self._connection.execute(query.order_by(keys.c.id).limit(limit))]

    async def any_valid(self, now: datetime) -> bool:
        """Whether any key opens anything."""
        lasting = or_(keys.c.expires_at.is_(None), keys.c.expires_at > now)
        valid = select(keys.c.id).where(keys.c.revoked_at.is_(None), lasting)
        return (await self._connection.execute(valid.limit(1))).first() is not None

    async def revoke(self, id_: UUID, now: datetime) -> bool:
        """End a key; False if it had ended before. Raises NotFound."""
        living = update(keys).where(keys.c.id == id_, keys.c.revoked_at.is_(None))
        if (await self._connection.execute(living.values(revoked_at=now))).rowcount:
            return True
        if await self.find(id_) is None:
            raise NotFound("no such key")
        return False

    async def note_uses(self, uses: Mapping[UUID, datetime]) -> None:
        """Record when keys were last used; an older use never takes the place of a newer one."""
        for id_, at in uses.items():
            older = or_(keys.c.last_used_at.is_(None), keys.c.last_used_at < at)
            await self._connection.execute(update(keys).where(keys.c.id == id_, older).values(last_used_at=at))


def _to_key(row: Row[Any]) -> Key:
    return Key(
        id=row.id,
        name=row.name,
        scopes=frozenset(map(Scope, row.scopes)),
        namespaces=tuple(row.namespaces),
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
