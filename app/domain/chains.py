"""Which of the statements of one topic holds: the one last said. Event time decides, not the order of arrival."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from app.domain.claims import Claim, excludes
from app.domain.ids import MessageId, StatementId

Ref: TypeAlias = StatementId | int
"""A stored statement, or the place of a new one among the new."""


NONE = MessageId(UUID(int=0))
"""Before every message."""


@dataclass(slots=True)
class Link:
    """A statement among those of its topic: said from `first` to `last`, by these messages.

    `follows` are statements that it updates by its own account. `fixed`: the user's own version, which only the
    user ends.
    """

    ref: Ref
    claim: Claim
    first: datetime
    last: datetime
    messages: frozenset[MessageId]
    superseded_by: Ref | None = None
    valid_to: datetime | None = None
    follows: frozenset[Ref] = field(default_factory=frozenset)
    fixed: bool = False

    @property
    def order(self) -> tuple[datetime, MessageId]:
        """The place in time; of the same moment, the message that came later is later."""
        return self.last, max(self.messages, default=NONE)

    def ends(self, other: "Link") -> bool:
        """Whether this link, said later, ends the other."""
        if other.fixed or self.messages & other.messages or self.order <= other.order:
            return False
        told = other.ref in self.follows or self.ref in other.follows
        return told or excludes(other.claim, self.claim, other.last.date(), self.first.date())


@dataclass(frozen=True, slots=True)
class Ending:
    """A statement that held until `at`, when another took its place."""

    ref: Ref
    by: Ref
    at: datetime


def endings(links: Sequence[Link]) -> list[Ending]:
    """What is to be written so that each statement is ended by the first later one that excludes it.

    A statement that ended by other means stays as it is.
    """
    near = _Near(links)
    found = []
    for link in links:
        heirs = sorted((heir for heir in near.of(link) if heir.ends(link)), key=lambda heir: heir.order)
        if not heirs:
            continue
        if link.superseded_by is not None and link.superseded_by not in {heir.ref for heir in heirs}:
            continue
        heir = heirs[0]
        at = ended_at(link, heir)
        if (link.superseded_by, link.valid_to) != (heir.ref, at):
            found.append(Ending(link.ref, heir.ref, at))
    return found


def ended_at(link: Link, heir: Link) -> datetime:
    """When what a link says was over: when the heir, which is the later one, was first said after it."""
    return heir.first if heir.first > link.last else max(heir.last, link.last)


class _Near:
    """For a link those that might end it: of its topic, and those that tell of it or that it tells of."""

    def __init__(self, links: Iterable[Link]) -> None:
        self._links = {link.ref: link for link in links}
        self._of_topic: dict[str, list[Link]] = defaultdict(list)
        self._following: dict[Ref, list[Link]] = defaultdict(list)
        for link in self._links.values():
            if link.claim.topic is not None:
                self._of_topic[link.claim.topic].append(link)
            for former in link.follows:
                self._following[former].append(link)

    def of(self, link: Link) -> Iterable[Link]:
        """They may hold the link itself."""
        told = [self._links[ref] for ref in link.follows if ref in self._links]
        topical = self._of_topic.get(link.claim.topic, []) if link.claim.topic is not None else []
        return {one.ref: one for one in (*topical, *self._following.get(link.ref, ()), *told)}.values()


def divides(links: Iterable[Link], one: Link, moment: datetime) -> bool:
    """Whether something that excludes `one` was said between it and another moment."""
    low, high = (one.last, moment) if moment > one.last else (moment, one.first)
    return any(
        low < link.last <= high if moment > one.last else low <= link.last < high
        for link in links
        if link.ref != one.ref and (_excluded(one, link) or _excluded(link, one))
    )


def _excluded(one: Link, other: Link) -> bool:
    return excludes(one.claim, other.claim, one.last.date(), other.first.date())
