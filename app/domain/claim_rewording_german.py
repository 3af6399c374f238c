"""German ways to tell of a change, whose verbs stand at the end: "auf 950 Euro gestiegen", "nach Velmar gezogen"."""

from app.domain import claim_words as words
from app.domain.claim_plain import AT, HAVE, SUBJECT, WORK, Plain, ended, given_up, is_person, now
from app.domain.clauses import Word


def german(found: Plain) -> Plain | None:
    """The clause put plainly; None where no rule applies."""
    texts = [word.text for word in found.said]
    verb = next((place for place, text in enumerate(texts[: SUBJECT + 1]) if place and text in words.GERMAN_PAST), 0)
    if not verb or len(texts) < verb + 3:
        return None
    last, rest = texts[-1], range(verb + 1, len(texts) - 1)
    if last in words.GERMAN_MOVED and texts[rest[0]] == "nach":
        return now(found, verb, rest[1:], moved=True) if len(rest) > 1 and is_person(found.said[:verb]) else None
    if last in words.GERMAN_CHANGED and texts[rest[0]] in ("auf", "in", "zu", "nach"):
        value = [place for place in rest[1:] if texts[place] not in words.GERMAN_ARTICLES or place != rest[1]]
        return now(found, verb, range(value[0], rest[-1] + 1), moved=texts[rest[0]] == "in") if value else None
    return _german_end(found, verb, rest) if last in words.GERMAN_ENDED else None


def _german_end(found: Plain, verb: int, rest: range) -> Plain | None:
    """Ich habe das Rauchen aufgegeben, bei Lumen gekündigt, mein Auto verkauft."""
    texts = [word.text for word in found.said]
    last = texts[-1]
    if last == "verkauft":
        return ended(found, verb, (HAVE, *found.said[rest[1] : -1])) if texts[rest[0]] in words.OWN else None
    if texts[rest[0]] == "bei":
        return ended(found, verb, (WORK, AT, *found.said[rest[1] : -1]))
    if last == "gekundigt":
        return None
    what = [place for place in rest if texts[place] not in {"mit", *words.GERMAN_ARTICLES}]
    if len(what) != 1:
        return None
    noun = found.said[what[0]]
    if noun.text.endswith("en") and noun.capital:
        return Plain((*found.said[:verb], Word(noun.text[:-2], capital=False)), found.times, denied=True)
    return given_up(found, verb, what[0], what[0] + 1)
