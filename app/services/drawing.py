"""Drawing: what an episode's messages are worth remembering for, by rule or by a language model."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.domain.accounts import Account, Told, candidates
from app.domain.backing import Backing
from app.domain.episodes import Episode
from app.domain.extraction import extract
from app.domain.filters import Filter
from app.domain.ids import NamespaceId, StatementId
from app.domain.keyphrases import shorten
from app.domain.levels import Level
from app.domain.messages import SPOKEN, Message
from app.domain.modes import AdmitMode
from app.domain.pieces import number
from app.domain.provenance import EXTRACTIVE, MadeBy
from app.domain.records import Statement
from app.domain.screening import Screened, screen
from app.domain.text import terms
from app.prompts import predict, statements
from app.providers.protocols import ChatModel
from app.providers.structured import ask
from app.services.asking import ask_in_parts
from app.storage.filters import within
from app.storage.unit_of_work import Storage

KNOWN = 8  # stored statements that a model is shown; they cost a third of what the messages do
ANSWERED_WITHIN = timedelta(days=1)  # a question that ends an episode may be answered in the next
NARRATIVE_CHARACTERS = 1200  # of an episode that was told in several parts
NOTHING = Screened((), ())
MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn. `refused` counts what never became a candidate; `shown` are statements it may update."""

    screened: Screened
    made_by: MadeBy = EXTRACTIVE
    told: Told | None = None
    shown: tuple[StatementId, ...] = ()
    refused: Counter[str] | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Draws candidates in one of the modes. `chat` is there if the mode needs it."""

    storage: Storage
    mode: AdmitMode
    chat: ChatModel | None = None

    async def draw(self, namespace: NamespaceId, episode: Episode, messages: Sequence[Message]) -> Drawn:
        """Candidates that their messages support. Raises what a model raises: it has no stand-in."""
        if self.mode is AdmitMode.OFF:
            return Drawn(NOTHING)
        if self.chat is None or not self.mode.asks_model:
            earlier = await self._before(namespace, messages[0])
            return Drawn(await asyncio.to_thread(_extracted, messages, earlier))
        spoken = [message for message in messages if message.role in SPOKEN]
        if not spoken:  # instructions and results of tools: there is nothing to ask about
            return Drawn(NOTHING, told=Told(episode.title, episode.narrative))
        known = await self._related(namespace, episode)
        return await self._asked(self.chat, episode, spoken, known)

    async def _before(self, namespace: NamespaceId, message: Message) -> Message | None:
        """The message before this one, if it is near enough to be answered by it."""
        async with self.storage.read(namespace) as unit:
            found = await unit.messages.before(message)
        return found if found and abs(message.occurred_at - found.occurred_at) <= ANSWERED_WITHIN else None

    async def _related(self, namespace: NamespaceId, episode: Episode) -> Sequence[Statement]:
        """The current statements nearest to the episode, nearest first."""
        async with self.storage.read(namespace) as unit:
            vectors = await unit.embeddings.vectors(Level.EPISODE, [episode.id])
            if episode.id not in vectors:  # it was told anew because messages went, and has not got its vector yet
                return ()
            current = within(Level.STATEMENT, Filter())
            near = await unit.embeddings.nearest(Level.STATEMENT, vectors[episode.id], KNOWN, current)
            found = await unit.statements.many(StatementId(id_) for id_ in near.similarities)
        return [found[StatementId(id_)] for id_ in near.similarities]

    async def _asked(
        self, chat: ChatModel, episode: Episode, spoken: Sequence[Message], known: Sequence[Statement]
    ) -> Drawn:
        aliases = {f"s{place}": statement for place, statement in enumerate(known, 1)}
        texts = {alias: statement.text for alias, statement in aliases.items()}
        predicted, prompt = "", f"statements/{statements.VERSION}"
        if known and self.mode is AdmitMode.PREDICT:
            speakers = list(dict.fromkeys(message.who for message in spoken))
            asked = predict.render(texts, episode.title, speakers, episode.started_at)
            predicted, prompt = await ask(chat, asked, predict.parse), f"{asked.name} {prompt}"
        accounts = await ask_in_parts(
            chat, number(spoken), lambda pieces: statements.render(pieces, texts, predicted), statements.parse
        )
        ids = {alias: statement.id for alias, statement in aliases.items()}
        screened, refused = await asyncio.to_thread(_screened, accounts, spoken, ids, list(texts.values()))
        return Drawn(
            screened=screened,
            made_by=MadeBy(chat.name, chat.revision, prompt),
            told=joined([account.told for account in accounts]),
            shown=tuple(ids.values()),
            refused=refused,
        )


def joined(parts: Sequence[Told]) -> Told:
    """One title and narrative for an episode that was told in parts."""
    return Told(parts[0].title, shorten(" ".join(part.narrative for part in parts), NARRATIVE_CHARACTERS))


def _extracted(messages: Sequence[Message], earlier: Message | None) -> Screened:
    shown = [earlier, *messages] if earlier else messages
    return screen(extract(messages, earlier), Backing({message.id: message for message in shown}))


def _screened(
    accounts: Sequence[Account], spoken: Sequence[Message], known: Mapping[str, StatementId], texts: Sequence[str]
) -> tuple[Screened, Counter[str]]:
    noted = [note for account in accounts for note in account.noted]
    drawn, unknown = candidates(noted, dict(enumerate(spoken, 1)), known)
    refused = Counter({reason.value: count for reason, count in unknown.items()})
    if malformed := sum(account.malformed for account in accounts):
        refused[MALFORMED] = malformed
    named = frozenset(term for text in texts for term in terms(text))
    backing = Backing({message.id: message for message in spoken}, rephrased=True, also=named)
    return screen(drawn, backing), refused
