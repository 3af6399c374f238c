"""Replies kept by idempotency key: the first answer to a request, for whoever sends it again."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from app.domain.replies import Reply
from app.storage.repository import Repository
from app.storage.tables import idempotency_keys


class ReplyRepository(Repository):
    """Replies of one namespace. Writers hold the lock on the namespace's row."""

    async def find(self, key: str, since: datetime) -> Reply | None:
        """The reply kept under `key`, unless it is older than `since`."""
        query = select(idempotency_keys).where(
            self._own(idempotency_keys), idempotency_keys.c.key == key, idempotency_keys.c.created_at > since
        )
        row = (await self._connection.execute(query)).one_or_none()
        return None if row is None else Reply(row.digest, row.status, row.body)

    async def keep(self, key: str, reply: Reply, now: datetime) -> None:
        """Keep a reply; one under the same key is so old that `find` did not see it, and goes."""
        old = delete(idempotency_keys).where(self._own(idempotency_keys), idempotency_keys.c.key == key)
        await self._connection.execute(old)
        values = self._row(key=key, digest=reply.digest, status=reply.status, body=reply.body, created_at=now)
        await self._connection.execute(insert(idempotency_keys).values(values))

    async def since(self, moment: datetime) -> Mapping[str, str]:
        """The bodies of replies that were kept at that moment or later, by key."""
        query = select(idempotency_keys.c.key, idempotency_keys.c.body).where(
            self._own(idempotency_keys), idempotency_keys.c.created_at >= moment
        )
        return {row.key: row.body for row in await self._connection.execute(query)}

    async def rewrite(self, key: str, body: str) -> None:
        """Keep another body under a key: the first told of what was erased since."""
        query = update(idempotency_keys).where(self._own(idempotency_keys), idempotency_keys.c.key == key)
        await self._connection.execute(query.values(body=body))

    async def purge(self, before: datetime) -> int:
        """Forget replies from before that moment: their keys are free. Returns how many."""
        old = delete(idempotency_keys).where(self._own(idempotency_keys), idempotency_keys.c.created_at <= before)
        return (await self._connection.execute(old)).rowcount
