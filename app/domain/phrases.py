"""Words and phrases of an English sentence, as far as closed classes of words tell them: no dictionary, no parser.

A phrase is a run of content words with the small words between them. What no rule is sure of is taken for content,
so that a phrase is rather too long than cut in two.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from app.domain.text import terms
from app.domain.verbs import base, is_past

LONGEST = 14  # words of a phrase


class Sort(Enum):
    """What a word does in a sentence."""

    CONTENT = auto()  # nouns, verbs, adjectives, names, numbers, anything in quotes
    DETERMINER = auto()
    POSSESSIVE = auto()
    PREPOSITION = auto()
    CONJUNCTION = auto()
    AUXILIARY = auto()
    PRONOUN = auto()
    ADVERB = auto()
    COMMA = auto()
    MARK = auto()


_CLOSED = {
    Sort.DETERMINER: "a an the this that these those some any every each no another both all such",
    Sort.POSSESSIVE: "my our your his her its their",
    Sort.PREPOSITION: """
        of in on at for from with about to into through over after before during around near by as like without
        against between among under across along behind beside toward towards until since than per via onto off up
        out down within beyond including back""",
    Sort.CONJUNCTION: """
        and or but so because although though while when where if which who whom whose whether unless nor how why
        what then cause cuz plus""",
    Sort.AUXILIARY: """
        am is are was were be been being have has had having do does did can could will would shall should may might
        must gonna wanna isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't hasn't haven't
        hadn't cannot""",
    Sort.PRONOUN: """
        i me you he him she it we us they them myself yourself himself herself itself ourselves themselves there here
        someone something anything everything nothing everyone anyone mine yours ours theirs let's""",
    Sort.ADVERB: """
        really very just also even still actually always never often pretty quite too definitely totally recently now
        today again already ever yet only super much more most lately usually especially not maybe probably away
        together once finally currently basically wow hey thanks yeah oh hi yes well ok okay yep btw""",
}
_SORTS = {word: sort for sort, listed in _CLOSED.items() for word in listed.split()}
_SHORTENED = re.compile(r"(?:i|you|he|she|it|we|they|that|there|here|what|who)'(?:m|re|s|ve|ll|d)")
_WORD = re.compile(
    r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|[$€£¥]?\d[\d.,]*\d%?|[^\W_][\w'’]*(?:[-.&/+][\w'’]+)*\+?|(?<=\s)[-–—]+(?=\s)|\S"
)
_POINTING = (Sort.DETERMINER, Sort.POSSESSIVE)
_ARTICLES = ("a", "an", "the")
_JOINING = ("and", "or", "&")
_QUOTES = '"“”'


@dataclass(frozen=True, slots=True)
class Word:
    """A word or a mark; what stands in quotes is one word. `stems` are its index terms, verbs in their base form."""

    text: str
    sort: Sort
    start: int
    end: int
    stems: frozenset[str]

    @property
    def is_quoted(self) -> bool:
        """Whether it stands in quotes, which belong to it."""
        return self.text[0] in _QUOTES and len(self.text) > 1

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital."""
        return self.text[0].isupper()


def words(text: str) -> list[Word]:
    """The words and marks of a text, in order."""
    return [
        Word(match[0], _sort(match[0]), *match.span(), frozenset(map(base, terms(match[0]))))
        for match in _WORD.finditer(text)
    ]


def _sort(word: str) -> Sort:
    plain = word.lower().replace("’", "'")
    if plain == ",":
        return Sort.COMMA
    if not (word[0].isalnum() or len(word) > 1):
        return Sort.MARK
    if plain.strip("-–—") == "":
        return Sort.MARK
    return Sort.AUXILIARY if _SHORTENED.fullmatch(plain) else _SORTS.get(plain, Sort.CONTENT)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words `first` to `last`, both included, of a sentence."""

    first: int
    last: int

    def text(self, sentence: str, found: Sequence[Word]) -> str:
        """Its words as they stand in the sentence, without the "my" or "this" at their head."""
        first = self.first
        while first < self.last and found[first].sort in _POINTING and found[first].text.lower() not in _ARTICLES:
            first += 1
        return sentence[found[first].start : found[self.last].end]


def after(found: Sequence[Word], start: int, stop: int | None = None) -> Phrase | None:
    """The phrase that begins at `start` or after the small words there; it ends before `stop`.

    It goes on over "of" and over lists ("pottery, camping and hiking"), and ends at any other small word.
    """
    end = min(len(found) if stop is None else stop, len(found))
    first = start
    while first < end and found[first].sort in (Sort.PREPOSITION, Sort.ADVERB, Sort.POSSESSIVE):
        first += 1
    last, at = None, first
    while at < min(end, first + LONGEST) and _goes_on(found, at, first, end):
        if found[at].sort is Sort.CONTENT:
            last = at
        at += 1
    return None if last is None else Phrase(first, last)


def _goes_on(found: Sequence[Word], at: int, first: int, end: int) -> bool:
    word = found[at]
    if word.sort is Sort.CONTENT:
        return True
    if word.sort in _POINTING:
        before = found[at - 1]  # "the clarinet these days" ends before "these", "running a bakery" goes on
        return at == first or before.sort is not Sort.CONTENT or before.text.endswith("ing")
    if at == first or at + 1 == end:
        return False
    following = found[at + 1]
    if word.sort is Sort.ADVERB:
        return found[at - 1].sort is Sort.DETERMINER
    if word.sort is Sort.COMMA and following.text.lower() in _JOINING:
        return True
    if word.sort is Sort.COMMA or word.text.lower() in _JOINING:
        return _same_form(found[first], following) and (word.sort is not Sort.COMMA or _joined_later(found, at, end))
    return word.text.lower() == "of" and following.sort is not Sort.PRONOUN


def _same_form(one: Word, other: Word) -> bool:
    """Whether two entries may belong to one list: things with things, doings with doings."""
    if one.is_quoted:
        return other.is_quoted or other.is_capital
    doing = (one.text.endswith("ing"), other.text.endswith("ing"))
    return other.sort in (Sort.CONTENT, *_POINTING) and doing[0] == doing[1]


def _joined_later(found: Sequence[Word], at: int, end: int) -> bool:
    """Whether an "and" closes the list that a comma at `at` is part of."""
    for word in found[at + 1 : end]:
        if word.text.lower() in _JOINING:
            return True
        if word.sort not in (Sort.CONTENT, Sort.COMMA, *_POINTING):
            return False
    return False


def around(found: Sequence[Word], head: int) -> Phrase:
    """The phrase whose noun is `head`: its modifiers with their article, and an "of" that follows."""
    first = head
    while first > 0 and (_modifies(found, first - 1) or _joins(found, first - 1)):
        first -= 1
    if first > 0 and found[first - 1].sort is Sort.DETERMINER:
        first -= 1
    last = head
    while last + 1 < len(found) and found[last + 1].is_capital and found[last + 1].sort is Sort.CONTENT:
        last += 1
    if last + 2 < len(found) and found[last + 1].text == "of":
        of = after(found, last + 2)
        last = of.last if of else last
    return Phrase(first, last)


def _joins(found: Sequence[Word], at: int) -> bool:
    """Whether a comma stands between two modifiers, as in "a safe, inviting place"."""
    return at > 1 and found[at].sort is Sort.COMMA and _modifies(found, at - 1) and _leads(found[at - 2])


def _leads(word: Word) -> bool:
    return word.sort in (Sort.DETERMINER, Sort.POSSESSIVE)


def _modifies(found: Sequence[Word], at: int) -> bool:
    """Whether a word before a noun belongs to it: content that is no verb."""
    return found[at].sort is Sort.CONTENT and not is_verb(found, at)


def is_verb(found: Sequence[Word], at: int) -> bool:
    """Whether a content word is a verb, by its form or by what it follows."""
    word = found[at]
    if word.sort is not Sort.CONTENT or word.is_quoted:
        return False
    if is_past(word.text):
        return True
    before = at - 1
    while before >= 0 and found[before].sort is Sort.ADVERB:
        before -= 1
    if before < 0:
        return word.text.lower().endswith(("ing", "ed"))
    lead = found[before]
    if lead.sort is Sort.PRONOUN or lead.text.lower() == "to":
        return True
    return lead.sort is Sort.AUXILIARY and word.text.lower().endswith(("ing", "ed"))


def capitals(found: Sequence[Word], start: int = 0) -> list[Phrase]:
    """Runs of capitalised words that are not the first of the sentence, and what stands in quotes."""
    runs: list[Phrase] = []
    for at in range(start, len(found)):
        word = found[at]
        named = word.is_quoted or (at > 0 and word.is_capital and word.sort is Sort.CONTENT)
        if not named or (at > 0 and found[at - 1].sort is Sort.MARK and not word.is_quoted):
            continue
        if runs and runs[-1].last == at - 1 and not word.is_quoted:
            runs[-1] = Phrase(runs[-1].first, at)
        else:
            runs.append(Phrase(at, at))
    return runs


def stems(found: Sequence[Word], phrase: Phrase) -> frozenset[str]:
    """The stems of its content words."""
    inside = found[phrase.first : phrase.last + 1]
    return frozenset[str]().union(*(word.stems for word in inside if word.sort is Sort.CONTENT))


def with_stem(found: Sequence[Word], wanted: Collection[str]) -> list[int]:
    """Where words with one of these stems stand."""
    return [at for at, word in enumerate(found) if not word.stems.isdisjoint(wanted)]
