"""Narration: title and narrative of a closed episode, written by a language model after the fact."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.accounts import Told
from app.domain.episodes import Episode
from app.domain.ids import EpisodeId
from app.domain.invariants import shown
from app.domain.jobs import Attempt
from app.domain.late import Embedding
from app.domain.levels import Level
from app.domain.messages import SPOKEN
from app.domain.pieces import number
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.text import terms
from app.prompts import episode as prompt
from app.providers.embedders import Embedders
from app.providers.protocols import ChatModel, Embedder
from app.services.asking import ask_in_parts
from app.services.drawing import joined
from app.services.embedding import embed_parts
from app.storage.unit_of_work import Storage, WriteUnit

DONE = "already told"


@dataclass(frozen=True, slots=True)
class Narration:
    """Tells episodes whose title and narrative stand in for better ones. Without a model there are none."""

    storage: Storage
    embedders: Embedders[Embedder]
    chat: ChatModel | None

    async def narrate(self, attempt: Attempt, id_: EpisodeId) -> Mapping[str, Any]:
        """Tell one episode. Raises what the model raises; the stand-in stays then."""
        async with self.storage.read(attempt.namespace) as unit:
            episode = await unit.episodes.get(id_)
            spoken = [message for message in await unit.messages.of_episode(id_) if message.role in SPOKEN]
        if not episode.degraded or self.chat is None:
            return {"reason": DONE}
        told, made_by = Told(episode.title, episode.narrative), EXTRACTIVE
        if spoken:
            told = joined(await ask_in_parts(self.chat, number(spoken), prompt.render, prompt.parse))
            made_by = MadeBy(self.chat.name, self.chat.revision, f"episode/{prompt.VERSION}")
        text = retold(episode, told)
        [vectors] = await embed_parts(self.embedders.of(attempt.embedding_profile), [text])
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            done = await retell(unit, episode, told, made_by, vectors)
            await unit.commit()
        return {"told": 1} if done else {"reason": DONE}


def retold(episode: Episode, told: Told) -> str:
    """The text by which the episode will be found."""
    return shown(replace(episode, title=told.title, narrative=told.narrative))


async def retell(unit: WriteUnit, episode: Episode, told: Told, made_by: MadeBy, vectors: Sequence[Embedding]) -> bool:
    """Write what a model told, with its postings and vectors. False if the episode was told before."""
    if not await unit.episodes.tell(episode.id, told, made_by):
        return False
    await unit.words.replace(Level.EPISODE, {episode.id: terms(retold(episode, told))})
    await unit.embeddings.replace(Level.EPISODE, {episode.id: vectors})
    return True
