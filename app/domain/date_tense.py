"""Whether the English words around a time speak of the past or of what is to come."""

import re

BEHIND = 120  # characters before a time that still tell; a sentence is seldom longer
AHEAD = 80

_SENTENCE_END = re.compile(r"[.!?;\n]\s|\n")
_SUBJECT = r"(?:i|we|you|he|she|they|it|there)\b"
_CLAUSE_END = re.compile(
    rf"[,:;]\s|\s[–—-]\s|\s(?=(?:but|because|although|though|so)\s)|\s(?=and\s{_SUBJECT})", re.IGNORECASE
)
_HAS_SUBJECT = re.compile(rf"\b{_SUBJECT}", re.IGNORECASE)
_ADVERBIAL = re.compile(  # "in Rome last June": what its clause leans on stands in another
    r"\s*(?:(?:and|but|so|then|well|just|only|back|even|also|around|about) )*"
    r"(?:(?:on|in|at|by|from|since|until|till|during|over|for|before|after|with|around|about|of)\b|(?:the )?\Z)",
    re.IGNORECASE,
)
_NO_ARTICLE = "".join(rf"(?<!\b{word}\x20)" for word in ("the", "a", "an", "my", "your"))  # "the specified day"
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|went|got|came|saw|met|took|made|said|told|gave|found|bought|left|felt|kept|began"
    r"|ran|drove|flew|spent|won|lost|wrote|broke|brought|thought|taught|caught|held|heard|knew|ate|drank|fell|grew"
    r"|slept|spoke|sold|sent|built|paid|stood|swam|sang|wore|threw|rode|became|led|chose|ago"
    rf"|{_NO_ARTICLE}(?!need|indeed|hundred|excited|thrilled|interested|tired|scheduled|booked|supposed|invited|married|wicked)"
    r"[a-z]{2,}(?<![ea])ed)\b",
    re.IGNORECASE,
)
_TO_COME = re.compile(
    r"\b(?:will|won't|shall|should|going to|gonna|planning|plan(?:s|ned)? (?:to|on|for)|let's|let us|see you|can't wait"
    r"|looking forward|due|upcoming|hop(?:e|ing) to|want to|need to|have to|expect(?:ed|ing)? to"
    r"|(?:am|are|is|be) (?!amazing|interesting|exciting|boring|missing|nothing|something|anything|everything)[a-z]+ing)"
    r"\b|'ll\b|'(?:m|re|s) (?!amazing|interesting|exciting|boring|missing|nothing|something)[a-z]+ing\b",
    re.IGNORECASE,
)
_ADVERBS = r"(?:not|never|only|just|already|also|always|all|both|now|about|almost|nearly|over|like|maybe|[a-z]+ly)"
_LASTED = (
    r"(?:been|had|lived|worked|known|kept|taught|run|led|held|played|stayed|studied|trained|owned|served|run|dated)"
)
_PERFECT = re.compile(
    rf"\bbeen\b|(?:\b(?:have|has|haven't|hasn't)|'ve)(?: {_ADVERBS})* (?!got\b)"
    rf"(?:{_LASTED}|[a-z]+(?:ed|en|wn)|done|gone|made|come|become|won|lost|met|left|felt|slept|spent|built|sat|stood)\b"
    rf"|'s(?: {_ADVERBS})* {_LASTED}\b",
    re.IGNORECASE,
)
_NO_SPAN = re.compile(  # "every two weeks now", "cut down to 4 days now"
    r"\b(?:every|each|to|at|of|in|within|from|by|than|these|those|the|per|instead)\s+\Z", re.IGNORECASE
)
_ALONE = re.compile(
    r"\W*(?:(?:well|yes|yeah|oh|wow|and|so|for|about|almost|nearly|over|already|around|roughly|more than|like)\W+)*\Z",
    re.IGNORECASE,
)
_ITS = re.compile(rf"\b(?:it's|it is|that's|that makes it)(?: (?:{_ADVERBS}|more than))* \Z", re.IGNORECASE)
_IS = re.compile(
    r"(?:\b(?:is|are|isn't|aren't)|'s|'re)(?: (?:still|now|only|already|not|actually))?\s+\Z", re.IGNORECASE
)


def lean(match: re.Match[str]) -> int:
    """-1 where only the past is spoken of, 1 where only what is to come, else 0.

    What counts is the clause of the time; the sentence where that clause is an adverbial of another.
    """
    before, time, after = _sentence(match)
    clause = _last(_CLAUSE_END, before)
    after_it = _first(_CLAUSE_END, after)
    own = clause + time + after_it
    is_adverbial = _ADVERBIAL.match(clause) or not clause.strip()
    return _judged(before + time + after if is_adverbial and not _HAS_SUBJECT.search(own) else own)


def is_at(match: re.Match[str]) -> bool:
    """Whether something "is" at that time: "the deadline is on Friday"."""
    before, _, _ = _sentence(match)
    return _IS.search(before) is not None


def has_lasted(match: re.Match[str]) -> bool:
    """Whether "three years now" tells since when: "I've been here three years now"; not "it takes 4 days now"."""
    before, _, after = _sentence(match)
    clause = _last(_CLAUSE_END, before)
    if _NO_SPAN.search(before):
        return False
    if _PERFECT.search(clause) or _ITS.search(before) or not _ALONE.sub("", before):
        return True
    return not _ALONE.sub("", clause) and bool(_PERFECT.search(before) or _PERFECT.search(_first(_CLAUSE_END, after)))


def _sentence(match: re.Match[str]) -> tuple[str, str, str]:
    """What stands before the time in its sentence, the time, and what stands after it."""
    start, end = match.span()
    before = _last(_SENTENCE_END, match.string[max(0, start - BEHIND) : start].replace("’", "'"))
    after = _first(_SENTENCE_END, match.string[end : end + AHEAD].replace("’", "'"))
    return before, match[0], after


def _last(border: re.Pattern[str], text: str) -> str:
    ends = list(border.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _first(border: re.Pattern[str], text: str) -> str:
    end = border.search(text)
    return text[: end.start()] if end else text


def _judged(words: str) -> int:
    return bool(_TO_COME.search(words)) - bool(_PAST.search(words))
