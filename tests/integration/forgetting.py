"""What the tests of forgetting share: made-up words that stand nowhere else, and looking for them everywhere."""

import asyncio
from collections.abc import Sequence
from typing import Any

from app.container import build_doctor, build_seeker
from app.domain.sightings import Sought
from app.settings import Settings
from tests.conftest import WAIT, Api
from tests.integration.support import NOON, later

HOME = "/v1/namespaces/ada"


async def sightings(settings: Settings, *words: str) -> dict[str, list[str]]:
    """Where each of these words stands in the database; those that stand nowhere are left out."""
    found: dict[str, list[str]] = {}
    async with build_seeker(settings) as seeker:
        for word in words:
            if places := await seeker.seek(Sought.of(word)):
                found[word] = [place.place for place in places]
    return found


async def findings(settings: Settings) -> Sequence[Any]:
    """What the doctor finds."""
    async with build_doctor(settings) as (doctor, _):
        return [*await doctor.look_around(), *await doctor.examine(await doctor.patients())]


async def tell(api: Api, conversation: str, *contents: str, start: int = 0) -> list[str]:
    """Post messages of Ada a minute apart, from `start` minutes after NOON; returns their ids."""
    messages = [
        {
            "role": "user",
            "speaker": "Ada",
            "content": content,
            "external_id": f"{conversation}-{start + minute}",
            "occurred_at": later(start + minute),
            "metadata": {"note": content},
        }
        for minute, content in enumerate(contents)
    ]
    reply = await api.post(f"{HOME}/conversations/{conversation}/messages", json={"messages": messages})
    assert reply.status_code == 202, reply.text
    return [message["id"] for message in reply.json()["messages"]]


async def erased(api: Api, path: str) -> dict[str, Any]:
    """Delete, and wait until the receipt says that it is done."""
    reply = await api.delete(path)
    assert reply.status_code == 202, reply.text
    return await done(api, reply.json()["id"])


async def done(api: Api, receipt: str) -> dict[str, Any]:
    """The receipt once its erasure is done."""
    async with asyncio.timeout(WAIT):
        while True:
            found = (await api.get(f"/v1/receipts/{receipt}")).json()
            if found["state"] == "done":
                return found
            await asyncio.sleep(0.02)


__all__ = ["HOME", "NOON", "done", "erased", "findings", "sightings", "tell"]
