"""Erasing: messages go, with all that was derived from them; what is left is as if they had never been.

All of it happens in one transaction and without a model: nobody reads a word of them from its commit on. What a model
has a share in follows: vectors of episodes that were told anew, better words where there is a language model.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from app.domain.episodes import Episode
from app.domain.ids import ConversationId, EpisodeId, MessageId
from app.domain.invariants import shown
from app.domain.jobs import Step
from app.domain.levels import Level
from app.domain.messages import Message, render
from app.domain.narration import narrative, title
from app.domain.provenance import EXTRACTIVE
from app.domain.text import count_tokens, terms
from app.services.redacting import redact
from app.services.removing import withdraw
from app.storage.unit_of_work import WriteUnit


async def erase(unit: WriteUnit, ids: Collection[MessageId], now: datetime, *, retold: bool) -> Mapping[str, int]:
    """Erase messages, a few hundred at most. Returns how many rows went, by table; themes are those that ended.

    `retold`: there is a language model, that tells episodes better than we can here.
    """
    gone = sorted((await unit.messages.many(ids)).values(), key=lambda message: message.sequence)
    if not gone:
        return {}
    lost = [message.id for message in gone]
    names = await unit.messages.conversation_names(message.conversation for message in gone)
    withdrawn = await withdraw(unit, lost, now)
    await unit.words.remove(Level.MESSAGE, lost)
    await unit.embeddings.remove(Level.MESSAGE, lost)
    await unit.erasures.bury(gone, names, now)
    episodes = await _episodes(unit, {message.episode for message in gone if message.episode}, now, retold=retold)
    await redact(unit, lost, min(message.recorded_at for message in gone), await _ended(unit, names))
    erased = Counter(messages=len(gone), episodes=episodes)
    erased.update(citations=withdrawn.citations, statements=withdrawn.statements, themes=withdrawn.themes)
    return +erased


async def _ended(unit: WriteUnit, names: Mapping[ConversationId, str]) -> frozenset[str]:
    """Of these conversations' names those that no conversation has now."""
    present = {name: await unit.messages.find_conversation(name) for name in names.values()}
    return frozenset(name for name, conversation in present.items() if conversation is None)


async def _episodes(unit: WriteUnit, ids: Collection[EpisodeId], now: datetime, *, retold: bool) -> int:
    """Tell episodes anew from the messages that they have left. Returns how many had none, and went."""
    empty: list[EpisodeId] = []
    for id_, episode in (await unit.episodes.many(ids)).items():
        left = await unit.messages.of_episode(id_)
        if not left:
            empty.append(id_)
            continue
        told = await asyncio.to_thread(_told, episode, left, degraded=retold)
        await _rewrite(unit, told)
        if retold and told.admitted:
            await unit.jobs.enqueue(Step.NARRATE, str(id_), {}, now)
    if empty:
        await unit.words.remove(Level.EPISODE, empty)
        await unit.embeddings.remove(Level.EPISODE, empty)
        await unit.erasures.remove_episodes(empty)
        await unit.jobs.remove(list(map(str, empty)))
    return len(empty)


def _told(episode: Episode, messages: Sequence[Message], *, degraded: bool) -> Episode:
    times = [message.occurred_at for message in messages]
    return replace(
        episode,
        title=title(messages),
        narrative=narrative(messages),
        message_count=len(messages),
        tokens=sum(count_tokens(render(message)) for message in messages),
        first_sequence=messages[0].sequence,
        last_sequence=messages[-1].sequence,
        started_at=min(times),
        ended_at=max(times),
        degraded=degraded,
        made_by=EXTRACTIVE,
    )


async def _rewrite(unit: WriteUnit, told: Episode) -> None:
    """Store an episode's new words and numbers; its vectors are made again by the job `forget`."""
    await unit.repairs.set_episode(
        told.id,
        title=told.title,
        narrative=told.narrative,
        message_count=told.message_count,
        tokens=told.tokens,
        first_sequence=told.first_sequence,
        last_sequence=told.last_sequence,
        started_at=told.started_at,
        ended_at=told.ended_at,
        degraded=told.degraded,
        made_by=asdict(told.made_by),
    )
    await unit.words.replace(Level.EPISODE, {told.id: terms(shown(told))})
    await unit.embeddings.remove(Level.EPISODE, [told.id])
