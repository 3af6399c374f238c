"""Title and narrative of an episode without a model: its own words, chosen and put in order."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt

from app.domain.keyphrases import MAX_READ, WEAK, join, keyphrases, shorten
from app.domain.messages import Message, body
from app.domain.stopwords import is_english
from app.domain.text import CHARACTERS_PER_TOKEN, content_words, count_tokens, sentences, terms

MAX_TITLE = 80  # characters
MAX_NAME = 24  # characters of a speaker in a title
MAX_NAMES = 3  # speakers named one by one
MAX_SPEAKERS = 44  # characters of all speakers in a title; the rest is for what they say
MAX_NARRATIVE = 150  # tokens
MAX_SENTENCE = 45  # tokens; a longer one is cut, so that one sentence is never the whole narrative
MIN_TERMS = 3  # of a sentence, small talk and names aside; with fewer it tells nothing
QUESTION = 0.4  # what a question tells, against a statement of the same words
PICTURE = 0.45  # what a picture's caption tells, against spoken words
DIGIT = 1.2  # numbers and dates are what is asked about later
FRESHNESS = 0.5  # what is left of a term's weight once a chosen sentence has it
QUESTION_MARKS = ("?", "？")


@dataclass(frozen=True, slots=True)
class _Sentence:
    place: int  # order in the episode
    who: str
    text: str
    terms: frozenset[str]  # of the words that tell something
    length: int  # content words in all
    factor: float

    @property
    def cost(self) -> int:
        """Tokens it takes in the narrative, with its speaker."""
        return count_tokens(f"{self.who}: {self.text} ")


def title(messages: Sequence[Message]) -> str:
    """Who spoke and what about: `Rosa and Ben: adoption agency, job interview`; 1 to 80 characters.

    Raises ValueError without messages.
    """
    _require(messages)
    texts = [body(message.content, message.images) for message in messages]
    speakers = _speakers(messages)
    shown = _names([shorten(name, MAX_NAME) for name in speakers], english=is_english(texts))
    names = shorten(shown, MAX_SPEAKERS)
    room = MAX_TITLE - len(names) - 2
    spoken = [message.content for message in messages]
    phrases = keyphrases(spoken, limit=4, speakers=speakers) or keyphrases(texts, limit=4, speakers=speakers)
    about = join(phrases, ", ", room)
    return f"{names}: {about or shorten(next(filter(str.strip, texts), ''), room)}"


def narrative(messages: Sequence[Message]) -> str:
    """When, who, and the sentences that tell most, each after its speaker; at most 150 tokens.

    The words are the messages' own, in their order and language; long sentences are cut with an ellipsis.
    Raises ValueError without messages.
    """
    _require(messages)
    parts = [_opening(messages)]
    room = MAX_NARRATIVE - count_tokens(parts[0])
    last = ""
    for sentence in sorted(_choose(messages, room), key=lambda sentence: sentence.place):
        parts.append(sentence.text if sentence.who == last else f"{sentence.who}: {sentence.text}")
        last = sentence.who
    return " ".join(parts)


def _require(messages: Sequence[Message]) -> None:
    if not messages:
        raise ValueError("an episode has at least one message")


def _speakers(messages: Sequence[Message]) -> list[str]:
    """Who speaks, in order of appearance."""
    return list(dict.fromkeys(message.who for message in messages))


def _names(speakers: Sequence[str], *, english: bool) -> str:
    named = list(speakers[:MAX_NAMES])
    if more := len(speakers) - len(named):
        named.append(f"{more} more" if english else f"+{more}")
    if not english or len(named) == 1:
        return ", ".join(named)
    return f"{', '.join(named[:-1])} and {named[-1]}"


def _opening(messages: Sequence[Message]) -> str:
    """The day and the speakers, without an English word where the episode is not English."""
    day, speakers = messages[0].occurred_at, _speakers(messages)
    shown = [shorten(name, MAX_NAME) for name in speakers]
    if not is_english([message.content for message in messages]):
        return f"{day:%Y-%m-%d} · {_names(shown, english=False)}."
    verb = "talked" if len(speakers) > 1 else "wrote"
    return f"On {day.day} {day:%B %Y}, {_names(shown, english=True)} {verb}."


def _choose(messages: Sequence[Message], room: int) -> list[_Sentence]:
    """The sentences worth most, each counted on what those before it have not said yet, within `room`."""
    left = _sentences(messages)
    weights = _weights(left)
    chosen: list[_Sentence] = []
    while left := [sentence for sentence in left if sentence.cost <= room]:
        best = max(left, key=lambda sentence: (_worth(sentence, weights), -sentence.place))
        left.remove(best)
        chosen.append(best)
        room -= best.cost
        weights.update({term: weights[term] * FRESHNESS for term in best.terms})
    return chosen


def _sentences(messages: Sequence[Message]) -> list[_Sentence]:
    """What can be chosen: sentences and pictures that tell something, or, where none does, all of them."""
    names = {word for name in _speakers(messages) for word in content_words(name)}
    found: list[_Sentence] = []
    for message in messages:
        pieces = [(text, 1.0) for text in sentences(message.content[:MAX_READ])]
        pieces += [(body("", (image,)), PICTURE) for image in message.images]
        found += [
            _sentence(place, shorten(message.who, MAX_NAME), text, factor, names)
            for place, (text, factor) in enumerate(pieces, len(found))
        ]
    once = list({sentence.text: sentence for sentence in reversed(found)}.values())  # the first of its kind
    return [sentence for sentence in once if len(sentence.terms) >= MIN_TERMS] or once


def _sentence(place: int, who: str, text: str, factor: float, names: Collection[str]) -> _Sentence:
    if text.rstrip().endswith(QUESTION_MARKS):
        factor *= QUESTION
    if any(map(str.isdigit, text)):
        factor *= DIGIT
    short = _cut(text)
    words = content_words(short)
    telling = terms(" ".join(word for word in words if word not in names))
    return _Sentence(place, who, short, frozenset(telling) - WEAK, len(words), factor)


def _cut(text: str) -> str:
    """`text` on one line, within `MAX_SENTENCE` tokens."""
    size = MAX_SENTENCE * CHARACTERS_PER_TOKEN
    short = shorten(text, size)
    while count_tokens(short) > MAX_SENTENCE:
        size = size * 3 // 4
        short = shorten(text, size)
    return short


def _weights(found: Sequence[_Sentence]) -> dict[str, float]:
    """What a term is worth: more if the episode comes back to it, by the logarithm of how often."""
    counts = Counter(term for sentence in found for term in sentence.terms)
    return {term: log2(1 + count) for term, count in counts.items()}


def _worth(sentence: _Sentence, weights: Mapping[str, float]) -> float:
    """The worth of its terms, damped by its length, so that neither the longest nor the shortest wins."""
    return sentence.factor * sum(weights[term] for term in sentence.terms) / sqrt(1 + sentence.length)
