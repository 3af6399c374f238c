"""Composing: a language model's answer from the evidence that was found, held to the lines that it cites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from app.domain.answers import NO_EVIDENCE, Answer, Evidence, abstention
from app.domain.chat import Prompt
from app.domain.errors import ContextOverflow, UnusableReply
from app.domain.fencing import numbered
from app.domain.forms import Form
from app.domain.ids import EpisodeId, ThemeId
from app.domain.levels import Level
from app.domain.messages import Message
from app.domain.packing import Item, context_lines
from app.domain.support import Passage
from app.domain.verdicts import Source, Told, judge
from app.prompts import answer as prompt
from app.prompts import data as as_data
from app.providers.protocols import ChatModel, Heard
from app.providers.structured import ask
from app.providers.unfinished import string_so_far
from app.services.asking import fits
from app.services.search import Found, Hit
from app.services.stopping import in_thread
from app.storage.unit_of_work import ReadUnit, Storage

KEPT = 0.8  # share of the evidence that is kept when all of it is too long for the model's window


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the model said, and the hits by the numbers that it saw."""

    said: prompt.Said
    hits: Mapping[int, Hit]


@dataclass(frozen=True, slots=True)
class Composing:
    """Asks the model over the context that the caller is handed too."""

    storage: Storage
    chat: ChatModel

    async def compose(
        self, namespace: str, found: Found, evidence: Evidence, asked_at: datetime, heard: Heard | None = None
    ) -> Answer:
        """Answer or abstain; `heard` is told of the answer while it is written, before it is held to anything.

        Raises what the model raises: there is no answer but its own.
        """
        if not found.hits:
            return abstention(NO_EVIDENCE)
        asked = await self._ask(found, asked_at, None if heard is None else _answer_alone(heard))
        async with self.storage.read(namespace) as unit:
            sources = [await _source(unit, asked.hits[line], evidence) for line in asked.said.lines]
        told = Told(asked.said.answer, asked.said.reason, sources)
        return await in_thread(lambda look: judge(found.question, evidence, told, look=look))

    async def data(self, question: str, text: str, quotes: Sequence[str], form: Form) -> Mapping[str, Any]:
        """An answer that was given, once more in a form; `quotes` are what it cites. Raises what the model raises."""

        def parse(data: object) -> Mapping[str, Any]:
            assert isinstance(data, dict)  # `ask` promises an object
            return form.checked(data)

        return await ask(self.chat, as_data.render(question, text, quotes, form.schema), parse)

    async def _ask(self, found: Found, asked_at: datetime, heard: Heard | None) -> _Asked:
        """Ask about as much of the evidence, best first, as the model's window holds."""
        hits = sorted(found.hits, key=lambda hit: -hit.item.score)
        while True:
            by_line, asked = _render(found.ask.text, hits, asked_at)
            try:
                if len(hits) == 1 or await fits(self.chat, asked):
                    parse = partial(_parse, lines=by_line)
                    return _Asked(await ask(self.chat, asked, parse, heard=heard), by_line)
            except ContextOverflow:
                if len(hits) == 1:
                    raise
            hits = hits[: max(1, int(KEPT * len(hits)))]


def _answer_alone(heard: Heard) -> Heard:
    """Of a reply that is being written the answer, each time there is more of it."""
    so_far = ""

    def hear(text: str) -> None:
        nonlocal so_far
        answer = string_so_far(text, prompt.ANSWER).lstrip()
        if answer and answer != so_far:
            so_far = answer
            heard(answer)

    return hear


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
    """The reply without lines that were not shown; an answer that rests on nothing else is unusable."""
    said = prompt.parse(data)
    there = tuple(line for line in said.lines if line in lines)
    if not there and not said.reason:
        raise UnusableReply(f"it cites none of the lines 1 to {len(lines)}")
    return prompt.Said(said.answer, there, said.reason)


async def _source(unit: ReadUnit, hit: Hit, evidence: Evidence) -> Source:
    """The messages behind a line."""
    if not hit.evidence.messages:
        messages = await _behind(unit, hit.item)
        return Source([Passage(one, hit.item.score, episode=one.episode) for one in messages], quoted=False)
    inside = {message.id for message in hit.evidence.messages}
    passages = [p for p in evidence.passages if p.message.id in inside and p.statement == hit.evidence.statement]
    return Source(passages, quoted=True)


async def _behind(unit: ReadUnit, item: Item) -> Sequence[Message]:
    """All that an episode or a theme rests on."""
    if item.level is Level.EPISODE:
        return await unit.messages.of_episode(EpisodeId(item.id))
    members = await unit.statements.of_themes([ThemeId(item.id)])
    stated = await unit.statements.many(statement for group in members.values() for statement, _ in group)
    cited = {message for statement in stated.values() for message in statement.messages}
    return list((await unit.messages.many(cited)).values())
