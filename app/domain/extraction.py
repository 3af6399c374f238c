"""Statements without a language model: the sentences of a chat that a careful reader would note, self-contained.

Nothing is rephrased. A statement is a sentence with its speaker, with the sentences that go on from it, with
the question it answers, with the pictures it speaks of, and with the dates that its date words mean.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from app.domain.assistants import echoes, tells
from app.domain.dates import When, resolve, written
from app.domain.messages import SPOKEN, Message, Role, body
from app.domain.recalled import own_words
from app.domain.remarks import Use, is_answer, says_something, use
from app.domain.screening import Candidate, Kind
from app.domain.text import content_words, count_tokens, sentences, split_long

MAX_TOKENS = 120  # of one statement; longer ones are cut, and an embedding model reads 256
MAX_PASSAGE = 80  # tokens of the speaker's own words; the rest is for name, dates, question and picture
SHORT_ANSWER = 5  # content words; a shorter first sentence after a question carries that question

_POSSESSIVE = ("'s", "’s")  # "tomorrow's (9 May 2023) class"
_SHOWING = re.compile(r"\b(?:this|these|here|look|check|pic|pics|picture|photo|photos|snap|shot)\b", re.IGNORECASE)
_LIKING = re.compile(
    r"\b(?:I|we) (?:\w+ )?(?:love|like|enjoy|prefer|hate|dislike|adore|can't stand)\b|\bmy favou?rite\b", re.IGNORECASE
)
_INTENDING = re.compile(
    r"\b(?:going to|gonna|plan(?:ning)? (?:to|on)|I'll|we'll|will be|hop(?:e|ing) to|want to|thinking (?:of|about))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Words of one message that belong together; `fragment` says that they mean nothing without a question."""

    text: str
    fragment: bool = False
    picture: str = ""


def extract(messages: Sequence[Message], earlier: Message | None = None) -> list[Candidate]:
    """The candidates that `messages`, in order and of one conversation, give; each of about `MAX_TOKENS` at most.

    System and tool messages give none, and neither do greetings, thanks, praise, fillers and bare questions, an
    assistant's advice, and context that the service handed out. `earlier` is the message before the first: its
    question may be answered here.
    """
    spoken = [replace(message, content=own_words(message.content)) for message in messages if message.role in SPOKEN]
    names = frozenset(word for message in spoken for word in content_words(message.who))
    found: list[Candidate] = []
    before = earlier if earlier is not None and earlier.role in SPOKEN else None
    for place, message in enumerate(spoken):
        asked = before if before and before.who != message.who else None
        drawn = list(_from_message(message, asked, names))
        if message.role is Role.ASSISTANT:
            drawn = [candidate for candidate in drawn if not _repeats(candidate, message, spoken[:place])]
        found.extend(drawn)
        if drawn or _last_question(message.content, names):
            before = message  # after "Let me check." the question is still open
    return found


def _repeats(candidate: Candidate, message: Message, earlier: Sequence[Message]) -> bool:
    said = candidate.text.removeprefix(f"{message.who}: ").split(" [")[0]
    return echoes(said, [one for one in earlier if one.who != message.who])


def _from_message(message: Message, before: Message | None, names: Set[str]) -> Iterator[Candidate]:
    question = _last_question(before.content, names) if before else ""
    for position, passage in enumerate(_with_pictures(_passages(message, names), message)):
        joined = question if position == 0 and _needs_question(passage, names) else ""
        if joined or passage.picture or not passage.fragment:
            yield _candidate(passage, message, before if joined else None, joined)


def _passages(message: Message, names: Set[str]) -> list[_Passage]:
    """The sentences worth keeping; what goes on from a sentence stands with it."""
    passages: list[_Passage] = []
    for sentence in sentences(message.content):
        purpose = use(sentence, names)
        if purpose in (Use.NONE, Use.QUESTION) or (message.role is Role.ASSISTANT and not tells(sentence)):
            continue
        for part in split_long(" ".join(sentence.split()), MAX_PASSAGE):
            together = f"{passages[-1].text} {part}" if passages else ""
            if purpose is not Use.CONTENT and together and count_tokens(together) <= MAX_PASSAGE:
                passages[-1] = _Passage(together)
            else:
                passages.append(_Passage(part, fragment=purpose is Use.FRAGMENT))
    return passages


def _with_pictures(passages: list[_Passage], message: Message) -> list[_Passage]:
    """The pictures of a message beside the words that show them: the last "this" or "here", or its last words."""
    if not message.images:
        return passages
    first, *rest = split_long(body("", message.images), MAX_TOKENS - MAX_PASSAGE)
    if not passages:
        said = [part for sentence in sentences(message.content) for part in split_long(sentence, MAX_PASSAGE)]
        passages = [_Passage(" ".join(said[-1].split()) if said else "")]
    shown = [place for place, passage in enumerate(passages) if _SHOWING.search(passage.text)]
    place = shown[-1] if shown else len(passages) - 1
    with_picture = replace(passages[place], picture=first)
    return [*passages[:place], with_picture, *passages[place + 1 :], *(_Passage("", picture=part) for part in rest)]


def _last_question(content: str, names: Set[str]) -> str:
    """The last question of a message, if it asks for anything ("How are you?" does not)."""
    asked = [sentence for sentence in sentences(content)[-2:] if use(sentence, names) is Use.QUESTION]
    if not asked or not says_something(asked[-1], names):
        return ""
    return split_long(" ".join(asked[-1].split()), MAX_TOKENS - MAX_PASSAGE)[-1]


def _needs_question(passage: _Passage, names: Set[str]) -> bool:
    own = [word for word in content_words(passage.text) if word not in names]
    return passage.fragment or is_answer(passage.text) or len(own) <= SHORT_ANSWER


def _candidate(passage: _Passage, message: Message, asker: Message | None, question: str) -> Candidate:
    prefix = f"{message.who}: "
    times = resolve(passage.text, message.occurred_at)
    when = replace(times[0], span=_moved(times[0].span, len(prefix))) if times else None
    asked = f"[{asker.who} asked: {question}]" if asker else ""
    words = " ".join(filter(None, (_dated(passage.text, times), passage.picture, asked)))
    return Candidate(
        text=prefix + words,
        kind=_kind(passage.text, when, message),
        messages=(asker.id, message.id) if asker else (message.id,),
        occurred_at=message.occurred_at,
        when=when,
        assistant=message.role is Role.ASSISTANT,
    )


def _dated(text: str, times: Sequence[When]) -> str:
    """`text` with the date in brackets after every date word that does not name its year itself."""
    pieces, start, given = [], 0, set()
    for when in times:
        date = written(when)
        if str(when.start.year) in when.phrase or date in given:
            continue
        given.add(date)
        end = when.span[1] + (2 if text.startswith(_POSSESSIVE, when.span[1]) else 0)
        pieces.append(f"{text[start:end]} ({date})")
        start = end
    return "".join([*pieces, text[start:]])


def _moved(span: tuple[int, int], by: int) -> tuple[int, int]:
    return span[0] + by, span[1] + by


def _kind(text: str, when: When | None, message: Message) -> Kind:
    if _LIKING.search(text):
        return Kind.PREFERENCE
    today = message.occurred_at.date()
    if _INTENDING.search(text) or (when is not None and when.start > today):
        return Kind.PLAN
    return Kind.EVENT if when is not None else Kind.FACT
