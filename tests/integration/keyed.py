"""A service that asks for keys, and clients that show one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from pydantic import SecretStr

from app.settings import Settings
from tests.conftest import WAIT, Api

ADMIN_KEY = "the-key-of-the-administrator-of-these-tests"


def asking_for_keys(settings: Settings) -> Settings:
    """The same service, but it asks."""
    return settings.model_copy(update={"auth": "keys", "admin_key": SecretStr(ADMIN_KEY)})


@asynccontextmanager
async def showing(api: Api, key: str | None) -> AsyncIterator[Api]:
    """Another client of the same service, which shows this key; None shows none."""
    headers = None if key is None else {"Authorization": f"Bearer {key}"}
    async with Api(base_url=api.base_url, headers=headers, timeout=WAIT + 30) as client:
        yield client


async def make_key(admin: httpx.AsyncClient, *namespaces: str, scopes: str = "read write delete") -> dict[str, str]:
    """A new key that opens these namespaces, as the API tells it."""
    order = {"name": "a test", "scopes": scopes.split(), "namespaces": namespaces}
    reply = await admin.post("/v1/keys", json=order)
    assert reply.status_code == 201, reply.text
    assert reply.headers["cache-control"] == "no-store"
    made: dict[str, str] = reply.json()
    return made
