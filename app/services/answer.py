"""Answer: search, then say what the evidence says, with citations, or say that it does not."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.answers import Citation, answer
from app.domain.ids import MessageId
from app.domain.support import Passage
from app.services.memory import MessageRef
from app.services.search import Ask, Found, Search
from app.storage.unit_of_work import Clock


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


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers from the same context that search hands out."""

    search: Search
    clock: Clock

    async def answer(self, namespace: str, ask: Ask) -> Answered:
        """Answer a question, or abstain. Raises what search raises."""
        found = await self.search.search(namespace, ask)
        # Off the event loop: weighing every sentence of long messages takes seconds.
        said = await asyncio.to_thread(answer, found.question, _passages(found), known_speakers=found.speakers)
        references = _references(found)
        times = {message.id: message.occurred_at for hit in found.hits for message in hit.evidence.messages}
        return Answered(
            answer=said.text,
            abstained=said.abstained,
            reason=said.reason,
            confidence=said.confidence,
            citations=tuple(
                Cited(citation, references[citation.message], times[citation.message]) for citation in said.citations
            ),
            found=found,
        )


def _passages(found: Found) -> Sequence[Passage]:
    """The messages whose words were handed out, best first."""
    return [
        Passage(
            message=message,
            score=hit.item.score,
            statement=hit.evidence.statement,
            episode=message.episode,
        )
        for hit in found.hits
        for message in hit.evidence.messages
    ]


def _references(found: Found) -> Mapping[MessageId, MessageRef]:
    return {reference.id: reference for hit in found.hits for reference in hit.references}
