"""Answer: search, then say what the evidence says, with citations, or say that it does not."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from app.domain.answers import CONFLICT, OUTSIDE_TIME, Answer, Citation, Evidence, answer
from app.domain.confidence import Heard
from app.domain.errors import FieldError, InvalidInput
from app.domain.forms import FIELD
from app.domain.ids import MessageId
from app.domain.packing import dated
from app.domain.records import Statement
from app.domain.support import Passage, Saying, saying
from app.services.composing import Composing
from app.services.memory import MessageRef, refer
from app.services.search import MOST_STARTS, Ask, Found, Search, overtaken
from app.services.spending import spending
from app.services.stopping import in_thread
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
    """`answer` is None exactly when it abstained, with a reason code; `data` are there if it did not, and data were
    asked for.
    """

    answer: str | None
    abstained: bool
    reason: str | None
    confidence: float
    citations: tuple[Cited, ...]
    data: Mapping[str, Any] | None
    found: Found
    usage: Usage


@dataclass(frozen=True, slots=True)
class Listener:
    """Whoever follows an answer that is being made."""

    found: Callable[[Found], None]
    """Told of the evidence before anything is said; again if some of it was erased meanwhile, and all begins anew."""
    said: Callable[[str], None]
    """Told all that a language model has answered so far: nothing of it is checked, and it may begin anew."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers from the same context that search hands out."""

    search: Search
    clock: Clock
    composing: Composing | None = None
    """Where there is a language model."""

    async def answer(self, namespace: str, ask: Ask, listener: Listener | None = None) -> Answered:
        """Answer a question, or abstain. Raises what search raises, and what the language model raises.

        InvalidInput where data are wanted and there is no language model.
        """
        if ask.form is not None and self.composing is None:
            detail = "needs a language model, and there is none (XMEMORY_CHAT=extractive)"
            raise InvalidInput(f"json_schema {detail}", [FieldError(FIELD, detail)])
        async with spending(self.search.storage, namespace) as meter:
            answered = await self._lasting(namespace, ask, listener)
        return replace(answered, usage=meter.total)

    async def _lasting(self, namespace: str, ask: Ask, listener: Listener | None) -> Answered:
        """An answer of whose evidence nothing was erased while it was thought about."""
        for _ in range(MOST_STARTS):
            answered = await self._answer(namespace, ask, listener)
            async with self.search.storage.read(namespace) as unit:
                if unit.namespace.erasures == answered.found.erasures:
                    return answered
        raise overtaken()

    async def _answer(self, namespace: str, ask: Ask, listener: Listener | None) -> Answered:
        found = await self.search.search(namespace, ask)
        if listener is not None:
            listener.found(found)
        said = await self._say(namespace, found, listener)
        cited = await self._named(namespace, found, said.citations)
        return Answered(
            answer=said.text,
            abstained=said.abstained,
            reason=said.reason,
            confidence=said.confidence,
            citations=cited,
            data=await self._data(ask, said, cited),
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

    async def _data(self, ask: Ask, said: Answer, cited: Sequence[Cited]) -> Mapping[str, Any] | None:
        if ask.form is None or said.text is None or self.composing is None:
            return None
        quotes = [f"{dated(one.occurred_at.date())}: {one.citation.quote}" for one in cited]
        return await self.composing.data(ask.text, said.text, quotes, ask.form)

    async def _say(self, namespace: str, found: Found, listener: Listener | None) -> Answer:
        asked_at = found.ask.asked_at or self.clock()
        evidence = await self.evidence(namespace, found)
        if self.composing is None:
            said = await self._drawn(namespace, found, evidence, asked_at)
        else:
            heard = None if listener is None else listener.said
            said = await self.composing.compose(namespace, found, evidence, asked_at, heard)
        if said.reason in (None, CONFLICT) or found.ask.limits.is_timeless:
            return said
        if not await self._is_known(namespace, found, asked_at):
            return said
        return replace(said, reason=OUTSIDE_TIME, citations=())

    async def evidence(self, namespace: str, found: Found) -> Evidence:
        """What an answer is drawn from, or held to: the messages whose words were handed out."""
        near, named = found.word_by_word, found.question.names
        said = {True: list[float](), False: list[float]()}
        for message, match in near.matches.items():
            said[near.speakers[message] in named].append(match)
        passages = _passages(found, await self._outdated(namespace, found))
        return Evidence(passages, found.speakers, near.asked, Heard(named=said[True], others=said[False]))

    async def _drawn(self, namespace: str, found: Found, evidence: Evidence, asked_at: datetime) -> Answer:
        """The answer without a language model. In a thread: weighing every sentence of long messages takes seconds."""
        async with self.search.lane.place(namespace):
            return await in_thread(lambda look: answer(found.question, evidence, asked_at.date(), look=look))

    async def _is_known(self, namespace: str, found: Found, asked_at: datetime) -> bool:
        """Whether memory answers the question once no time limits it."""
        ask = replace(found.ask, limits=found.ask.limits.timeless(), min_sequence=None, explain=False)
        elsewhere = await self.search.search(namespace, ask)
        evidence = await self.evidence(namespace, elsewhere)
        return not (await self._drawn(namespace, elsewhere, evidence, asked_at)).abstained

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
