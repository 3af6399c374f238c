"""Labelling: a language model names the themes whose label stands in for a better one, many in a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import ContextOverflow, CutOff, UnusableReply
from app.domain.ids import NamespaceId, StatementId
from app.domain.jobs import Attempt
from app.domain.keyphrases import shorten
from app.domain.naming import Naming
from app.domain.provenance import MadeBy
from app.domain.records import Theme
from app.domain.text import terms
from app.prompts import label
from app.providers.protocols import ChatModel
from app.providers.structured import ask
from app.services.asking import fits
from app.storage.unit_of_work import Storage

AT_ONCE = 600  # themes in one job; what is more waits for the next
MEMBERS = 8  # statements of a theme that are shown: of a dozen these tell what it is about
MEMBER_CHARACTERS = 160
ROUNDS = 2  # a model that passes over some of a dozen themes names them when it is asked again


@dataclass(frozen=True, slots=True)
class Labelling:
    """Names themes. Structure never waits for it; a theme that changes meanwhile keeps its stand-in."""

    storage: Storage
    chat: ChatModel | None

    async def label(self, attempt: Attempt) -> Mapping[str, Any]:
        """Name all themes that wait. Raises what the model raises; what was named before that stays named."""
        if self.chat is None:
            return {"labelled": 0}
        async with self.storage.read(attempt.namespace) as unit:
            waiting = list(await unit.themes.degraded(AT_ONCE))
        total, labelled = len(waiting), 0
        for _ in range(ROUNDS):
            passed_over: list[Theme] = []
            for start in range(0, len(waiting), label.MOST):
                written, left = await self._name(attempt, self.chat, waiting[start : start + label.MOST])
                labelled += written
                passed_over += left
            waiting = passed_over
        if waiting:
            raise UnusableReply(f"{len(waiting)} of {total} themes got no label that fits")
        return {"labelled": labelled}

    async def _name(self, attempt: Attempt, chat: ChatModel, themes: Sequence[Theme]) -> tuple[int, Sequence[Theme]]:
        """Name some themes; returns how many names were written, and the themes that got none that fits."""
        members = await self._members(attempt.namespace, themes)
        named = await _ask(chat, [[shorten(text, MEMBER_CHARACTERS) for _, text in shown] for shown in members])
        made_by = MadeBy(chat.name, chat.revision, f"label/{label.VERSION}")
        async with self.storage.write(attempt.namespace) as unit:
            await unit.jobs.check(attempt, unit.namespace.erasures)
            written = 0
            for place, one in named.items():
                told = tuple(statement for statement, _ in members[place])
                naming = Naming(one.label, one.summary, degraded=False, made_by=made_by, made_from=told)
                written += await unit.themes.name(themes[place].id, themes[place].version, naming)
            await unit.commit()
        return written, [theme for place, theme in enumerate(themes) if place not in named]

    async def _members(
        self, namespace: NamespaceId, themes: Sequence[Theme]
    ) -> Sequence[Sequence[tuple[StatementId, str]]]:
        async with self.storage.read(namespace) as unit:
            members = await unit.statements.of_themes([theme.id for theme in themes])
        return [members.get(theme.id, ())[:MEMBERS] for theme in themes]


async def _ask(chat: ChatModel, groups: Sequence[Sequence[str]]) -> dict[int, label.Named]:
    """Names by place, without those that say nothing that their group says; in halves if all are too long."""
    prompt = label.render(groups)
    try:
        if len(groups) == 1 or await fits(chat, prompt):
            found = await ask(chat, prompt, label.parse, divisible=len(groups) > 1)
            named = {one.number - 1: one for one in found if 1 <= one.number <= len(groups)}
            return {place: one for place, one in named.items() if _tells_of(one, groups[place])}
    except (ContextOverflow, CutOff):
        if len(groups) == 1:
            raise
    middle = len(groups) // 2
    behind = await _ask(chat, groups[middle:])
    return await _ask(chat, groups[:middle]) | {middle + place: one for place, one in behind.items()}


def _tells_of(named: label.Named, group: Sequence[str]) -> bool:
    """Whether a label shares a word with what it is for: one that was made up, or learnt by heart, does not."""
    said = {term for text in group for term in terms(text)}
    return not said.isdisjoint(terms(f"{named.label} {named.summary}"))
