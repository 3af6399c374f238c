"""Clauses that say something only together: "I have a new boss, Petra"."""

from collections.abc import Sequence

from app.domain import claim_words as words
from app.domain.claim_plain import IS, MY, NOT, SUBJECTS
from app.domain.clauses import Clause, Word
from app.domain.wording import FIRST_PERSON


def merged(clauses: Sequence[Clause]) -> Sequence[Clause]:
    """The clauses, the first two in one where only both together say something."""
    if len(clauses) < 2:
        return clauses
    first, second, *others = clauses
    whole = _introduced(first, second) or _corrected(first, second) or _german_stopped(first, second)
    return [whole, *others] if whole else clauses


def _introduced(first: Clause, second: Clause) -> Clause | None:
    """I have a new boss, Petra."""
    texts = first.texts
    start = 4 if texts[1:4] in (("have", "a", "new"), ("got", "a", "new"), ("have", "got", "a")) else 0
    if not start or texts[0] not in FIRST_PERSON or texts[-1] not in words.ONE_AT_A_TIME:
        return None
    if not second.words[0].capital and texts[-1] not in words.WRITTEN:
        return None
    told = (MY, *first.words[start:], IS, *second.words)
    return Clause(told, second.times, second.joined)


def _corrected(first: Clause, second: Clause) -> Clause | None:
    """Not on the 11th, but on the 13th; isn't Dr. Abara any more, it's Dr. Quandt."""
    texts = first.texts
    denial = next((place for place, text in enumerate(texts) if place and text in words.DENIALS), 0)
    if not denial:
        return None
    if second.texts[0] in ("but", "sondern") and second.texts[1:] and second.texts[1] not in SUBJECTS:
        return Clause((*first.words, *second.words), (*first.times, *second.times), second.joined)
    pointed = second.texts[0] in words.POINTING and second.texts[1:2] == ("is",) == texts[denial - 1 : denial]
    if pointed and second.texts[2:] and second.texts[2] not in words.DENIALS:
        return Clause((*first.words[:denial], *second.words[2:]), second.times, second.joined)
    return None


def _german_stopped(first: Clause, second: Clause) -> Clause | None:
    """Ich habe aufgehört, Dänisch zu lernen."""
    if first.texts[-1:] != ("aufgehort",) or len(first.words) != 3 or second.texts[-2:-1] != ("zu",):
        return None
    verb = Word(second.texts[-1].removesuffix("en"), capital=False)
    return Clause((first.words[0], verb, *second.words[:-2], NOT), second.times, second.joined)
