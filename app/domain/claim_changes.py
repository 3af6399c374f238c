"""Frames of clauses that tell of a change, and of those that only say whether something holds."""

from collections.abc import Sequence

from app.domain import claim_words as words
from app.domain.claim_found import BARE, PREPOSITIONS, Found, capitals, residence
from app.domain.clauses import Word
from app.domain.text import terms
from app.domain.wording import FIRST_PERSON, MARK, Span

INDEFINITE = frozenset(("a", "an", "any", "ein", "eine", "einen"))


def changed(said: Sequence[Word], times: Sequence[Span]) -> Found | None:
    """Words for a change: moved to, joined, started at, found what one was looking for."""
    texts = tuple(word.text for word in said)
    if texts[0] not in FIRST_PERSON:
        return None
    start = 2 if texts[1:2] == ("have",) else 1
    since = times[0][0] if times else None
    for phrase, attribute in _CHANGES.items():
        end = start + len(phrase)
        value = capitals(said[end:]) if texts[start:end] == phrase else ""
        if value:
            kind = residence(value) if attribute == "live" else attribute
            return Found("", kind, value, since=since, lasting=False)
    thing = _sought(texts[start:])
    return Found("", f"find {thing[1]}", thing[0], since=since, lasting=thing[0] == "looking") if thing else None


_CHANGES = {
    ("moved", "to"): "live",
    ("moved", "back", "to"): "live",
    ("joined",): "work",
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


def polar(said: Sequence[Word], times: Sequence[Span], *, denied: bool) -> Found | None:
    """Whether something holds at all: the same words, once denied and once not."""
    texts = [word.text for word in said]
    known = texts[0] in FIRST_PERSON or texts[0] in words.OWN or texts[0] in words.ARTICLES or said[0].capital
    for ended in words.ENDED if texts[0] in FIRST_PERSON else ():
        end = 1 + len(ended)
        if tuple(texts[1:end]) == ended and len(texts) > end and texts[end].endswith("ing"):
            return Found("", _stems(texts[end:]), denied=True)
    if times or not known or words.BEEN & set(texts) or any(text.endswith("ed") for text in texts[1:3]):
        return None
    disliked = next((place for place, text in enumerate(texts[:3]) if text in words.LIKES | words.DISLIKES), 0)
    if disliked:
        denied ^= texts[disliked] in words.DISLIKES
        texts[disliked] = "like"
    subject = "" if texts[0] in FIRST_PERSON else " ".join(texts[:1])
    return Found(subject, _stems(texts[1:]), denied=denied)


def _stems(texts: Sequence[str]) -> str:
    for often in words.OFTEN:
        if tuple(texts[-len(often) :]) == often:
            texts = texts[: -len(often)]
    telling = [text for text in texts if text not in INDEFINITE]
    return f"{BARE} {' '.join((terms(text) or [text])[0] for text in telling)}"
