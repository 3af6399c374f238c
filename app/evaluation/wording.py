"""How close the words of an answer come to those of the gold answer. Pure; every measure lies in 0–1.

All of them count words, not sense: "2023-05-07" is all wrong for "7 May 2023", and "May 8, 2022" nearly right for
"May 7, 2022". `date_match` is there for the first, a judge for the rest.
"""

import re
import string
from collections import Counter
from datetime import datetime

from app.domain.dates import resolve

STOPS = str.maketrans(".,!?", "    ")
MARKS = str.maketrans("", "", string.punctuation)
YEAR = re.compile(r"(?:1[89]|20)\d\d")
ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def word_f1(expected: str, given: str) -> float:
    """Harmonic mean of precision and recall of the different words, as LoCoMo's memory papers count them.

    Lower-case; `. , ! ?` are spaces; no other normalising: "2" is not "two".
    """
    left, right = _words(expected), _words(given)
    return _harmonic(len(left & right), len(left), len(right))


def squad_f1(expected: str, given: str) -> float:
    """The same over words with repeats, without articles and punctuation, as SQuAD counts them."""
    left, right = _squad_words(expected), _squad_words(given)
    return _harmonic((left & right).total(), left.total(), right.total())


def bleu_1(expected: str, given: str) -> float:
    """BLEU of single words (nltk: its tokens, smoothing method 1, brevity penalty), lower-case.

    0 without a word in common: the smoothing does not reach that case.
    """
    from nltk.tokenize import word_tokenize  # noqa: PLC0415  (takes two seconds: only where it is used)
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # noqa: PLC0415

    left, right = (word_tokenize(text.lower(), preserve_line=True) for text in (expected, given))
    if not left or not right:
        return 0.0
    return float(sentence_bleu([left], right, weights=(1, 0, 0, 0), smoothing_function=SmoothingFunction().method1))


def rouge_l(expected: str, given: str) -> float:
    """F of the longest common subsequence of words (rouge-score, without stemming)."""
    from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415  (takes two seconds: only where it is used)

    return float(RougeScorer(["rougeL"], use_stemmer=False).score(expected, given)["rougeL"].fmeasure)


def date_match(expected: str, given: str, asked_at: datetime) -> bool | None:
    """Whether the answer names exactly the times that the gold answer names, in whatever form; None if it names none.

    Relative times are read as of `asked_at` on both sides.
    """
    wanted = _times(expected, asked_at)
    return wanted == _times(given, asked_at) if wanted else None


def _times(text: str, asked_at: datetime) -> set[tuple[object, ...]]:
    said = f"in {text.strip()}" if YEAR.fullmatch(text.strip()) else text  # a bare number is no year to the reader
    return {(when.start, when.end, when.open) for when in resolve(said, asked_at)}


def _harmonic(shared: int, left: int, right: int) -> float:
    return 2 * shared / (left + right) if shared else 0.0


def _words(text: str) -> set[str]:
    return set(text.lower().translate(STOPS).split())


def _squad_words(text: str) -> Counter[str]:
    return Counter(ARTICLES.sub(" ", text.lower().translate(MARKS)).split())
