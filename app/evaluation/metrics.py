"""How good evidence is, and how well confidence tells what can be answered. Pure; every share lies in 0–1."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.domain.messages import Draft, body
from app.domain.text import terms

TEXTS_CACHED = 8192  # the same messages and statements come back at every budget: those of some five conversations


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of evidence that was handed out: its words, its tokens, the external ids of its messages."""

    text: str
    tokens: int
    messages: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cover:
    """How the blocks, best first, bring the words of the gold answer: the published measure of density and redundancy.

    A word is an index term, so stop words do not count and "paints" is "painting". `words` is the share of them that
    stand in any block; `blocks` and `tokens` are what it takes until all of them stood, None if they never do.
    `two` and `many` are the shares of the blocks with exactly two and with three or more of them.
    """

    words: float
    blocks: int | None
    tokens: int | None
    two: float
    many: float


def recall(evidence: Collection[str], found: Collection[str]) -> float:
    """Share of the evidence ids that were found. `evidence` holds each once and is not empty."""
    return len(set(evidence) & set(found)) / len(evidence)


def strict_recall(evidence: Sequence[str], context: str) -> float:
    """Share of the evidence texts whose own words stand in the context, white space aside. Not empty."""
    return len(_standing(evidence, context)) / len(evidence)


def density(evidence: Sequence[str], context: str) -> float:
    """Share of the context's characters that are evidence, white space aside; 0 for an empty context."""
    length = len(collapse(context))
    return sum(map(len, _standing(evidence, context))) / length if length else 0.0


def precision(evidence: Collection[str], found: Collection[str]) -> float:
    """Share of the messages that were handed out that are evidence; 0 if none was."""
    return len(set(evidence) & set(found)) / len(set(found)) if found else 0.0


def tokens_to_evidence(evidence: Collection[str], blocks: Sequence[Block]) -> int | None:
    """Tokens of the blocks, best first, until every evidence message is in one; None if one never is."""
    missing, tokens = set(evidence), 0
    for block in blocks:
        tokens += block.tokens
        missing -= block.messages
        if not missing:
            return tokens
    return None


def cover(answer: str, blocks: Sequence[Block]) -> Cover | None:
    """How the blocks bring the answer's words; None for an answer of stop words."""
    wanted = set(terms(answer))
    if not wanted:
        return None
    hits = [wanted & _terms(block.text) for block in blocks]
    stood: set[str] = set()
    needed: int | None = None
    for count, words in enumerate(hits, 1):
        stood |= words
        if needed is None and stood == wanted:
            needed = count
    return Cover(
        words=len(stood) / len(wanted),
        blocks=needed,
        tokens=None if needed is None else sum(block.tokens for block in blocks[:needed]),
        two=_share([len(words) == 2 for words in hits]),
        many=_share([len(words) > 2 for words in hits]),
    )


def auroc(lower: Sequence[float], higher: Sequence[float]) -> float | None:
    """How often one of `higher` lies above one of `lower`, ties half; 0.5 is chance, None if one side is empty."""
    if not lower or not higher:
        return None
    ranked = sorted(lower)
    above = sum(bisect_left(ranked, value) + bisect_right(ranked, value) for value in higher)
    return above / (2 * len(lower) * len(higher))


def rendered(message: Draft) -> str:
    """A message as it stands in a context: `Speaker: text [image: caption; query]`, white space collapsed."""
    return collapse(f"{message.speaker or message.role.value.capitalize()}: {body(message.content, message.images)}")


def collapse(text: str) -> str:
    """Every run of white space as one space."""
    return " ".join(text.split())


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return sum(values) / len(values) if values else None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest value that at least `share` (in 0–1) of the values do not exceed; None of nothing."""
    if not values:
        return None
    rank = math.ceil(round(share * len(values), 9))  # 0.07 × 100 is a little over 7
    return sorted(values)[max(rank, 1) - 1]


def _standing(texts: Sequence[str], context: str) -> list[str]:
    """The texts that stand in the context as whole words: "Ann: Yes" does not stand in "Joann: Yesterday"."""
    held = collapse(context)
    return [text for text in map(collapse, texts) if text in held and _whole_words(text).search(held)]


@lru_cache(maxsize=TEXTS_CACHED)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


@lru_cache(maxsize=TEXTS_CACHED)
def _whole_words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
