"""Frames of clauses that tell of a change, and of those that only say whether something holds."""

from collections.abc import Sequence

from app.domain import claim_words as words
from app.domain.canonical import MARK
from app.domain.claim_found import ANY, BARE, PREPOSITIONS, Found, capitals
from app.domain.clauses import Word
from app.domain.text import terms
from app.domain.wording import FIRST_PERSON, Span

INDEFINITE = frozenset(("a", "an", "any", "ein", "eine", "einen"))


def changed(said: Sequence[Word], times: Sequence[Span]) -> Found | None:
    """Words for a change: started at, got married, found what one was looking for."""
    texts = tuple(word.text for word in said)
    if texts[0] not in FIRST_PERSON:
        return None
    start = 2 if texts[1:2] == ("have",) else 1
    state = (
        words.STATES.get(texts[start + 1], "") if texts[start : start + 1] == ("got",) and texts[start + 1 :] else ""
    )
    if state == "marriage":
        return Found("", "be marriage", texts[start + 1], since=times[0][0] if times else None, lasting=False)
    since = times[0][0] if times else None
    for phrase, attribute in _CHANGES.items():
        end = start + len(phrase)
        value = capitals(said[end:]) if texts[start:end] == phrase else ""
        if value:
            return Found("", attribute, value, since=since, lasting=False)
    thing = _sought(texts[start:])
    return Found("", f"find {thing[1]}", thing[0], since=since, lasting=thing[0] == "looking") if thing else None


_CHANGES = {
    ("started", "at"): "work",
    ("started", "working", "at"): "work",
    ("started", "working", "for"): "work",
    ("got", "a", "job", "at"): "work",
    ("got", "a", "new", "job", "at"): "work",
    ("started", "a", "new", "job", "at"): "work",
}
_SOUGHT = {("am", "looking", "for"): "looking", ("are", "looking", "for"): "looking", ("found",): "found"}


def _sought(texts: tuple[str, ...]) -> tuple[str, str] | None:
    for phrase, value in _SOUGHT.items():
        if texts[: len(phrase)] == phrase:
            rest = texts[len(phrase) :]
            end = next((place for place, text in enumerate(rest) if text in PREPOSITIONS), len(rest))
            thing = [text for text in rest[:end] if text not in words.ARTICLES | {"new", MARK, "another"}]
            return (value, " ".join(thing)) if 1 <= len(thing) <= 3 else None
    return None


def polar(said: Sequence[Word], times: Sequence[Span]) -> Found | None:
    """Whether something holds at all: the same words, once denied and once not."""
    texts = [word.text for word in said]
    known = texts[0] in FIRST_PERSON or texts[0] in words.OWN or texts[0] in words.ARTICLES or said[0].capital
    past = texts[0] not in words.GERMAN_SELF and any(text.endswith("ed") for text in texts[1:3])
    if times or not known or past or words.BEEN & set(texts):
        return None
    end = _subject_end(said)
    if end == len(texts):
        return None
    if not end:
        return Found(texts[0], f"{BARE} {_stems(texts[1:])}")
    verb, thing, disliked = _doing(texts[end:])
    return Found(_subject(texts[:end]), _attribute(verb, thing), verb if thing else "", denied=disliked)


def given_up(said: Sequence[Word]) -> Found | None:
    """That somebody gave up coffee, whatever he did with it; the words are subject and thing."""
    end = _subject_end(said)
    thing = _stems([word.text for word in said[end:] if word.text not in words.OWN])
    return Found(_subject([word.text for word in said[:end]]), _attribute("", thing), ANY) if end and thing else None


def _subject_end(said: Sequence[Word]) -> int:
    """How many words the subject has, where that is certain; else 0."""
    texts = [word.text for word in said]
    if texts[0] in FIRST_PERSON:
        return 1
    if texts[0] in words.OWN and texts[1:2] and texts[1] in words.KIN | words.MANY | words.PEOPLE:
        return 2
    is_name = said[0].capital and texts[0] not in words.ARTICLES | words.OWN.keys()
    return 1 if is_name and len(said) > 1 and not said[1].capital else 0


def _subject(texts: Sequence[str]) -> str:
    return "" if texts[0] in FIRST_PERSON else " ".join(words.OWN.get(text, text) for text in texts)


def _doing(texts: Sequence[str]) -> tuple[str, str, bool]:
    """What is done and to what, "drink" and "coffee", and whether that is a dislike."""
    verb, *rest = texts
    disliked = verb in words.DISLIKES
    if verb in words.LIKES | words.DISLIKES or (verb in ("can", "kann") and words.TOLERATED & set(rest[:1])):
        return "like", _stems(rest if verb not in ("can", "kann") else rest[1:]), disliked
    if rest and rest[0].endswith("ing") and (verb in words.GOING or words.VERBS.get(verb) == "be"):
        verb, *rest = words.base(rest[0]), *rest[1:]  # "am learning", "go running"
    verb = words.VERBS.get(verb, verb)
    verb = _stems([words.HAVING.get(verb, verb)])
    while rest and rest[0] in PREPOSITIONS | {"about"}:
        verb, *rest = f"{verb} {rest[0]}", *rest[1:]
    return verb, _stems([text for text in rest if text not in words.OWN]), disliked


def _attribute(verb: str, thing: str) -> str:
    """Whoever gave up coffee may still have some and like it."""
    if verb in ("have", "like"):
        return f"{BARE}{verb} {thing}"
    return f"{BARE} {thing}" if thing else f"{BARE}{verb}"


def _stems(texts: Sequence[str]) -> str:
    for often in words.OFTEN:
        if tuple(texts[-len(often) :]) == often:
            texts = texts[: -len(often)]
    telling = [text for text in texts if text not in words.ARTICLES | INDEFINITE]
    return " ".join((terms(text) or [text])[0] for text in telling)
