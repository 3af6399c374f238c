"""Conversations as the service remembers them, kept in a folder: each is ingested once, however often it is asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import torch

from app.container import Container, build
from app.evaluation.datasets import Conversation
from app.settings import Settings

NAMESPACE = "remembered"
FOLDER = Path("~/.cache/xmemory-benchmarks").expanduser()  # where they are kept, unless told otherwise
BATCH = 500  # messages of one post
WAIT = 600.0  # seconds that one flush waits


@asynccontextmanager
async def remembered(
    folder: Path, conversation: Conversation, sha256: str, **settings: object
) -> AsyncIterator[Container]:
    """A service in this process on the SQLite file of a conversation, which is made if it is not there.

    `settings` are further ones of the service. Torch runs in one thread.
    """
    torch.set_num_threads(1)
    path = folder / f"{sha256[:12]}-{conversation.number}.db"
    if not await asyncio.to_thread(path.exists):
        new = path.with_suffix(".new")
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        async with build(_settings(new)) as container:
            await _ingest(container, conversation)
        await asyncio.to_thread(new.rename, path)
    async with build(_settings(path, **settings)) as container:
        yield container


def _settings(path: Path, **more: object) -> Settings:
    return Settings(_env_file=None, database_url=f"sqlite+aiosqlite:///{path}", log_level="warning", **more)


async def _ingest(container: Container, conversation: Conversation) -> None:
    """Post all messages and wait until they are remembered."""
    for start in range(0, len(conversation.messages), BATCH):
        batch = conversation.messages[start : start + BATCH]
        await container.services.ingest.append(NAMESPACE, conversation.name, batch)
    working = asyncio.create_task(container.worker.run())
    while not (await container.services.flush.flush(NAMESPACE, None, WAIT)).settled:
        pass
    container.worker.stop()
    await working
