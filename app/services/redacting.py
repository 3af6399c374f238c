"""Redacting: answers that are kept for whoever sends a request again tell nothing of what was erased since.

They are not removed: without its answer a request that is sent again would take effect again.
"""

import asyncio
from collections.abc import Collection, Set
from datetime import datetime
from uuid import UUID

from app.domain.replies import mentions, redacted
from app.storage.unit_of_work import WriteUnit

NOBODY: frozenset[str] = frozenset()


async def redact(unit: WriteUnit, erased: Collection[UUID], since: datetime, conversations: Set[str] = NOBODY) -> None:
    """Rewrite the kept answers that name erased items, also the names of erased conversations in them.

    `since`: when the first of the items came into being; no answer from before that names it.
    """
    ids = frozenset(map(str, erased))
    kept = await unit.replies.since(since)
    changed = await asyncio.to_thread(
        lambda: {key: redacted(body, ids, conversations) for key, body in kept.items() if mentions(body, ids)}
    )
    for key, body in changed.items():
        await unit.replies.rewrite(key, body)
