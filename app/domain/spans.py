"""The shortest part of a sentence that answers a kind of question: a number, a name, a place, an object.

Every span is a verbatim part of its sentence. Where no pattern is sure there is no span, and the whole
sentence answers: too many words are better than the wrong ones. The patterns are English.
"""

import re
from collections.abc import Callable, Sequence

from app.domain.questions import AUXILIARY, Asks, Question, named
from app.domain.text import content_words, terms


def find(question: Question, sentence: str, speakers: Sequence[str] = ()) -> str | None:
    """The span of `sentence` that answers, or None.

    It never just repeats the question, unless that offers two things ("tea or coffee?").
    `speakers` are names with which people address each other ("No worries, John"): nobody they tell of.
    """
    if question.asks is Asks.WHICH and (offered := _offered(question, sentence)):
        return offered
    finder = _FINDERS.get(question.asks)
    span = finder(question, sentence, speakers) if finder else None
    return span if span and _says_more(question, span) else None


def _says_more(question: Question, span: str) -> bool:
    return bool(set(terms(span)) - set(question.words)) or bool(COUNT.search(span))


def _first(pattern: re.Pattern[str], sentence: str) -> str | None:
    match = pattern.search(sentence)
    return match[0].strip() if match else None


# How many, how often, how long -------------------------------------------------------------------------

NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|a hundred|hundreds"
    r"|a thousand|thousands|a dozen|dozens|a couple(?: of)?|a few|several)"
)
NUMBER = rf"(?:[$€£¥]?\d[\d,.]*(?<![.,])%?(?:k\b|m\b| million| billion)?|\b{NUMBER_WORD}(?:-\w+)?\b)"
UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
COUNT = re.compile(rf"\b(?:once|twice|thrice)\b|{NUMBER}", re.IGNORECASE)
COUNTED_UNIT = re.compile(rf"[\s-]+(?:{UNIT}|times)\b(?:\s+old\b)?", re.IGNORECASE)
YEAR = re.compile(r"(?:19|20)\d\d")  # a date, not an amount
RHYTHM = re.compile(
    rf"\b(?:(?:once|twice|{NUMBER} times)(?: or \w+)? (?:a|per|every) \w+|(?:every|each) (?:other )?\w+"
    r"|daily|weekly|monthly|yearly|regularly|rarely)\b",
    re.IGNORECASE,
)
DURATION = re.compile(
    rf"{NUMBER}(?:\s+and\s+a\s+half)?[\s-]+{UNIT}(?: ago)?\b|\b(?:a|an|half an?) {UNIT}(?: ago)?\b"
    r"|\bsince [^,.;:!?—]+",
    re.IGNORECASE,
)
HOW_OFTEN = re.compile(r"\bhow (?:often|frequently)\b", re.IGNORECASE)


def _how_many(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    rhythm = _first(RHYTHM, sentence) if HOW_OFTEN.search(question.text) else None
    return rhythm or _counted(question, sentence)


def _counted(question: Question, sentence: str) -> str | None:
    """The number before a word that the question has ("three turtles": three), else the first with a unit."""
    numbers = [(n[0], sentence[n.end() :]) for n in COUNT.finditer(sentence) if not YEAR.fullmatch(n[0])]
    for number, rest in numbers:
        if set(terms(" ".join(rest.split()[:2]))) & set(question.words):
            return number + _unit(rest)
    return next((n + _unit(rest) for n, rest in numbers if _unit(rest) or n[0] in "$€£¥"), None)


def _unit(rest: str) -> str:
    """The unit that follows a number, with what stands between, or nothing."""
    unit = COUNTED_UNIT.match(rest)
    return unit[0] if unit else ""


def _how_long(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    return _first(DURATION, sentence)


# Who, where --------------------------------------------------------------------------------------------

CAPITALISED = r"(?:[A-Z]\.\s?)*[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|la|da|van|von)\s+)*[A-Z][\w'’-]*)*"
NAME = re.compile(rf"(?<=[\w,;:]\s){CAPITALISED}")  # not at the start, where everything has a capital
OWNING = re.compile(r"['’]s$")
KIN = (
    r"(?:mom|mum|mother|dad|father|parents|sister|brother|son|daughter|kids?|children|wife|husband|partner"
    r"|girlfriend|boyfriend|friends?|family|grand(?:ma|pa|mother|father)|aunt|uncle|cousins?|nephew|niece"
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
CALENDAR = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|christmas|easter|thanksgiving|halloween)\b",
    re.IGNORECASE,
)


def _who(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    names = (name[0] for name in NAME.finditer(sentence) if not name[0].isupper() and not OWNING.search(name[0]))
    return _first(RELATION, sentence) or next((n for n in names if _is_name(question, n, speakers)), None)


def _where(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    places = (place[1] for place in PLACE.finditer(sentence))
    spot = SPOT.search(sentence)
    return next((p for p in places if _is_name(question, p, speakers)), spot[1] if spot else None)


def _is_name(question: Question, name: str, speakers: Sequence[str]) -> bool:
    """Whether capitals stand for something new: no date, no speaker, nothing from the question."""
    if not content_words(name) or CALENDAR.match(name):
        return False
    if named(name, speakers) or any(speaker.startswith(name) for speaker in speakers):
        return False
    return name.casefold() not in question.text.casefold()


# Which, what, why --------------------------------------------------------------------------------------

OFFERED = re.compile(r"([\w'’-]+)\s+or\s+(?:an?\s+|the\s+)?([\w'’-]+)", re.IGNORECASE)
HELPER = r"(?:am|are|is|was|were|have|has|had|do|did|been|being|also|just|really|always|recently|usually|still)"
DOING = re.compile(
    rf"(?:(?:i|we|he|she|they|you)(?:['’](?:m|ve|d|re|s|ll))?\s+(?:{HELPER}\s+)*([\w'’-]+)|([\w'’-]+ing)(?!.*\b(?:is|are|was|were)\b))"
    r"\s+(?!(?:me|us|him|her|them|you|it)\b)(.+)",
    re.IGNORECASE | re.DOTALL,
)
BEING = re.compile(r"(.+?)(?:\s+(?:is|are|was|were|would be)\s+|['’](?:s|re)\s+)(.+)", re.IGNORECASE | re.DOTALL)
ASKED_DOING = re.compile(rf"\b(?:what|which)\b.{{0,80}}?\b{AUXILIARY}(.+)", re.IGNORECASE | re.DOTALL)
ASKED_BEING = re.compile(r"\b(?:what|which)\b.{0,80}?(?:\b(?:is|are|was|were)\b|['’]s\b)", re.IGNORECASE)
ANY_DEED = re.compile(r"\bdo(?:ing|ne)?\b", re.IGNORECASE)
CLAUSE_END = re.compile(
    r"\s*(?:[,;:!?…]|\.(?=\s|$)|\s[-–—]+\s|—|\s(?:but|so|because|and (?:i|it|we))\b)", re.IGNORECASE
)
REASON = re.compile(r"\b(?:because|in order to|so that)\b[^.!?;—]+", re.IGNORECASE)


def _offered(question: Question, sentence: str) -> str | None:
    """The one of the two things offered that the sentence has."""
    offered = OFFERED.search(question.text)
    held = set(terms(sentence))
    stems = [stem for word in (offered.groups() if offered else ()) if (stem := set(terms(word)) & held)]
    if len(stems) != 1:
        return None
    return next((word for word in re.findall(r"[\w'’-]+", sentence) if stems[0] & set(terms(word))), None)


def _object(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    """The rest of a clause that does, or says to be, what the question asks.

    "What did she research?" · "Researching adoption agencies, it's a dream" → "adoption agencies";
    "What is his favourite dance?" · "My favourite dance is contemporary" → "contemporary".
    """
    verb, being = _asked_verb(question), ASKED_BEING.search(question.text)
    for clause in filter(None, map(str.strip, CLAUSE_END.split(sentence))):
        span = _done(verb, clause) or (_said_to_be(question, clause) if being else None)
        if span:
            return span
    return None


def _asked_verb(question: Question) -> str | None:
    """The first content word after "what did Ann": the verb, or else a noun that no sentence does."""
    asked = ASKED_DOING.search(question.text)
    if asked is None or ANY_DEED.search(asked[1]):
        return None
    return next((term for term in terms(asked[1]) if term in question.words), None)


def _done(verb: str | None, clause: str) -> str | None:
    doing = DOING.fullmatch(clause)
    return doing[3] if doing and verb in terms(doing[1] or doing[2]) else None


def _said_to_be(question: Question, clause: str) -> str | None:
    """One side of "A is B", where the other side is said with the question's words, and with half of them."""
    being = BEING.fullmatch(clause)
    if being is None:
        return None
    asked = set(question.words)
    for side, other in ((1, 2), (2, 1)):
        said = set(terms(being[side]))
        if said <= asked and 2 * len(said) >= len(asked) and set(terms(being[other])) - asked:
            return being[other]
    return None


def _why(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    return _first(REASON, sentence)


_FINDERS: dict[Asks, Callable[[Question, str, Sequence[str]], str | None]] = {
    Asks.HOW_MANY: _how_many,
    Asks.HOW_LONG: _how_long,
    Asks.WHO: _who,
    Asks.WHERE: _where,
    Asks.WHICH: _object,
    Asks.LIST: _object,
    Asks.WHAT: _object,
    Asks.WHY: _why,
}
