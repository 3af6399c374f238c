"""How good evidence and answers are. Pure; every share lies in 0–1."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence

from app.domain.messages import Draft, body

_TOKEN = re.compile(r"\w+|[^\w\s]")
STOPS = str.maketrans(".,!?", "    ")


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


def word_f1(expected: str, given: str) -> float:
    """Harmonic mean of precision and recall of the different words, as LoCoMo's memory papers count them.

    Lower-case; `. , ! ?` are spaces; no other normalising: "2" is not "two".
    """
    left, right = _words(expected), _words(given)
    shared = len(left & right)
    return 2 * shared / (len(left) + len(right)) if shared else 0.0


def bleu_1(expected: str, given: str) -> float:
    """BLEU of single words and marks, lower-case, with the brevity penalty; 0 without a word in common."""
    left, right = Counter(_TOKEN.findall(expected.lower())), Counter(_TOKEN.findall(given.lower()))
    length, wanted = right.total(), left.total()
    shared = (left & right).total()
    if not shared:
        return 0.0
    penalty = 1.0 if length > wanted else math.exp(1 - wanted / length)
    return penalty * shared / length


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
    return [text for text in map(collapse, texts) if re.search(rf"(?<!\w){re.escape(text)}(?!\w)", held)]


def _words(text: str) -> set[str]:
    return set(text.lower().translate(STOPS).split())
