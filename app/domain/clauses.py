"""The clauses of a statement in English or German, as words: what the frames of claims are compared with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.canonical import MARK, canonical
from app.domain.sentences import sentence_spans
from app.domain.text import normalise
from app.domain.wording import Span, Wording

_LEAD = re.compile(
    r"(?:correction|korrektur|heads[ -]up|update|fyi|edit|note|reminder|news|good news|bad news|"
    r"(?:ugh|oh|ok|okay|well|so|also|and|but|hey|hi|yes|yeah|no|nope|actually|btw|by the way|for the record|"
    r"as i said|anyway|just so you know|sorry|wait|guess what|as of today|as of now|from now on|turns out|finally|"
    r"i mean|übrigens|ja|nein|ach|naja|und|aber|ab jetzt|achtung|haha|lol)(?=\s*[,:!.…–-]))\s*[,:!.…–-]+\s*"
    r"|it turns out (?:that )?"
    r"|(?:ugh|oh|also|and|but|und|aber|so|well|btw)\s+(?=(?:i|my|we|our|the|ich|mein\w*|wir|unser\w*)\b)",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*(?:,(?!\d)|;|\(|\s[–—-]\s|:\s)\s*|\s+(?=(?:because|although|though|incl\b|including|weil|obwohl|inklusive)\b)"
)
_JOINED = re.compile(r"\b(?:and|und|but|aber)\s", re.IGNORECASE)
_AFTERTHOUGHT = re.compile(
    r"\b(?:from now on|once more|again|still|already|yet|noch|schon|any ?more|any longer|at all|after all|"
    r"for good|for now|for the time being)\b",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"[^\W_][\w.'’&-]*")
_LONG = 3  # words after "and" that are a clause of their own rather than a list


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word, and whether it was written with a capital."""

    text: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """The words of a clause; `joined` says that an "and" in it goes on to something else. Marks stand for `times`."""

    words: tuple[Word, ...]
    times: tuple[Span, ...]
    joined: bool

    @property
    def texts(self) -> tuple[str, ...]:
        """The folded words."""
        return tuple(word.text for word in self.words)


def clauses(wording: Wording) -> Sequence[Clause]:
    """The clauses of a statement, at least one; each knows the times that are marked in it."""
    left = list(wording.times)
    made = []
    for part in _parts(wording.body):
        joined = _JOINED.search(part)
        goes_on = joined is not None and len(part[joined.end() :].split()) >= _LONG
        times = tuple(left.pop(0) for _ in range(part.count(MARK)) if left)
        words = _words(part)
        if words:
            made.append(Clause(words, times, goes_on))
    return made or [Clause((), (), joined=False)]


def _parts(body: str) -> Sequence[str]:
    plain = body.split(" [image:")[0]
    parts = []
    for start, end in sentence_spans(plain) or [(0, 0)]:
        sentence = plain[start:end].strip()
        while (lead := _LEAD.match(sentence)) and lead.end() < len(sentence):
            sentence = sentence[lead.end() :]
        parts.extend(_CUT.split(sentence))
    return parts or [""]


def _words(part: str) -> tuple[Word, ...]:
    """The words in canonical form. A contraction's parts are one word's, so its capital is the first one's."""
    spelled = _AFTERTHOUGHT.sub(" ", part)
    capitals = {normalise(raw) for raw in _WRITTEN.findall(spelled) if raw[0].isupper() or raw[0].isdigit()}
    return tuple(Word(word, word in capitals or any(map(str.isdigit, word))) for word in canonical(spelled))
