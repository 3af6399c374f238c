"""Spans that name people and places: who, whose, where."""

import re
from collections.abc import Sequence

from app.domain.phrases import Sort, after, words
from app.domain.questions import Question, named
from app.domain.text import content_words, terms

CAPITALISED = r"(?:[A-Z]\.\s?)*[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|la|da|van|von)\s+)*[A-Z][\w'’-]*)*"
NAME = re.compile(rf"(?<=[\w,;:]\s){CAPITALISED}")  # not at the start, where everything has a capital
OWNING = re.compile(r"['’]s$")
KIN = (
    r"(?:mom|mum|mother|dad|father|parents|sister|brother|son|daughter|kids?|children|wife|husband|partner"
    r"|girlfriend|boyfriend|friends?|family|grand(?:ma|pa|mother|father)|aunt(?:ie)?|uncle|cousins?|nephew|niece"
    r"|boss|colleagues?|coworkers?|neighbou?rs?|teacher|mentors?|teammates?|roommate)"
)
RELATION = re.compile(
    rf"\b(?:my|our|his|her|their)\s+(?:\w+\s+)?{KIN}(?:(?:,| and|, and)\s+(?:my\s+)?{KIN})*\b",
    re.IGNORECASE,
)
PLACE = re.compile(rf"\b(?:in|at|to|from|near|around|through|outside|across)\s+((?:the\s+)?{CAPITALISED})")
SPOT = re.compile(
    r"\b(?:at|to|in|on|near|inside|outside)\s+((?:the|a|an|my|our|this)\s+(?:[\w'’-]+\s+)?"
    r"(?:beach|park|museum|cafe|café|mountains?|lake|woods|forest|gym|studio|store|shop|library|school|office"
    r"|restaurant|hospital|church|shelter|zoo|farm|garden|market|mall|river|coast|countryside|kitchen|yard"
    r"|house|home|hotel|airport|station|city|town|village|university|college|theat(?:er|re)|gallery))"
    r"(?=\W*$|\s*[^\w\s]|\s+(?:with|to|for|from|and|but|or|in|on|near|by|of|where|when|last|this|yesterday)\b)",
    re.IGNORECASE,
)
STANDING = frozenset(("in", "at", "on", "near", "inside", "outside", "under", "behind"))
CALENDAR = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|christmas|easter|thanksgiving|halloween)\b",
    re.IGNORECASE,
)


def who(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    """A relative ("my grandmother"), else somebody's name."""
    names = (name[0] for name in NAME.finditer(sentence) if not name[0].isupper() and not OWNING.search(name[0]))
    relation = RELATION.search(sentence)
    if relation:
        return relation[0].strip()
    return next((name for name in names if is_new(question, name, speakers)), None)


def where(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    """A place by name, else a spot that everybody knows the kind of, else where the thing asked about stands."""
    places = (place[1] for place in PLACE.finditer(sentence))
    named_place = next((place for place in places if is_new(question, place, speakers)), None)
    if named_place:
        return named_place
    spot = SPOT.search(sentence)
    return spot[1] if spot else _standing(question, sentence)


def _standing(question: Question, sentence: str) -> str | None:
    """As in "in my slipper", where most words of the question stand before it."""
    found = words(sentence)
    asked, said = set(question.words), set()
    for at, word in enumerate(found):
        said |= set(terms(word.text)) & asked
        if word.text.lower() in STANDING and 2 * len(said) > len(asked):
            phrase = after(found, at + 1)
            if phrase and phrase.first <= at + 2 and found[phrase.first].sort is not Sort.PRONOUN:
                return sentence[word.start : found[phrase.last].end]
    return None


def is_new(question: Question, name: str, speakers: Sequence[str]) -> bool:
    """Whether capitals stand for something new: no date, no speaker, nothing from the question."""
    if not content_words(name) or CALENDAR.match(name):
        return False
    if named(name, speakers) or any(speaker.startswith(name) for speaker in speakers):
        return False
    return name.casefold() not in question.text.casefold()
