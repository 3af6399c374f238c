"""A clause in plain words, and the pieces of which rewordings make one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import takewhile

from app.domain import claim_words as words
from app.domain.canonical import MARK
from app.domain.claim_found import has_digit
from app.domain.clauses import Word
from app.domain.wording import FIRST_PERSON, WEEKDAY, Span

SUBJECT = 8  # words of a subject, at most


@dataclass(frozen=True, slots=True)
class Plain:
    """A clause in plain words.

    `denied`: it is true no more, although no word in it says so. `given_up`: only what was given up is known, "coffee",
    not what was done with it. `lasting`: False where the words say more than the plain ones, and stay true. `since`:
    from when on it holds, where the clause was rid of those words.
    """

    said: tuple[Word, ...]
    times: tuple[Span, ...]
    denied: bool = False
    given_up: bool = False
    lasting: bool = True
    since: date | None = None


MY, IS, NOT, LIVE, WORK, HAVE, IN, AT, ON = (
    Word(text, capital=False) for text in ("my", "is", "not", "live", "work", "have", "in", "at", "on")
)
SUBJECTS = FIRST_PERSON.keys() | words.POINTING


def is_person(subject: Sequence[Word]) -> bool:
    """Whether the subject is the speaker, somebody by name, or a relative or friend."""
    if len(subject) == 1:
        return subject[0].text in FIRST_PERSON or subject[0].capital
    return bool(subject) and subject[-1].text in words.KIN | words.MANY | words.PEOPLE


def after_subject(found: Plain, phrases: Iterable[tuple[str, ...]]) -> tuple[int, int] | None:
    """Where the subject ends and where one of the phrases behind it does, auxiliaries between them passed over."""
    texts = tuple(word.text for word in found.said)
    first = found.said[0] if found.said else None
    if first is None:
        return None
    own = first.text in FIRST_PERSON
    if not own and not first.capital and first.text not in words.OWN.keys() | words.ARTICLES:
        return None
    for start in range(1, min(len(texts), SUBJECT + 1)):
        for phrase in phrases:
            if texts[start : start + len(phrase)] != phrase:
                continue
            if words.DENIALS & set(texts[:start]):  # "my brother hasn't quit smoking"
                return None
            subject = start
            while subject > 1 and texts[subject - 1] in words.CHANGING:
                subject -= 1
            return (subject, start + len(phrase)) if not own or subject == 1 else None
    return None


def is_name(word: Word) -> bool:
    """Whether it was written like a name or a number."""
    return word.capital and word.text != MARK


def without(found: Plain, start: int, end: int) -> list[int]:
    """The places of all words but those from `start` to `end`."""
    return [place for place in range(len(found.said)) if not start <= place < end]


def only(found: Plain, places: Iterable[int]) -> Plain:
    """These of the words, with the times among them."""
    times = iter(found.times)
    paired = [(word, next(times, None) if word.text == MARK else None) for word in found.said]
    chosen = [paired[place] for place in places]
    return replace(found, said=tuple(word for word, _ in chosen), times=tuple(time for _, time in chosen if time))


# Plain words for a change ---------------------------------------------------------------------------------------


def ended(found: Plain, subject: int, told: Sequence[Word]) -> Plain:
    """The subject, the first so many words, does no more what is told; that it once ended stays true."""
    return Plain((*found.said[:subject], *told), found.times, denied=True, lasting=False)


def given_up(found: Plain, subject: int, start: int, end: int) -> Plain:
    """The subject gave up what stands from `start` to `end`."""
    return replace(only(found, [*range(subject), *range(start, end)]), denied=True, given_up=True, lasting=False)


def now(found: Plain, subject: int, value: range, *, moved: bool) -> Plain | None:
    """The subject has this value now; a person who moved lives there."""
    first = found.said[value[0]]
    told = only(found, [*range(subject), *value])
    verb: tuple[Word, ...] = (IS,)
    if moved and is_person(found.said[:subject]):
        name = list(takewhile(is_name, (found.said[place] for place in value)))
        if not name or any(has_digit(word.text) for word in name) or first.text in words.NO_PLACES:
            return None
        verb = (LIVE, IN)
        told = replace(told, lasting=False)
    elif moved and first.text != MARK and not WEEKDAY.fullmatch(first.text):
        verb = (IS, AT)
    elif WEEKDAY.fullmatch(first.text):
        verb = (IS, ON)
    return replace(told, said=(*told.said[:subject], *verb, *told.said[subject:]))
