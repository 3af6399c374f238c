"""Packing evidence into a budget of tokens, and writing it down.

`render_context` is the only form in which evidence is counted, shown, given to a model and returned. A whole
message takes the place of the statements drawn from it: measured on LoCoMo at 1000 tokens, bare sentences put
more of the evidence messages in than whole messages do (0.88, 0.86), but fewer words of the answers (0.81,
0.82). Statements with dates and questions resolved, beside the messages, bring in more of both than
messages alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeAlias
from uuid import UUID

from app.domain.ids import ConversationId, MessageId, ThemeId
from app.domain.levels import Level
from app.domain.text import content_words, count_tokens, normalise

MAX_RECOUNTS = 16  # exact counts of the whole context while packing; each costs as much as its length
LEVELS = (Level.MESSAGE, Level.STATEMENT, Level.EPISODE, Level.THEME)  # where scores tie, the exact first
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (  # not strftime: its names follow the locale
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Item:
    """A piece of evidence that may be packed.

    `messages` are those whose words `text` carries: none for a theme or an unopened episode. `order` is the
    sequence of the first message it rests on; `score` lies in 0–1. `corrects`: somebody put it in the place of what
    its messages say, so it is handed out beside them.
    """

    level: Level
    id: UUID
    text: str
    score: float
    occurred_at: datetime
    conversation: ConversationId | None
    order: int
    messages: tuple[MessageId, ...] = ()
    theme: ThemeId | None = None
    corrects: bool = False


Gate: TypeAlias = Callable[[Item, int], bool]
"""Whether an item, for so many tokens, is let in."""


def render_context(items: Iterable[Item]) -> str:
    """The items in time order: a line with the date for each day of a conversation, then a line an item.

    Line breaks inside a text become spaces, so that no text can pass for a date or for another item. The
    result does not depend on the order of `items`. No items give an empty string.
    """
    return "\n".join(line for line, _ in context_lines(items))


def context_lines(items: Iterable[Item]) -> Iterator[tuple[str, Item | None]]:
    """The lines of `render_context`, each with its item; headings have none."""
    groups: dict[_Group, list[Item]] = {}
    for item in sorted(items, key=_time_order):
        groups.setdefault(_group(item), []).append(item)
    for group, members in groups.items():
        yield dated(group[1]), None
        for item in members:
            yield _line(item), item


def dated(day: date) -> str:
    """`Monday, 8 May 2023`: the weekday is there because people say "last Friday"."""
    return f"{DAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"


def pack(
    items: Sequence[Item], max_tokens: int, count: Callable[[str], int] = count_tokens, gate: Gate | None = None
) -> list[Item]:
    """The best items whose rendered context has at most `max_tokens` tokens, by falling score.

    Taken greedily by score. An item too big, or one that adds nothing to what is in, is passed over for
    those behind it; a message takes the place of the statements that rest on it alone. `gate` is asked about
    each item that has passed all that, with the tokens that it costs, and has the last word. `count` gives 0
    for an empty string; a text should count no more than its lines with their line breaks do together.
    """
    packed = _Packed(max_tokens, count, gate)
    for item in sorted(items, key=_best_first):
        packed.offer(item)
    return packed.within_budget()


_Group: TypeAlias = tuple[ConversationId | None, date]
"""A conversation and a day, by UTC."""


@dataclass(slots=True)
class _Packed:
    """What is in the context so far. `used` adds up lines, so it is at or above the true count."""

    max_tokens: int
    count: Callable[[str], int]
    gate: Gate | None = None
    used: int = 0
    is_exact: bool = True
    recounts: int = 0
    items: dict[tuple[Level, UUID], Item] = field(default_factory=dict)
    groups: set[_Group] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    whole: set[MessageId] = field(default_factory=set)  # messages that are in as themselves
    resting: dict[MessageId, list[Item]] = field(default_factory=dict)  # items that carry the message's words

    def offer(self, item: Item) -> None:
        """Take the item if it fits and adds something, in place of the statements it makes superfluous."""
        replaced = self._replaced_by(item)
        cost = self._cost(item) - sum(self._line_cost(old) for old in replaced)
        if self.used + cost > self.max_tokens:
            self._recount()
        if self.used + cost > self.max_tokens or self._adds_nothing(item):
            return
        if self.gate is not None and not self.gate(item, cost):
            return
        for old in replaced:
            del self.items[old.level, old.id]
        self._add(item, cost)

    def within_budget(self) -> list[Item]:
        """The items, without the weakest while an exact count finds them too many."""
        kept = sorted(self.items.values(), key=_best_first)
        while kept and self.count(render_context(kept)) > self.max_tokens:
            kept.pop()
        return kept

    def _replaced_by(self, item: Item) -> list[Item]:
        """The statements in the context that rest on nothing but messages that are in once `item` is."""
        if item.level is not Level.MESSAGE:
            return []
        resting = {(old.level, old.id): old for id in item.messages for old in self.resting.get(id, ())}
        return [
            old
            for key, old in resting.items()
            if key in self.items
            and old.level is Level.STATEMENT
            and not old.corrects
            and all(id in self.whole or id in item.messages for id in old.messages)
        ]

    def _adds_nothing(self, item: Item) -> bool:
        """Whether the same text, or every message it rests on, or all words of a message are in already."""
        if normalise(item.text) in self.texts:
            return True
        if not item.messages:
            return False
        if item.level is not Level.MESSAGE:
            return not item.corrects and self.whole.issuperset(item.messages)
        carried = self.resting.get(item.messages[0], [])
        said = {word for other in carried for word in content_words(other.text)}
        return bool(carried) and said.issuperset(content_words(item.text))

    def _cost(self, item: Item) -> int:
        group = _group(item)
        heading = 0 if group in self.groups else self.count(dated(group[1]) + "\n")
        return heading + self._line_cost(item)

    def _line_cost(self, item: Item) -> int:
        return self.count(_line(item) + "\n")

    def _recount(self) -> None:
        """Put the true count in place of the sum of lines, each of which was rounded up."""
        if not self.is_exact and self.recounts < MAX_RECOUNTS:
            self.used = self.count(render_context(self.items.values()))
            self.is_exact = True
            self.recounts += 1

    def _add(self, item: Item, cost: int) -> None:
        self.items[item.level, item.id] = item
        self.used += cost
        self.is_exact = False
        self.groups.add(_group(item))
        self.texts.add(normalise(item.text))
        if item.level is Level.MESSAGE:
            self.whole.update(item.messages)
        for message in item.messages:
            self.resting.setdefault(message, []).append(item)


def _group(item: Item) -> _Group:
    moment = item.occurred_at.astimezone(UTC)
    return item.conversation, moment.date()


def _line(item: Item) -> str:
    return " ".join(item.text.split())


def _best_first(item: Item) -> tuple[float, int, int, UUID]:
    return -item.score, LEVELS.index(item.level), item.order, item.id


def _time_order(item: Item) -> tuple[datetime, int, int, UUID]:
    return item.occurred_at, item.order, LEVELS.index(item.level), item.id
