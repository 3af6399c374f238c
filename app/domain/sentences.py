"""Where sentences end: full stops that end nothing, ellipses, quotes, lines, scripts with their own stops."""

import re

_ENDING = ".!?…"
_CLOSING = "\"'”’»)\\]*_"
_EMOJI = "\u2190-\u21ff\u2300-\u2bff\u200d\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e007f"
# Every repeat is possessive, and a run is entered at its first character only: no input makes this slow.
_STOP = re.compile(
    rf"(?<![{_ENDING}])[{_ENDING}]++[{_CLOSING}]*+(?=\s|$|[{_EMOJI}])"
    r"|[。！？｡]++[」』”’）)]*+"
    r"|[।؟۔]++"
    r"|\n\s*+"
)
_TRAIL = re.compile(rf"[^\S\n]*+(?:[:;]-?[()DPp](?!\w)|[{_EMOJI}]++)?+")  # what comes after the stop, with it
_LAST_TOKEN = re.compile(r"[\w.]+\Z")
_AFTER_DOT = re.compile(r"\s+(\w+)")
_DAY = 31
_GERMAN_MONTHS = "januar jänner februar märz april mai juni juli august september oktober november dezember"
_AFTER_DAY = frozenset(_GERMAN_MONTHS.split())
LOOK_BACK = 16  # characters; longer than any abbreviation

_ABBREVIATIONS = "dr mr mrs ms mx prof st mt ft rev capt lt sgt gov pres e.g i.e eg ie cf vs viz approx"
_NEVER_LAST = frozenset(_ABBREVIATIONS.split())
_BEFORE_NUMBER = frozenset(("no", "nos", "vol", "p", "pp", "fig", "eq", "art", "ch", "ca"))
_MAY_BE_LAST = (
    "etc inc ltd co corp dept est jr sr bros ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec "
    "mon tue tues wed thu thur thurs fri sat sun min max hr hrs"
)
_SELDOM_LAST = frozenset(_MAY_BE_LAST.split())


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of `text`, white space included: in order, touching, covering all of it."""
    spans = []
    start = 0
    for stop in _STOP.finditer(text):
        if stop.start() < start or not _ends(text, start, stop):
            continue
        end = _after(text, stop)
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _after(text: str, stop: re.Match[str]) -> int:
    trail = _TRAIL.match(text, stop.end())
    return trail.end() if trail else stop.end()


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    mark = stop[0]
    follows = text[stop.end() : stop.end() + 1]
    if "\n" in mark:
        return mark.count("\n") > 1 or not follows.islower()  # a lower-case line continues the one before
    if mark[0] not in _ENDING:
        return True
    following = _next_letter(text, stop.end())
    if mark == ".":
        return _full_stop(text, start, stop.start(), following)
    if mark.startswith(("..", "…")) or mark[-1] not in _ENDING:
        return not following.islower()  # "well... maybe", '"Really?" she said'
    return True


def _full_stop(text: str, start: int, at: int, following: str) -> bool:
    """Whether the dot at `at` ends the sentence that began at `start`."""
    before = text[max(start, at - LOOK_BACK) : at]
    token = _LAST_TOKEN.search(before)
    if token is None:
        return True
    word = token[0]
    if word.isdecimal():
        listed = not text[max(start, at - LOOK_BACK) : at - len(word)].strip()  # "1. milk"
        return not (listed or _is_ordinal(word, _AFTER_DOT.match(text, at + 1)))
    folded = word.lower()
    if folded in _NEVER_LAST:
        return False
    if folded in _BEFORE_NUMBER:
        return not following.isdecimal()  # "No. 7" goes on, "No. I left" does not
    if folded in _SELDOM_LAST or "." in word:
        return following.isupper()  # "at 5 p.m. She left" ends, "etc. and so on" does not
    return not (len(word) == 1 and word.isupper() and word != "I" and following.isupper())  # initials


def _is_ordinal(number: str, following: re.Match[str] | None) -> bool:
    """Whether the dot makes an ordinal, as in German: "am 14. Oktober", "vom 3. an"."""
    if following is None or len(number) > 2 or int(number) > _DAY:
        return False
    return following[1][0].islower() or following[1].lower() in _AFTER_DAY


def _next_letter(text: str, at: int) -> str:
    """The first letter or digit near `at`, or nothing: quotes and spaces are passed over."""
    return next((character for character in text[at : at + LOOK_BACK] if character.isalnum()), "")
