"""Keys: made, revoked and recognised.

A key is its public id and a secret of 256 random bits, `xm_ID_SECRET`. Of the secret only its SHA-256 is kept: nobody
can try out 2^256 of them, so a slow or salted hash, made for passwords that people choose, would only cost time in
every request. A key is looked up by its id with every request, so that a revocation holds at once on every replica.
"""

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.access import ANYBODY, BOOTSTRAP, Caller, Key, Scope
from app.domain.audit import Act
from app.domain.errors import FieldError, InvalidInput, StoreUnavailable, Unauthenticated
from app.storage.repository import new_id
from app.storage.unit_of_work import Clock, Storage

log = logging.getLogger(__name__)

SECRET_BYTES = 32
FORM = re.compile(r"xm_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")
NOTED_EVERY = timedelta(minutes=1)  # how exact `last_used_at` is


def digest(secret: str) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Keys:
    """All keys. `admin_digest` is that of XMEMORY_ADMIN_KEY; without `required` nobody is asked for a key."""

    storage: Storage
    clock: Clock
    required: bool
    admin_digest: str | None
    _uses: dict[UUID, datetime] = field(default_factory=dict)  # that are not written yet

    async def caller(self, shown: str | None) -> Caller:
        """Whose key this is. Raises Unauthenticated; what is told of a key is told to those who have all of it."""
        if not self.required:
            return ANYBODY
        if shown is None:
            raise Unauthenticated("send a key: Authorization: Bearer KEY")
        if self.admin_digest is not None and hmac.compare_digest(digest(shown), self.admin_digest):
            return BOOTSTRAP
        key = await self._find(shown)
        if key is None:
            raise Unauthenticated("this is no key of this service", tried=True)
        now = self.clock()
        if key.revoked_at is not None:
            raise Unauthenticated("the key was revoked", tried=True)
        if key.expires_at is not None and key.expires_at <= now:
            raise Unauthenticated("the key has expired", tried=True)
        if key.last_used_at is None or now - key.last_used_at >= NOTED_EVERY:
            self._uses[key.id] = now
        return key.caller

    async def _find(self, shown: str) -> Key | None:
        form = FORM.fullmatch(shown)
        if form is None:
            return None
        id_, secret = form.groups()
        async with self.storage.access() as unit:
            found = await unit.keys.find(UUID(id_))
        return found[0] if found and hmac.compare_digest(digest(secret), found[1]) else None

    async def create(
        self, name: str, scopes: frozenset[Scope], namespaces: Sequence[str], expires_at: datetime | None
    ) -> tuple[Key, str]:
        """Make a key; returns it with its text, which nobody can be told again. Raises InvalidInput."""
        now = self.clock()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput("the key would have expired already", [FieldError("#/expires_at", "must be in future")])
        secret = secrets.token_urlsafe(SECRET_BYTES)
        key = Key(new_id(), name, scopes, tuple(dict.fromkeys(namespaces)), now, expires_at)
        async with self.storage.write_access() as unit:
            await unit.keys.add(key, digest(secret))
            await unit.audit.record(Act.CREATE_KEY, now, object=key.id)
            await unit.commit()
        return key, f"xm_{key.id.hex}_{secret}"

    async def warn_if_nobody_may(self) -> None:
        """Say how to make a key where keys are asked for and there is none."""
        if not self.required or self.admin_digest is not None:
            return
        async with self.storage.access() as unit:
            if not await unit.keys.any_valid(self.clock()):
                log.warning(
                    "keys are asked for and there is none, so nobody can use this service: start it with "
                    "XMEMORY_ADMIN_KEY=$(openssl rand -hex 32), which then makes keys: xmemory keys create --help"
                )

    async def page(self, after: UUID | None, limit: int) -> Sequence[Key]:
        """Keys, oldest first, with those that have ended."""
        async with self.storage.access() as unit:
            found = await unit.keys.page(after, limit)
        return [replace(key, last_used_at=self._uses.get(key.id, key.last_used_at)) for key in found]

    async def revoke(self, id_: UUID) -> None:
        """End a key, from this commit on and everywhere; once more changes nothing. Raises NotFound."""
        now = self.clock()
        async with self.storage.write_access() as unit:
            if await unit.keys.revoke(id_, now):
                await unit.audit.record(Act.REVOKE_KEY, now, object=id_)
            await unit.commit()

    @asynccontextmanager
    async def noting_uses(self) -> AsyncIterator[None]:
        """While this lasts, and once at its end, write down when keys were last used: beside requests, not in them."""
        writing = asyncio.create_task(self._keep_noting())
        try:
            yield
        finally:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
            await self.note_uses()

    async def _keep_noting(self) -> None:
        while True:
            await asyncio.sleep(NOTED_EVERY.total_seconds())
            await self.note_uses()

    async def note_uses(self) -> None:
        """Write down the uses since the last time. What the database does not take is tried again the next time."""
        uses = dict(self._uses)
        if not uses:
            return
        try:
            async with self.storage.write_access() as unit:
                await unit.keys.note_uses(uses)
                await unit.commit()
        except StoreUnavailable:
            log.warning("the last use of %d keys could not be written", len(uses))
            return
        for id_, at in uses.items():
            if self._uses.get(id_) == at:
                del self._uses[id_]
