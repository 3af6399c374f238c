"""Spans that count or last: how many, how often, how much, how long."""

import re

from app.domain.questions import Question
from app.domain.text import terms

NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred|hundreds"
    r"|a thousand|thousands|a dozen|dozens|a couple(?: of)?|a few|several)"
)
FIGURES = r"[$€£¥]?\d[\d,.]*(?<![.,])(?:[-–]\d+)?%?(?:k\b|m\b| million| billion)?"
NUMBER = rf"(?:{FIGURES}|\b{NUMBER_WORD}(?:-\w+)?\b)"
UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
COUNT = re.compile(rf"\b(?:once|twice|thrice)\b|{NUMBER}", re.IGNORECASE)
COUNTED_UNIT = re.compile(rf"[\s-]+(?:{UNIT}|times)\b(?:\s+old\b)?", re.IGNORECASE)
YEAR = re.compile(r"(?:19|20)\d\d")  # a date, not an amount
RHYTHM = re.compile(
    rf"\b(?:(?:at least |about |around )?(?:once|twice|{NUMBER} times)(?: or \w+)? (?:a|per|every) \w+"
    r"|(?:every|each) (?:other )?(?:day|night|morning|evening|week|weekend|month|year|summer|winter|\w+day)s?"
    r"|daily|weekly|monthly|yearly|regularly|rarely)\b",
    re.IGNORECASE,
)
ABOUT = r"(?:(?:about|around|over|almost|nearly|at least|more than) )?"
DURATION = re.compile(
    rf"{ABOUT}{NUMBER}(?:\s+and\s+a\s+half)?[\s-]+{UNIT}(?: ago)?\b|\b(?:a|an|half an?) {UNIT}(?: ago)?\b"
    r"|\bsince [^,.;:!?—]+",
    re.IGNORECASE,
)
HOW_MANY_THINGS = re.compile(rf"\bhow many (?!{UNIT}\b)", re.IGNORECASE)
HOW_OFTEN = re.compile(r"\bhow (?:often|frequently)\b", re.IGNORECASE)


def how_many(question: Question, sentence: str) -> str | None:
    """A rhythm for how often; else a number, with its unit if it has one."""
    if HOW_OFTEN.search(question.text) and (rhythm := RHYTHM.search(sentence)):
        return rhythm[0]
    return _counted(question, sentence)


def how_long(sentence: str) -> str | None:
    """A duration: "4 years", "about two hours", "ten years ago", "since 2016"."""
    match = DURATION.search(sentence)
    return match[0].strip() if match else None


def counts(span: str) -> bool:
    """Whether there is a number in it."""
    return COUNT.search(span) is not None


def _counted(question: Question, sentence: str) -> str | None:
    """The number before a word that the question has ("three turtles": three), else the first with a unit."""
    numbers = [(n[0], sentence[n.end() :]) for n in COUNT.finditer(sentence) if not YEAR.fullmatch(n[0])]
    for number, rest in numbers:
        if set(terms(" ".join(rest.split()[:2]))) & set(question.words):
            return number + _unit(rest)
    if HOW_MANY_THINGS.search(question.text):
        return None  # "a few weeks" are no books
    return next((n + _unit(rest) for n, rest in numbers if _unit(rest) or n[0] in "$€£¥"), None)


def _unit(rest: str) -> str:
    """The unit that follows a number, with what stands between, or nothing."""
    unit = COUNTED_UNIT.match(rest)
    return unit[0] if unit else ""
