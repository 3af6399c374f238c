"""A statement's wording, taken apart so that two of them can be compared: speaker, words, times.

What makes no difference is gone: case, punctuation, contractions, "really" and "now", three or 3, the order of a
time and the rest. What does is kept: names, numbers, negations, the order of all other words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime
from functools import lru_cache

from app.domain.dates import When, resolve
from app.domain.text import normalise

REMEMBERED = 4096  # wordings, of an admission and of what it is compared with; about 2 KiB each
SPEAKER = re.compile(r"(?P<speaker>[^\s:][^:\n]{0,59}): +")
_ASKED = re.compile(r"\s*\[[^\[\]:]{1,80} asked: (?P<question>.*)\]$", re.DOTALL)
_BRACKET = re.compile(r"(?:['’]s)?\s?\(([^()]{4,40})\)")
_YEAR = re.compile(r"\d{4}")
_PLACEHOLDER = "\ue000"  # private use: stands for a time; no text that is stored holds it by itself

_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"(?:'ve| have) got\b(?! to\b)"), " have"),
    (re.compile(r"\bhas got\b(?! to\b)"), "has"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"'s name is\b"), " is called"),
    (re.compile(r"\bis named\b"), "is called"),
    (re.compile(r"\bhalf past (\d{1,2})\b"), r"\1:30"),
    (re.compile(r"(?<=\d) ?o'clock\b|(?<=\d):00\b"), ""),
    (re.compile(r"(?<=\d) ?(?=[ap]m\b)"), " "),
    (re.compile(r"(?<=\d) ?(?:percent|per cent|prozent|%)"), "%"),
)
_FILLERS = re.compile(
    r"\b(?:right now|at the moment|at present|these days|as i said|as you know|by the way|for the record|by now|"
    r"like i said|as (?:i )?(?:mentioned|told you)|you know|i mean|of course|to be honest|once more|so much|a lot|"
    r"yes|yeah|yep|well|oh|also|too|still|always|obviously|absolutely|anyway|fyi|reminder|tbh|years old|jahre alt|"
    r"really|very|quite|just|actually|basically|honestly|currently|presently|nowadays|now|lol|haha+|btw|please|"
    r"definitely|totally|truly|im moment|jetzt|gerade|derzeit|momentan|zurzeit|aktuell|inzwischen|mittlerweile|"
    r"immer noch|noch immer|auch|natürlich|naturlich|wie gesagt|ubrigens|übrigens|ubrigens|wirklich|echt|sehr)\b"
    r"|现在|目前|真的|今は|現在は"
)
_NUMBERS = {
    word: str(number)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty",
        "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
    )
    for number, word in enumerate(words.split())
} | {word: str(10 * tens) for tens, word in enumerate(("thirty", "forty", "fifty", "sixty", "seventy"), 3)}
_UNITS = {
    word: unit
    for unit, words in {
        "km": "kilometre kilometres kilometer kilometers",
        "kg": "kilo kilos kilogram kilograms kilogramm",
        "min": "minute minutes mins minuten",
        "cm": "centimetre centimetres centimeter centimeters",
        "h": "hour hours hrs stunde stunden",
        "eur": "euro euros",
        "mum": "mom mother mama mutti",
        "dad": "father papa vati",
        "kids": "children",
    }.items()
    for word in words.split()
}
"""Words of one meaning, by the one that stands for them."""
_HAN = {character: str(number) for number, character in enumerate("一二三四五六七八九十", 1)} | {"两": "2", "兩": "2"}
_HAN_COUNT = re.compile(rf"(?<!第)([{''.join(_HAN)}])(?=[个個只隻岁歲年天次名位匹本台枚人つ歳])")
_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_TOKEN = re.compile(rf"{_PLACEHOLDER}|[^\W_]+(?:['’.:,\-/&][^\W_]+)*")
WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|weekends?"
)
_BEFORE_TIME = frozenset(("on", "in", "at", "am", "im", "um", "by", "the", "every", "jeden"))
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
        subject = next((word for word in rest[:2] if word in FIRST_PERSON), None)
        if subject is not None:
            rest.remove(subject)
        yearly = _YEARLY.search(self.body) is not None
        spans = sorted(f"{first:%m-%d}" if yearly else f"{first}/{last}" for first, last in self.times)
        told = (" ".join(rest), " ".join((*self.days, *spans)), normalise(self.question))
        return "|".join((normalise(self.speaker), FIRST_PERSON.get(subject or "", ""), *told))


MARK = _PLACEHOLDER
"""Stands in `Wording.body` for a time."""


@lru_cache(maxsize=REMEMBERED)
def take_apart(text: str, said_at: datetime) -> Wording:
    """The wording of a statement; times that it does not date itself are resolved against `said_at`."""
    speaker, body = split_speaker(text)
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


def canonical(text: str) -> list[str]:
    """The folded words of `text` with contractions spelled out, numbers in figures and without fillers."""
    folded = normalise(_THOUSANDS.sub("", text)).replace("’", "'")
    for pattern, spelled in _CONTRACTIONS:
        folded = pattern.sub(spelled, folded)
    folded = _HAN_COUNT.sub(lambda found: _HAN[found[1]], _FILLERS.sub(" ", folded))
    return [_UNITS.get(word) or _NUMBERS.get(word, word) for word in _TOKEN.findall(folded)]


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
        pieces.append(f" {_PLACEHOLDER} ")
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
