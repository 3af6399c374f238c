"""Composing: a language model's answer from the evidence that was found, held to the lines that it cites."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from app.domain.answers import NO_EVIDENCE, Answer, Citation
from app.domain.chat import Prompt
from app.domain.errors import ContextOverflow, UnusableReply
from app.domain.fencing import numbered
from app.domain.ids import EpisodeId, MessageId, ThemeId
from app.domain.levels import Level
from app.domain.messages import Message
from app.domain.packing import Item, context_lines
from app.domain.questions import Question
from app.domain.support import Passage, Supported, weigh
from app.domain.text import terms
from app.prompts import answer as prompt
from app.providers.protocols import ChatModel
from app.providers.structured import ask
from app.services.asking import fits
from app.services.search import Found, Hit
from app.storage.unit_of_work import ReadUnit, Storage

KEPT = 0.8  # share of the evidence that is kept when all of it is too long for the model's window


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the model said, and the hits by the numbers that it saw."""

    said: prompt.Said
    hits: Mapping[int, Hit]


@dataclass(frozen=True, slots=True)
class _Source:
    """The messages behind a cited line. `quoted`: their words stand in it; else one of them may carry it."""

    passages: Sequence[Passage]
    quoted: bool


@dataclass(frozen=True, slots=True)
class Composing:
    """Asks the model once, over the context that the caller is handed too."""

    storage: Storage
    chat: ChatModel

    async def compose(self, namespace: str, found: Found, asked_at: datetime) -> Answer:
        """Answer or abstain. Raises what the model raises: there is no answer but its own."""
        if not found.hits:
            return _abstention(NO_EVIDENCE)
        asked = await self._ask(found, asked_at)
        if asked.said.reason:
            return _abstention(asked.said.reason)
        cited = [asked.hits[line] for line in asked.said.lines]
        async with self.storage.read(namespace) as unit:
            sources = [await _source(unit, hit) for hit in cited]
        return await asyncio.to_thread(_cited, found.question, asked.said.answer, sources)

    async def _ask(self, found: Found, asked_at: datetime) -> _Asked:
        """Ask about as much of the evidence, best first, as the model's window holds."""
        hits = sorted(found.hits, key=lambda hit: -hit.item.score)
        while True:
            by_line, asked = _render(found.ask.text, hits, asked_at)
            try:
                if len(hits) == 1 or await fits(self.chat, asked):
                    return _Asked(await ask(self.chat, asked, partial(_parse, lines=by_line)), by_line)
            except ContextOverflow:
                if len(hits) == 1:
                    raise
            hits = hits[: max(1, int(KEPT * len(hits)))]


def _render(question: str, hits: Sequence[Hit], asked_at: datetime) -> tuple[dict[int, Hit], Prompt]:
    """The prompt, and the hits by the numbers of their lines."""
    of_item = {id(hit.item): hit for hit in hits}
    lines: list[str] = []
    by_line: dict[int, Hit] = {}
    for text, item in context_lines(hit.item for hit in hits):
        if item is None:
            lines.append(text)
            continue
        by_line[len(by_line) + 1] = of_item[id(item)]
        lines.append(numbered(len(by_line), text))
    return by_line, prompt.render(question, lines, asked_at)


def _parse(data: object, lines: Mapping[int, Hit]) -> prompt.Said:
    """The reply without lines that were not shown; if it rests on nothing else, it is unusable."""
    said = prompt.parse(data)
    if said.reason:
        return said
    there = tuple(line for line in said.lines if line in lines)
    if not there:
        raise UnusableReply(f"it cites none of the lines 1 to {len(lines)}")
    return prompt.Said(said.answer, there, "")


async def _source(unit: ReadUnit, hit: Hit) -> _Source:
    messages: Sequence[Message] = hit.evidence.messages or await _behind(unit, hit.item)
    passages = [Passage(message, hit.item.score, hit.evidence.statement, message.episode) for message in messages]
    return _Source(passages, quoted=bool(hit.evidence.messages))


async def _behind(unit: ReadUnit, item: Item) -> Sequence[Message]:
    """All that an episode or a theme rests on."""
    if item.level is Level.EPISODE:
        return await unit.messages.of_episode(EpisodeId(item.id))
    members = await unit.statements.of_themes([ThemeId(item.id)])
    stated = await unit.statements.many(statement for group in members.values() for statement, _ in group)
    cited = {message for statement in stated.values() for message in statement.messages}
    return list((await unit.messages.many(cited)).values())


def _cited(question: Question, text: str, sources: Sequence[_Source]) -> Answer:
    """The answer with the sentences that carry most of it, one a message."""
    said = frozenset(terms(text))
    carrying: dict[MessageId, Supported] = {}
    for source in sources:
        best = _best(weigh(question, source.passages), said)
        for sentence in best if source.quoted else best[:1]:
            carrying.setdefault(sentence.passage.message.id, sentence)
    return Answer(
        text=text,
        abstained=False,
        reason=None,
        confidence=round(max((sentence.support for sentence in carrying.values()), default=0.0), 3),
        citations=tuple(_citation(sentence) for sentence in carrying.values()),
    )


def _best(sentences: Sequence[Supported], said: frozenset[str]) -> list[Supported]:
    """Of each message the sentence with most words of the answer, then with most support; best first."""
    ranked = sorted(sentences, key=lambda one: (-len(said & set(terms(one.text))), -one.support))
    return list({one.passage.message.id: one for one in reversed(ranked)}.values())[::-1]


def _citation(sentence: Supported) -> Citation:
    passage = sentence.passage
    return Citation(passage.message.id, sentence.text, passage.statement, passage.episode)


def _abstention(reason: str) -> Answer:
    return Answer(text=None, abstained=True, reason=reason, confidence=0.0, citations=())
