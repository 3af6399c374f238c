"""A namespace that has messages gets those of a file that it lacks. What is drawn from them is drawn anew.

They are appended as a client would append them, a block in a transaction, so the order of their event times tells what
supersedes what. Between two blocks the steps that work on the one before have their turn.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from app.domain.ids import ConversationId, MessageId
from app.domain.jobs import Attempt, Unfinished
from app.domain.messages import Draft
from app.services.ingest import Ingest, words_of
from app.services.transfer.lines import ConversationLine, MessageLine
from app.services.transfer.progress import Far, parsed, read_block
from app.services.transfer.restoring import as_message
from app.storage.unit_of_work import Storage, WriteUnit

OWN_ID = "xmemory:"  # begins the external id of a message that had none: sent again, it is known again

Drafts = Sequence[tuple[MessageId, Draft]]
"""Messages as they are to be appended, each with the id that it had."""
Words = Mapping[MessageId, Sequence[str]]
"""The terms that each is found by."""


@dataclass(frozen=True, slots=True)
class Merging:
    """Adds the messages of a file."""

    storage: Storage
    ingest: Ingest

    async def merge(self, attempt: Attempt) -> Mapping[str, Any] | Unfinished:
        """Add the messages of one more block; after the last, remove the blocks."""
        far = Far.of(attempt)
        block = await read_block(self.storage, attempt, far.block + 1)
        if block is None:
            await self._remove_blocks(attempt)
            return far.result(attempt)
        lines = await asyncio.to_thread(parsed, block)
        messages = [line for line in lines if isinstance(line, MessageLine)]
        names = await self._names(attempt) if messages else {}
        await self._append(attempt, far, len(lines), messages, names)
        return Unfinished(far.result(attempt))

    async def _names(self, attempt: Attempt) -> Mapping[ConversationId, str]:
        """What the file calls its conversations: they stand before all else."""
        names: dict[ConversationId, str] = {}
        number = 1
        while (block := await read_block(self.storage, attempt, number)) is not None:
            lines = await asyncio.to_thread(parsed, block)
            found = [line for line in lines if isinstance(line, ConversationLine)]
            names |= {ConversationId(line.id): line.name for line in found}
            if len(found) < len(lines):
                break
            number += 1
        return names

    async def _append(
        self,
        attempt: Attempt,
        far: Far,
        lines: int,
        messages: Sequence[MessageLine],
        names: Mapping[ConversationId, str],
    ) -> None:
        groups = [
            (names[ConversationId(conversation)], [(MessageId(line.id), _draft(line)) for line in group])
            for conversation, group in groupby(messages, key=lambda line: line.conversation_id)
        ]
        for conversation, drafts in groups:
            words = dict(zip((id_ for id_, _ in drafts), await words_of([draft for _, draft in drafts]), strict=True))
            async with self.storage.write(attempt.namespace) as unit:
                fresh = await _fresh(unit, conversation, drafts)
                accepted = await self._store(unit, conversation, fresh, words) if fresh else 0
                far.messages += accepted
                far.skipped += len(drafts) - accepted
                await unit.jobs.report(attempt, far.result(attempt))
                await unit.commit(revises_memory=accepted > 0)
        async with self.storage.write(attempt.namespace) as unit:
            far.block += 1
            far.lines += lines
            await unit.jobs.report(attempt, far.result(attempt))
            await unit.commit(revises_memory=False)

    async def _store(self, unit: WriteUnit, conversation: str, fresh: Drafts, words: Words) -> int:
        drafts = [draft for _, draft in fresh]
        found = [words[id_] for id_, _ in fresh]
        ingested = await self.ingest.append_to(unit, conversation, drafts, found, self.ingest.clock())
        return ingested.count("accepted")

    async def _remove_blocks(self, attempt: Attempt) -> None:
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.report(attempt, attempt.job.result or {})
            await unit.transfer.clear_blocks()
            await unit.commit(revises_memory=False)


async def _fresh(unit: WriteUnit, conversation: str, drafts: Drafts) -> Drafts:
    """The messages that are not there, by the id that they had or by the client's."""
    there = {place.id for place in await unit.messages.places(id_ for id_, _ in drafts)}
    place = await unit.messages.find_conversation(conversation)
    known: Mapping[str, object] = {}
    if place is not None:
        known = await unit.messages.known(place, [draft.external_id for _, draft in drafts if draft.external_id])
    return [(id_, draft) for id_, draft in drafts if id_ not in there and draft.external_id not in known]


def _draft(line: MessageLine) -> Draft:
    message = as_message(line)
    return Draft(
        role=message.role,
        content=message.content,
        external_id=message.external_id or f"{OWN_ID}{message.id}",
        speaker=message.speaker,
        occurred_at=message.occurred_at,
        images=message.images,
        metadata=message.metadata,
    )
