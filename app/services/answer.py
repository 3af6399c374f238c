"""Answer: search, then say what the evidence says, with citations, or say that it does not."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.domain.answers import OUTSIDE_TIME, Answer, Citation, Evidence, answer
from app.domain.confidence import Heard
from app.domain.ids import MessageId
from app.domain.records import Statement
from app.domain.support import Passage, Saying, saying
from app.services.composing import Composing
from app.services.memory import MessageRef, refer
from app.services.search import Ask, Found, Search
from app.services.spending import spending
from app.storage.unit_of_work import Clock
from app.telemetry.usage import Usage


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation with what its message is called and when it was said."""

    citation: Citation
    message: MessageRef
    occurred_at: datetime


@dataclass(frozen=True, slots=True)
class Answered:
    """`answer` is None exactly when it abstained, with a reason code."""

    answer: str | None
    abstained: bool
    reason: str | None
    confidence: float
    citations: tuple[Cited, ...]
    found: Found
    usage: Usage


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers from the same context that search hands out."""

    search: Search
    clock: Clock
    composing: Composing | None = None
    """Where there is a language model."""

    async def answer(self, namespace: str, ask: Ask) -> Answered:
        """Answer a question, or abstain. Raises what search raises, and what the language model raises."""
        async with spending(self.search.storage, namespace) as meter:
            answered = await self._answer(namespace, ask)
        return replace(answered, usage=meter.total)

    async def _answer(self, namespace: str, ask: Ask) -> Answered:
        found = await self.search.search(namespace, ask)
        said = await self._say(namespace, found, ask.asked_at or self.clock())
        return Answered(
            answer=said.text,
            abstained=said.abstained,
            reason=said.reason,
            confidence=said.confidence,
            citations=await self._named(namespace, found, said.citations),
            found=found,
            usage={},
        )

    async def _named(self, namespace: str, found: Found, citations: Sequence[Citation]) -> tuple[Cited, ...]:
        """The citations with their messages' names; a model may cite messages behind an episode."""
        references = {reference.id: reference for hit in found.hits for reference in hit.references}
        messages = {message.id: message for hit in found.hits for message in hit.evidence.messages}
        behind = {citation.message for citation in citations} - references.keys()
        if behind:
            async with self.search.storage.read(namespace) as unit:
                references |= await refer(unit, behind)
                messages |= await unit.messages.many(behind)
        return tuple(
            Cited(citation, references[citation.message], messages[citation.message].occurred_at)
            for citation in citations
            if citation.message in references  # else it was erased a moment ago
        )

    async def _say(self, namespace: str, found: Found, asked_at: datetime) -> Answer:
        if self.composing is not None:
            return await self.composing.compose(namespace, found, asked_at)
        said = await self._drawn(namespace, found, asked_at)
        if not said.abstained or found.ask.limits.is_timeless or not await self._is_known(namespace, found, asked_at):
            return said
        return replace(said, reason=OUTSIDE_TIME, citations=())

    async def evidence(self, namespace: str, found: Found) -> Evidence:
        """What an answer without a language model is drawn from: the messages whose words were handed out."""
        near, named = found.word_by_word, found.question.names
        said = {True: list[float](), False: list[float]()}
        for message, match in near.matches.items():
            said[near.speakers[message] in named].append(match)
        passages = _passages(found, await self._outdated(namespace, found))
        return Evidence(passages, found.speakers, near.asked, Heard(named=said[True], others=said[False]))

    async def _drawn(self, namespace: str, found: Found, asked_at: datetime) -> Answer:
        evidence = await self.evidence(namespace, found)
        # Off the event loop: weighing every sentence of long messages takes seconds.
        return await asyncio.to_thread(answer, found.question, evidence, asked_at.date())

    async def _is_known(self, namespace: str, found: Found, asked_at: datetime) -> bool:
        """Whether memory answers the question once no time limits it."""
        ask = replace(found.ask, limits=found.ask.limits.timeless(), min_sequence=None, explain=False)
        elsewhere = await self.search.search(namespace, ask)
        return not (await self._drawn(namespace, elsewhere, asked_at)).abstained

    async def _outdated(self, namespace: str, found: Found) -> Sequence[Statement]:
        """The statements of the messages that were handed out that others have superseded, at the time asked about."""
        messages = {message.id for hit in found.hits for message in hit.evidence.messages}
        async with self.search.storage.read(namespace) as unit:
            return await unit.statements.superseded(messages, found.ask.limits.as_of)


def _passages(found: Found, outdated: Sequence[Statement]) -> Sequence[Passage]:
    """The messages that were handed out, best first."""
    said: dict[MessageId, set[Saying]] = defaultdict(set)
    for statement in outdated:
        for message in statement.messages:
            said[message].add(saying(statement.text, statement.occurred_at))
    return [
        Passage(
            message=message,
            score=hit.item.score,
            statement=hit.evidence.statement,
            episode=message.episode,
            outdated=frozenset(said.get(message.id, ())),
            words=found.word_by_word.words.get(message.id),
        )
        for hit in found.hits
        for message in hit.evidence.messages
    ]
