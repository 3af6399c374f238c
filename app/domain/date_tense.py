"""Whether the English words around a time speak of the past or of what is to come."""

import re

BEHIND = 120  # characters before a time that still tell; a sentence is seldom longer
AHEAD = 80

_CLAUSE_END = re.compile(r"[.!?;\n]\s|\n")
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


def lean(match: re.Match[str]) -> int:
    """-1 where only the past is spoken of, 1 where only what is to come, else 0."""
    start, end = match.span()
    before = match.string[max(0, start - BEHIND) : start]
    after = match.string[start : end + AHEAD]
    ends = list(_CLAUSE_END.finditer(before))
    stop = _CLAUSE_END.search(after)
    sentence = (before[ends[-1].end() if ends else 0 :] + after[: stop.start() if stop else None]).replace("’", "'")
    return bool(_TO_COME.search(sentence)) - bool(_PAST.search(sentence))
