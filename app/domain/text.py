"""The one way to count, fold, analyse and cut text. Every function is linear in the length of its input."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import Stemmer

from app.domain.sentences import sentence_spans
from app.domain.stopwords import STOP_WORDS

TOKENIZER = "characters/4"
"""The name of `count_tokens`, given with every count."""

CHARACTERS_PER_TOKEN = 4  # of a script with an alphabet; a CJK character is a token of its own
MAX_TERM = 64  # characters; longer runs are noise (base64, keys), and postings must stay small
MAX_MARKS = 30  # combining marks in a row, as in Unicode's stream-safe format: sorting them is quadratic
WORDS_CACHED = 65_536  # each as written and as found in an index; a large vocabulary, about 20 MiB

# Han, kana, bopomofo, Hangul; with their punctuation and full-width forms they are what counts as CJK.
_CJK_LETTERS = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_CJK = re.compile(f"[{_CJK_LETTERS}\u3000-\u303f\u30fb\uff00-\uffef]")
_CJK_RUN = re.compile(f"([{_CJK_LETTERS}]+)")

_MARKS = "".join(re.escape(chr(point)) for point in range(0x300, 0x20000) if unicodedata.category(chr(point))[0] == "M")
_MARK_FLOOD = re.compile(f"([{_MARKS}]{{{MAX_MARKS}}})[{_MARKS}]+")
_LATIN_MARKS = re.compile("(?<=[a-z])[\u0300-\u036f]+")  # é -> e, and the dot that folding İ leaves behind
_FOLDED = str.maketrans(
    {"ı": "i", "’": "'", "‘": "'", "\u02bc": "'", "\u2010": "-"} | dict.fromkeys("\u00ad\u200c\u200d\u2060\ufeff")
)

_WORD = re.compile(rf"[\w{_MARKS}]+(?:['.\-][\w{_MARKS}]+)*")
_ASCII_WORD = re.compile(r"\w+(?:['.\-]\w+)*", re.ASCII)  # the same, several times as fast
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_PIECES = re.compile(r"\d+|[^\W\d]+")
_SEPARATORS = re.compile(r"[._\-]+")
_CONTRACTION = re.compile(r"(.*?)('(?:s|m|re|ve|ll|d)|n't)")
_PUNCTUATION = r"""[.,;:!?'"`()\[\]{}<>*~…“”„«»¿¡。、，！？；：（）「」『』_—–|]"""
_LOOSE = re.compile(rf"(?<!\w){_PUNCTUATION}+|{_PUNCTUATION}+(?!\w)|(?<!\w)-+(?!\w)")
_ATOM = re.compile(r"\S+|\s+")

_english = Stemmer.Stemmer("english", 0)  # no cache of its own; it holds the GIL, so threads may share it


def count_tokens(text: str) -> int:
    """Tokens of `text`: characters that are not CJK, divided by four and rounded up, plus CJK characters."""
    return -(-_weight(text) // CHARACTERS_PER_TOKEN)


def clean(text: str) -> str:
    """`text` as every store can keep it: NUL and lone surrogates become U+FFFD, all else stays."""
    return _BROKEN.sub("\ufffd", text)


def terms(text: str) -> list[str]:
    """The index terms of a document or of a query, in order, with repeats, at most `MAX_TERM` long.

    Words are folded and stemmed, stop words dropped. A code is found whole and by part (QX-7741: qx7741,
    qx, 7741); Chinese, Japanese and Korean runs give overlapping pairs of characters.
    """
    found: list[str] = []
    for token in _tokens(text):
        found.extend(_terms_of(token) if len(token) <= MAX_TERM else _analyse(token))
    return found


def content_words(text: str) -> list[str]:
    """The folded words of `text` as written (not stemmed), in order, with repeats, without stop words."""
    return [word for token in _tokens(text) for word in _words_of(token)]


def normalise(text: str) -> str:
    """`text` folded, without loose punctuation, with single spaces: two texts that agree say the same.

    Signs that change the meaning stay (C++, C#, 3.5, -5, 50%), and so do emoji.
    """
    return " ".join(_LOOSE.sub(" ", _fold(text)).split())


def sentences(text: str) -> list[str]:
    """The sentences of `text`, stripped, without empty ones; together they hold every word of it."""
    return [piece for start, end in sentence_spans(text) if (piece := text[start:end].strip())]


def split_long(text: str, max_tokens: int) -> list[str]:
    """`text` in parts of at most `max_tokens`, cut between sentences, else words, else characters.

    Joined, the parts lose nothing but white space. Raises ValueError if `max_tokens` is below 1.
    """
    if max_tokens < 1:
        raise ValueError("max_tokens must be at least 1")
    room = max_tokens * CHARACTERS_PER_TOKEN
    parts, start, end, used = [], 0, 0, 0
    for atom in _atoms(text, room):
        weight = _weight(atom)
        if used + weight > room:
            parts.append(text[start:end].strip())
            start, used = end, 0
        end, used = end + len(atom), used + weight
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _weight(text: str) -> int:
    """The size of `text` in quarters of a token."""
    if text.isascii():
        return len(text)
    return len(text) + (CHARACTERS_PER_TOKEN - 1) * len(_CJK.findall(text))


def _atoms(text: str, room: int) -> Iterator[str]:
    """The largest pieces of `text` that fit `room`: sentences, words or slices. Joined, they are `text`."""
    step = room // CHARACTERS_PER_TOKEN  # that many characters fit, whatever their script
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _weight(sentence) <= room:
            yield sentence
            continue
        for word in _ATOM.findall(sentence):
            if _weight(word) <= room:
                yield word
            else:
                yield from (word[cut : cut + step] for cut in range(0, len(word), step))


def _fold(text: str) -> str:
    """Compatibility forms and case removed; Latin letters without accents; dotted and dotless i are one."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", _MARK_FLOOD.sub(r"\1", text).casefold()).casefold()
    plain = _LATIN_MARKS.sub("", decomposed.translate(_FOLDED))
    return unicodedata.normalize("NFKC", plain)


def _tokens(text: str) -> Iterator[str]:
    """What stands between spaces and signs, folded; Chinese, Japanese and Korean runs as pairs of characters."""
    folded = _THOUSANDS.sub("", _fold(text))
    if folded.isascii():
        yield from _ASCII_WORD.findall(folded)
        return
    for index, piece in enumerate(_CJK_RUN.split(folded)):
        if index % 2:
            yield from map("".join, pairwise(piece)) if len(piece) > 1 else piece
        else:
            yield from _WORD.findall(piece)


@lru_cache(maxsize=WORDS_CACHED)
def _terms_of(token: str) -> tuple[str, ...]:
    """Kept, for most words come again and again."""
    return tuple(map(sys.intern, _analyse(token)))


def _analyse(token: str) -> Iterator[str]:
    for word in _words_of(token):
        if not _has_digit(word):
            yield _english.stemWord(word[:MAX_TERM]) if word[0].isalpha() and word.isascii() else word[:MAX_TERM]
        elif len(word) > MAX_TERM:
            yield word[:MAX_TERM]
        else:
            yield from _code_terms(word)


def _words_of(token: str) -> Iterator[str]:
    """The content words of a token; one with a digit (a code, a decimal, a date) stays whole."""
    return (word for word in _split_token(token) if word and word not in STOP_WORDS)


def _split_token(token: str) -> list[str]:
    """One token into words: U.S.A gives usa, Rosa's rosa, don't do and not, well-read well and read."""
    if _has_digit(token):
        return [token.strip("_").removesuffix("'s")]
    parts = _SEPARATORS.split(token)
    if len(parts) > 1 and all(len(part) == 1 for part in parts):
        return ["".join(parts)]
    return [word for part in parts for word in _without_apostrophes(part)]


def _without_apostrophes(word: str) -> list[str]:
    if "'" not in word:
        return [word]
    if contraction := _CONTRACTION.fullmatch(word):
        stem = contraction[1].replace("'", "")
        return [stem, "not"] if contraction[2] == "n't" else [stem]
    return [word.replace("'", ""), *(part for part in word.split("'") if len(part) > 2)]


def _code_terms(word: str) -> list[str]:
    """A token with a digit: whole without its dashes, then its parts of two characters or more, if any."""
    if ordinal := _ORDINAL.fullmatch(word):
        return [ordinal[1]]
    whole = word.replace("-", "").replace("_", "").replace("'", "")
    pieces = [piece for piece in _PIECES.findall(word.replace("_", " ")) if len(piece) > 1]
    return [whole] if pieces == [whole] else [whole, *pieces]


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
