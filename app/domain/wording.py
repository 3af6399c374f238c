"""A statement's wording, taken apart so that two of them can be compared: speaker, words, times.

What makes no difference is gone: case, punctuation, contractions, "really" and "now", three or 3, the order of a
time and the rest. What does is kept: names, numbers, negations, the order of all other words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime
from functools import lru_cache

from app.domain.canonical import MARK, canonical
from app.domain.dates import When, resolve
from app.domain.text import normalise

REMEMBERED = 4096  # wordings, of an admission and of what it is compared with; about 2 KiB each
SPEAKER = re.compile(r"(?P<speaker>[^\s:][^:\n]{0,59}): +")
_ASKED = re.compile(r"\s*\[[^\[\]:]{1,80} asked: (?P<question>.*)\]$", re.DOTALL)
_BRACKET = re.compile(r"(?:['’]s)?\s?\(([^()]{4,40})\)")
_YEAR = re.compile(r"\d{4}")

_ANNOUNCED = re.compile(
    r"(?:(?:yes|yeah|well|hey|ok|okay|so|oh|btw)[,!.]? )?(?:"
    r"(?:as|like) i(?:'ve| have)?(?: already)? (?:said|told you|mentioned)(?: (?:before|already|earlier|once))?,? |"
    r"(?:i think )?i(?:'ve| have)?(?: already)? (?:told you|mentioned)(?: (?:before|already|earlier))?(?: that|:|,) |"
    r"(?:just )?(?:a |as a )?(?:quick |little |friendly )?(?:reminder|note)(?:: | that |, )|"
    r"(?:please )?(?:remember|note|keep in mind|don't forget|do not forget)(?: that|:|,) |"
    r"wie (?:schon |bereits )?(?:gesagt|erwähnt|erzählt),? |(?:nur )?zur (?:erinnerung|info): |"
    r"(?:bitte )?(?:vergiss nicht|denk dran|merk dir)[:,] )"
    r"|(?:(?:我|之前|以前|刚才|刚刚|已经|跟你|和你)*(?:说过|提过|讲过)|如前所述|提醒一下|顺便说一下|别忘了)[，,：: ]+"
    r"|(?:前に?も?(?:言|話|お伝え)\S{1,6}?(?:が|けど|通り)|念のため(?:です)?(?:が)?|ちなみに|何度も言いますが)[、,]\s*",
    re.IGNORECASE,
)
"""Words that say that something was said before; what follows is what counts."""
_SELF_JA = re.compile(r"(?:私|僕|俺|わたし)は")
WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|weekends?"
)
_BEFORE_TIME = frozenset(("on", "in", "at", "am", "im", "um", "by", "the", "every", "jeden"))
LEADING = 5  # words, of which the subject is one, where others stand before it
_LEADING = frozenset(("at", "in", "on", "during", "after", "before"))
_OWNED = frozenset(("my", "our", "it", "this", "that"))
FIRST_PERSON = {"i": "i", "ich": "i", "we": "we", "wir": "we"}
_YEARLY = re.compile(r"birthday|anniversary|geburtstag|jahrestag", re.IGNORECASE)

Span = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Wording:
    """A statement taken apart. `body` holds a mark in place of each of `times`, first and last day included."""

    speaker: str
    body: str
    question: str
    times: tuple[Span, ...]
    words: tuple[str, ...]
    """All folded words, marks among them."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words that matter, in order, without times."""
        return tuple(word for word in _without_times(self.words) if word != MARK)

    @property
    def days(self) -> tuple[str, ...]:
        """The weekdays that it names, sorted."""
        return tuple(sorted(word.removesuffix("s") for word in self.words if WEEKDAY.fullmatch(word)))

    @property
    def essence(self) -> str:
        """Two statements with the same essence say the same."""
        rest = list(self.tokens)
        if rest and (own := _SELF_JA.match(rest[0])):
            rest[0] = rest[0][own.end() :]
        rest = _straight(rest)
        subject = next((word for word in rest[:2] if word in FIRST_PERSON), None)
        if subject is not None:
            rest.remove(subject)
        yearly = _YEARLY.search(self.body) is not None
        spans = sorted(f"{first:%m-%d}" if yearly else f"{first}/{last}" for first, last in self.times)
        told = (" ".join(rest), " ".join((*self.days, *spans)), normalise(self.question))
        return "|".join((normalise(self.speaker), FIRST_PERSON.get(subject or "", ""), *told))


@lru_cache(maxsize=REMEMBERED)
def take_apart(text: str, said_at: datetime) -> Wording:
    """The wording of a statement; times that it does not date itself are resolved against `said_at`."""
    speaker, body = split_speaker(text)
    announced = _ANNOUNCED.match(body)
    body = body[announced.end() :] if announced else body
    asked = _ASKED.search(body)
    question = asked["question"] if asked else ""
    body, times = _times_apart(body[: asked.start()] if asked else body, said_at)
    return Wording(speaker, body, question, times, tuple(canonical(body)))


def split_speaker(text: str) -> tuple[str, str]:
    """`Rosa: text` → its speaker and the rest; no speaker if it begins with none."""
    named = SPEAKER.match(text)
    if named is None or len(named["speaker"].split()) > 4:
        return "", text
    return named["speaker"], text[named.end() :]


def _times_apart(body: str, said_at: datetime) -> tuple[str, tuple[Span, ...]]:
    """`body` with a mark for every time in it, and the times; a date in brackets behind its phrase holds."""
    pieces: list[str] = []
    times: list[Span] = []
    end = 0
    for when in resolve(body, said_at):
        if when.span[0] < end:
            continue  # the date in brackets of the phrase before
        pieces.append(body[end : when.span[0]])
        end = when.span[1]
        span = when.start, when.end
        bracket = _BRACKET.match(body, end)
        if bracket and (told := _in_brackets(bracket[1], when, said_at)):
            span, end = told, bracket.end()
        times.append(span)
        pieces.append(f" {MARK} ")
    return "".join([*pieces, body[end:]]), tuple(times)


def _in_brackets(written: str, when: When, said_at: datetime) -> Span | None:
    """The time that the date in brackets behind a phrase tells, which may be its year only."""
    if not _YEAR.fullmatch(written):
        return next(((told.start, told.end) for told in resolve(written, said_at)), None)
    year = int(written)
    if not when.yearless or not MINYEAR <= year <= MAXYEAR:
        return (date(year, 1, 1), date(year, 12, 31)) if MINYEAR <= year <= MAXYEAR else None
    last = min(year + when.end.year - when.start.year, MAXYEAR)
    return _in_year(when.start, year), _in_year(when.end, last)


def _in_year(day: date, year: int) -> date:
    """The same day of another year; of 29 February the day before, where there is none."""
    return day.replace(year=year, day=28 if (day.month, day.day) == (2, 29) else day.day)


def _straight(words: list[str]) -> list[str]:
    """In the usual order: "in the evening I read", "Dr. Abara is my dentist"."""
    own = next((place for place, word in enumerate(words[:LEADING]) if word in FIRST_PERSON), 0)
    if own > 1 and words[0] in _LEADING:
        return [*words[own:], *words[:own]]
    at = words.index("is") if words.count("is") == 1 else 0
    if at and words[at + 1 : at + 2] == ["my"] and words[0] not in _OWNED and len(words) <= at + 4:
        return [*words[at + 1 :], "is", *words[:at]]
    return words


def _without_times(words: Sequence[str]) -> list[str]:
    """Without weekdays and marks, nor the preposition before each; the marks stay."""
    kept: list[str] = []
    for word in words:
        if word == MARK or WEEKDAY.fullmatch(word):
            while kept and kept[-1] in _BEFORE_TIME:
                kept.pop()
        else:
            kept.append(word)
    return kept
