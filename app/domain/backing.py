"""Whether messages carry what a statement says: by its words, its numbers, its names and its negations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.dates import When, resolve, written
from app.domain.ids import MessageId
from app.domain.messages import Message, render
from app.domain.stopwords import is_english
from app.domain.text import content_words, terms

VERBATIM = 0.75  # share of a statement's different words that its messages must hold, where it quotes them
REPHRASED = 0.4
"""The same where a model put it into its own words. Of 1,210 statements that people's models wrote about five long
conversations 87 % hold so much of the message they cite, beside the rules on names, numbers and negations; of the
same statements with a message drawn by lot 1 %."""

JOINING = frozenset(("ask",))  # the word that joins an answer to its question
NEGATIONS = frozenset(terms("not never no none nobody nothing without cannot"))
NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = {word: str(number) for number, word in enumerate(NUMBER_WORDS, 1)}


@dataclass(frozen=True, slots=True)
class _Said:
    """What one message holds: stems, and the times that it names, with the day it was said last."""

    words: frozenset[str]
    times: tuple[When, ...]


@dataclass(frozen=True, slots=True)
class Backing:
    """The messages that statements may rest on. `also` holds stems that may be named besides: of known statements.

    Linear in the length of the messages, which may be long: not for an event loop.
    """

    messages: Mapping[MessageId, Message]
    rephrased: bool = False
    also: frozenset[str] = frozenset()
    _said: dict[MessageId, _Said] = field(default_factory=dict)

    def carries(self, text: str, cited: Sequence[MessageId]) -> bool:
        """Whether the cited messages support `text`."""
        held = self.words(cited)
        if not self.rephrased:
            return _quotes(text, held | JOINING)
        times = [when for message in cited for when in self._read(message).times]
        said_at = max(self.messages[message].occurred_at for message in cited)
        return self._rephrases(_without_dates(text, said_at, times), held)

    def words(self, messages: Iterable[MessageId]) -> frozenset[str]:
        """The stems of all that these messages hold, with those of the dates and numbers that they mean."""
        return frozenset[str]().union(*(self._read(message).words for message in messages))

    def _read(self, message: MessageId) -> _Said:
        if message not in self._said:
            self._said[message] = _read(self.messages[message])
        return self._said[message]

    def _rephrases(self, text: str, held: frozenset[str]) -> bool:
        speakers = {term for message in self.messages.values() for term in terms(message.who)}
        needed = set(terms(text)) - speakers
        missing = needed - held
        if not needed or _has_number(missing) or (missing & NEGATIONS and not held & NEGATIONS):
            return False
        if is_english([text]) and self._invents_a_name(text, held | speakers):
            return False
        return len(missing) <= (1 - REPHRASED) * len(needed)

    def _invents_a_name(self, text: str, held: frozenset[str]) -> bool:
        """Whether a word with a capital inside the text stands in nothing that was shown."""
        named = {term for word in text.split()[1:] if word.lstrip("\"'“‘([")[:1].isupper() for term in terms(word)}
        lost = named - held - self.also
        return bool(lost) and not lost <= frozenset[str]().union(*(self._read(one).words for one in self.messages))


def _quotes(text: str, held: frozenset[str]) -> bool:
    needed = set(terms(text))
    missing = needed - held
    return not _has_number(missing) and len(missing) <= (1 - VERBATIM) * len(needed)


def _has_number(words: set[str]) -> bool:
    return any(character.isdigit() for word in words for character in word)


def _without_dates(text: str, said_at: datetime, times: Sequence[When]) -> str:
    """`text` without the dates in it that the messages name too, in whatever words."""
    for when in reversed(resolve(text, said_at)):
        if any(when.start <= time.end and time.start <= when.end for time in times):
            text = f"{text[: when.span[0]]} {text[when.span[1] :]}"
    return text


def _read(message: Message) -> _Said:
    """A message's stems with those of the dates that it resolves to, and numbers also where they are spelt out."""
    times = resolve(message.content, message.occurred_at)
    spelt = (NUMBERS[word] for word in content_words(message.content) if word in NUMBERS)
    words = frozenset(term for text in (render(message), *map(written, times), *spelt) for term in terms(text))
    return _Said(words, (*times, *resolve("today", message.occurred_at)))
