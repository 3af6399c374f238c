"""The shortest part of a sentence that answers a kind of question: a number, a name, a place, a thing.

Every span is a verbatim part of its sentence. Where no pattern is sure there is no span, and the whole
sentence answers: too many words are better than the wrong ones. The patterns are English.
"""

import re
from collections.abc import Sequence

from app.domain import quantities, things, whereabouts
from app.domain.questions import Asks, Question
from app.domain.text import terms

OFFERED = re.compile(r"([\w'’-]+)\s+or\s+(?:an?\s+|the\s+)?([\w'’-]+)", re.IGNORECASE)
REASON = re.compile(r"(?:\bbecause|['’]cause|\bcause|\bcuz|\bin order to|\bso that|\bdue to)\b[^.!?;—]+", re.IGNORECASE)


def find(question: Question, sentence: str, speakers: Sequence[str] = ()) -> str | None:
    """The span of `sentence` that answers, or None.

    It never just repeats the question, unless that offers two things ("tea or coffee?").
    `speakers` are names with which people address each other ("No worries, John"): nobody they tell of.
    """
    if question.asks is Asks.WHICH and (offered := _offered(question, sentence)):
        return offered
    span = _span(question, sentence, speakers)
    return span if span and _says_more(question, span) else None


def _span(question: Question, sentence: str, speakers: Sequence[str]) -> str | None:
    match question.asks:
        case Asks.HOW_MANY:
            return quantities.how_many(question, sentence)
        case Asks.HOW_LONG:
            return quantities.how_long(sentence)
        case Asks.WHO:
            return whereabouts.who(question, sentence, speakers)
        case Asks.WHERE:
            return whereabouts.where(question, sentence, speakers)
        case Asks.WHY:
            return _why(sentence)
        case Asks.WHAT | Asks.WHICH | Asks.LIST:
            return things.find(question, sentence, speakers)
        case _:
            return None


def _says_more(question: Question, span: str) -> bool:
    return bool(set(terms(span)) - set(question.words)) or quantities.counts(span)


def _why(sentence: str) -> str | None:
    reason = REASON.search(sentence)
    return reason[0].strip() if reason else None


def _offered(question: Question, sentence: str) -> str | None:
    """The one of the two things offered that the sentence has."""
    offered = OFFERED.search(question.text)
    held = set(terms(sentence))
    stems = [stem for word in (offered.groups() if offered else ()) if (stem := set(terms(word)) & held)]
    if len(stems) != 1:
        return None
    return next((word for word in re.findall(r"[\w'’-]+", sentence) if stems[0] & set(terms(word))), None)
